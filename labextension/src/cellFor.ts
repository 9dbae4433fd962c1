/** What becomes of a code block as a cell: Python as it is, the rest by a magic or as Markdown. */
export function cellFor(code: string, language: string): ['code' | 'markdown', string] {
  switch (language.toLowerCase()) {
    case '':
    case 'py':
    case 'python':
    case 'python3':
    case 'ipython':
      return ['code', code];
    case 'bash':
    case 'sh':
    case 'shell':
    case 'zsh':
      return ['code', `%%bash\n${code}`];
    case 'html':
      return ['code', `%%html\n${code}`];
    default: {
      const fence = '`'.repeat(Math.max(3, ...(code.match(/`+/g) ?? []).map(run => run.length + 1)));
      return ['markdown', `${fence}${language}\n${code}\n${fence}`];
    }
  }
}
