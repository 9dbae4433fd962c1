/** A search in a collection: hits with their scores, each unfolds into its document. */
import { searchIcon } from '@jupyterlab/ui-components';
import { element, fileName, iconButton } from './elements';
import { saidOf } from './kernelLine';
import { type PanelScene } from './panelSection';
import type { PageChunk, PageCollection, PageFound, PageHit, PageScore } from './protocol';
import { placeOf } from './sourceRows';

export class Finding {
  readonly node = element('form', 'jan-Panel-finding');
  private readonly which = element('select', 'jp-mod-styled');
  private readonly words = element('input', 'jp-mod-styled');
  private readonly said = element('div', 'jan-Panel-quiet');
  private readonly hits = element('ol', 'jan-Panel-hits');
  private asked = 0;

  constructor(private readonly scene: PanelScene) {
    const { trans } = scene;
    this.node.setAttribute('role', 'search');
    this.node.setAttribute('aria-label', trans.__('Search the documents'));
    this.which.setAttribute('aria-label', trans.__('Collection'));
    this.words.type = 'search';
    this.words.placeholder = trans.__('Search the documents');
    this.words.setAttribute('aria-label', this.words.placeholder);
    this.said.setAttribute('role', 'status');
    this.hits.setAttribute('aria-label', trans.__('Hits'));
    this.node.addEventListener('submit', event => {
      event.preventDefault();
      void this.search();
    });
    const send = iconButton(trans.__('Search'), searchIcon, () => undefined);
    send.type = 'submit';
    const row = element('div', 'jan-Panel-row');
    row.append(this.words, send);
    this.node.append(this.which, row, this.said, this.hits);
    this.node.hidden = true;
  }

  forget(): void {
    this.asked += 1;
    this.words.value = this.said.textContent = '';
    this.node.hidden = true;
    this.hits.replaceChildren();
  }

  /** Offer the collections that can be read; the one that was chosen stays chosen. */
  offer(rows: readonly PageCollection[]): void {
    const known = rows.filter(({ fault }) => !fault);
    const { value } = this.which;
    this.which.replaceChildren(
      ...known.map(({ id, name }) => {
        const option = element('option', '', name);
        option.value = id;
        return option;
      })
    );
    const chosen = known.find(({ id }) => id === value) ?? known.find(({ usual }) => usual);
    this.which.value = (chosen ?? known[0])?.id ?? '';
    this.which.hidden = known.length < 2;
    this.node.hidden = known.length === 0;
  }

  private async search(): Promise<void> {
    const { line, trans } = this.scene;
    const words = this.words.value.trim();
    const asked = ++this.asked;
    if (!line || !words) {
      this.said.textContent = '';
      this.hits.replaceChildren();
      return;
    }
    this.node.setAttribute('aria-busy', 'true');
    try {
      const found = await line.ask<PageFound>('search', { collection: this.which.value, words });
      if (asked === this.asked) {
        this.said.textContent = found.rows.length
          ? trans._n('%1 hit', '%1 hits', found.rows.length)
          : trans.__('Nothing is found');
        this.hits.replaceChildren(...found.rows.map(row => this.item(found.search, row)));
      }
    } catch (failure) {
      if (asked === this.asked) {
        this.said.textContent = saidOf(failure);
        this.hits.replaceChildren();
      }
    } finally {
      this.node.removeAttribute('aria-busy');
    }
  }

  private item(search: string, row: PageHit): HTMLElement {
    const { trans } = this.scene;
    const item = element('li', 'jan-Panel-hit');
    const open = element('button', 'jan-Panel-open');
    open.type = 'button';
    open.setAttribute('aria-expanded', 'false');
    open.title = [`${row.source} · ${row.about}`, ...row.bars.map(bar => this.told(bar))]
      .filter(Boolean)
      .join('\n');
    const source = element('span', 'jan-Panel-title', fileName(row.source)[0]);
    source.dir = 'auto';
    const [best] = row.bars;
    const score = element('span', 'jan-Panel-score');
    if (best) {
      const bar = element('span', 'jan-Turn-score');
      bar.style.setProperty('--jan-share', String(Math.max(0, Math.min(1, best.share))));
      bar.setAttribute('aria-hidden', 'true');
      const said = trans.__('score %1', best.said);
      score.append(element('span', 'jan-Turn-number', said), bar);
    }
    const words = element('span', 'jan-Panel-snippet', row.words);
    words.dir = 'auto';
    open.append(source, score, words);
    const box = element('div', 'jan-Turn-place');
    box.hidden = true;
    box.tabIndex = 0;
    box.dir = 'auto';
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', trans.__('In the document'));
    open.addEventListener('click', () => {
      box.hidden = !box.hidden;
      open.setAttribute('aria-expanded', String(!box.hidden));
      if (!box.hidden) {
        void this.unfold(box, search, row.chunk);
      }
    });
    item.append(open, box);
    return item;
  }

  /** Write a score with what fills its bar, which is another score for each name. */
  private told({ name, said, full }: PageScore): string {
    return full ? this.scene.trans.__('%1 %2, a full bar is %3', name, said, full) : `${name} ${said}`;
  }

  private async unfold(box: HTMLElement, search: string, chunk: string): Promise<void> {
    box.setAttribute('aria-busy', 'true');
    try {
      const asked = this.scene.line?.ask<{ place: PageChunk }>('chunk', { search, chunk });
      const found = await asked;
      box.replaceChildren(...(found ? placeOf(found.place) : []));
    } catch (failure) {
      box.replaceChildren(saidOf(failure));
    }
    box.removeAttribute('aria-busy');
    const mark = box.querySelector('mark');
    box.scrollTop = mark ? Math.max(0, mark.offsetTop - 24) : 0;
  }
}
