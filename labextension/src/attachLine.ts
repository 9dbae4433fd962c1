/** Files on the magic line: `--attach PATH`, as the kernel reads it. Pure. */

/** Name a path as it is seen from a folder; both are from the same root, with `/` between. */
export function relativeTo(folder: string, path: string): string {
  const from = folder.split('/').filter(Boolean);
  const to = path.split('/').filter(Boolean);
  const differs = from.findIndex((name, n) => name !== to[n]);
  const shared = differs < 0 ? from.length : differs;
  const found = [...from.slice(shared).map(() => '..'), ...to.slice(shared)].join('/') || '.';
  // What has no dot and no slash could be a variable; what begins with a dash is a flag.
  return /^\.|^[^-~].*[./]/.test(found) ? found : `./${found}`;
}

/** Quote a word that would not be read as one. */
export function word(text: string): string {
  return /[\s'"\\]|^[[{]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}

/** Say what to add, and where, so that a chat cell attaches these paths; '' where it does so. */
export function attaching(source: string, paths: readonly string[]): [at: number, text: string] {
  const line = source.split('\n', 1)[0].trimEnd();
  const flags = paths.map(path => ` --attach ${word(path)}`);
  const fresh = flags.filter(flag => !`${line} `.includes(`${flag} `));
  return [line.length, fresh.join('')];
}
