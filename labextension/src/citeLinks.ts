/** Numbers in an answer that lead to its sources. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { pieces } from './citeMarks';
import { element } from './elements';
import type { PageSource } from './protocol';

/** Where a number names nothing: code, links, and what is typeset. */
const BARE = 'code, pre, a, mjx-container, .jan-Code-tools';

/** Is told which source is meant, and where one came from. */
export type Aim = (n: number, from: HTMLElement) => void;

function link(text: string, source: PageSource, aim: Aim, trans: TranslationBundle): HTMLElement {
  const made = element('a', 'jan-Cite', text);
  made.href = '#';
  made.title = trans.__('Source %1: %2', source.n, source.source);
  made.dataset.lmSuppressShortcuts = 'true';
  made.addEventListener('click', event => {
    event.preventDefault();
    aim(source.n, made);
  });
  return made;
}

/** Let each number that names a source lead to its row. */
export function addCiteLinks(
  body: Element,
  sources: readonly PageSource[],
  aim: Aim,
  trans: TranslationBundle
): void {
  const known = new Map(sources.map(source => [source.n, source]));
  const numbers = new Set(known.keys());
  const texts: Text[] = [];
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (numbers.size && walker.nextNode()) {
    texts.push(walker.currentNode as Text);
  }
  for (const text of texts.filter(each => !each.parentElement?.closest(BARE))) {
    const found = pieces(text.data, numbers).map(({ text: words, n }) => {
      const source = n === undefined ? undefined : known.get(n);
      return source ? link(words, source, aim, trans) : words;
    });
    if (found.length > 1 || typeof found[0] !== 'string') {
      text.replaceWith(...found);
    }
  }
}
