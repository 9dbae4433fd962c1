/** The sources of a turn: each unfolds into its document, with the chunk that was sent marked. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { element } from './elements';
import { saidOf } from './kernelLine';
import type { PageChunk, PageSource } from './protocol';

/** Finds a source in its document; null where no kernel knows this answer. */
export type Look = (n: number) => Promise<PageChunk | null>;

/** How a score reads; what is nearly nothing is no zero. */
export function scoreText(score: number): string {
  const rounded = score.toFixed(2);
  return score !== 0 && Number(rounded) === 0 ? (score > 0 ? '<0.01' : '>-0.01') : rounded;
}

/** A chunk, marked in what stands around it. */
export function placeOf(chunk: PageChunk): Node[] {
  const [before, after] = chunk.cut;
  return [
    element('span', '', `${before ? '… ' : ''}${chunk.before}`),
    element('mark', '', chunk.text),
    element('span', '', `${chunk.after}${after ? ' …' : ''}`)
  ];
}

/** Without a kernel there is what the bundle holds: where it stands, and who can show it. */
function held(source: PageSource, trans: TranslationBundle): Node[] {
  const where = [source.collection, source.source, source.headings].filter(Boolean).join(' › ');
  const page = source.page ? trans.__('page %1', source.page) : '';
  const told = [where, page, trans.__('chunk %1', source.chunk)].filter(Boolean).join(' · ');
  const next = trans.__('Its text is shown once the kernel of this notebook knows the answer.');
  return [element('div', '', told), element('div', 'jan-Turn-label', next)];
}

function unfold(box: HTMLElement, source: PageSource, look: Look, trans: TranslationBundle): void {
  box.setAttribute('aria-busy', 'true');
  look(source.n)
    .then(
      chunk => box.replaceChildren(...(chunk ? placeOf(chunk) : held(source, trans))),
      error => box.replaceChildren(saidOf(error))
    )
    .finally(() => {
      box.removeAttribute('aria-busy');
      const mark = box.querySelector('mark');
      box.scrollTop = mark ? Math.max(0, mark.offsetTop - 24) : 0;
    });
}

export function sourceRow(source: PageSource, look: Look, trans: TranslationBundle): HTMLElement {
  const row = element('li', 'jan-Turn-source');
  row.value = source.n;
  const where = [source.source, source.headings, source.page && trans.__('page %1', source.page)];
  const box = element('div', 'jan-Turn-place');
  box.hidden = true;
  box.tabIndex = 0;
  box.dir = 'auto';
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', trans.__('In the document'));
  const name = element('button', 'jan-Button jan-Turn-jump', where.filter(Boolean).join(' · '));
  name.type = 'button';
  name.title = trans.__('Show it in its document');
  name.setAttribute('aria-expanded', 'false');
  name.addEventListener('click', () => {
    box.hidden = !box.hidden;
    name.setAttribute('aria-expanded', String(!box.hidden));
    if (!box.hidden) {
      unfold(box, source, look, trans);
    }
  });
  const bar = element('span', 'jan-Turn-score');
  bar.style.setProperty('--jan-share', String(Math.max(0, Math.min(1, source.score))));
  bar.setAttribute('aria-hidden', 'true');
  row.append(name, bar, element('span', 'jan-Turn-number', scoreText(source.score)));
  if (source.cited) {
    row.append(element('span', 'jan-Turn-state', trans.__('cited')));
  }
  row.append(box);
  return row;
}

/** Unfold the sources and go to the row of a number; Escape leads back to where one came from. */
export function aimAt(parts: Element, n: number, from: HTMLElement): void {
  const sources = parts.querySelector<HTMLDetailsElement>('.jan-Turn-sources');
  const rows = [...(sources?.querySelectorAll<HTMLLIElement>('.jan-Turn-source') ?? [])];
  const row = rows.find(({ value }) => value === n);
  if (!sources || !row) {
    return;
  }
  sources.open = true;
  rows.forEach(each => each.classList.toggle('jan-mod-aimed', each === row));
  row.querySelector<HTMLElement>('.jan-Turn-jump')?.focus();
  sources.onkeydown = event => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      from.focus();
    }
  };
}
