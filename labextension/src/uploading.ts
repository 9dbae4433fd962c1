/** Files of the desktop on their way to the server, in pieces that it takes. */
import { type Contents } from '@jupyterlab/services';

/** Bytes of a piece; what is smaller goes in one. */
const PIECE = 1024 * 1024;

/** Tell whether something has this path. */
export async function isThere(contents: Contents.IManager, path: string): Promise<boolean> {
  return contents.get(path, { content: false }).then(
    () => true,
    error => {
      if (error?.response?.status === 404) {
        return false;
      }
      throw error;
    }
  );
}

/** Find a name that nothing in a folder has: `plan (2).pdf` beside `plan.pdf`. */
export async function freeName(
  contents: Contents.IManager,
  folder: string,
  name: string
): Promise<string> {
  const dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length;
  for (let n = 2; ; n++) {
    const free = `${name.slice(0, dot)} (${n})${name.slice(dot)}`;
    if (!(await isThere(contents, folder + free))) {
      return free;
    }
  }
}

/** Put a file there, whatever stood at its path. */
export async function upload(contents: Contents.IManager, file: File, path: string): Promise<void> {
  for (let start = 0, chunk = 1; start === 0 || start < file.size; start += PIECE, chunk++) {
    const last = start + PIECE >= file.size;
    const content = await encoded(file.slice(start, start + PIECE));
    const pieces = file.size > PIECE ? { chunk: last ? -1 : chunk } : {};
    await contents.save(path, { type: 'file', format: 'base64', content, ...pieces });
  }
}

function encoded(piece: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'));
    reader.readAsDataURL(piece);
  });
}
