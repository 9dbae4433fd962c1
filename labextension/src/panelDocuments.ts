/** Collections with their files, documents on their way in, and a search with scores. */
import { button, element, fileName, folded } from './elements';
import { type KernelLine, saidOf } from './kernelLine';
import { Finding } from './panelFinding';
import { type PanelScene, Section } from './panelSection';
import type {
  PageCollection,
  PageCollections,
  PageDocument,
  PageDocuments,
  PageIngest
} from './protocol';

const ADD = '%rag add PATH';
/** Documents that are asked for at a time. */
const STEP = 100;

export class Documents extends Section<PageCollections> {
  private readonly coming = element('div', 'jan-Panel-coming');
  private readonly bar = element('progress', '');
  private readonly words = element('div', 'jan-Panel-quiet');
  private readonly list = element('div', 'jan-Panel-collections');
  private readonly finding: Finding;
  /** Collections that are unfolded, and how many of their documents are shown. */
  private readonly open = new Map<string, number>();
  /** Their lists: what was told before stands there until news come. */
  private readonly lists = new Map<string, HTMLElement>();
  private begun = false;

  constructor(scene: PanelScene) {
    super(scene, scene.trans.__('Documents'), 'documents');
    this.bar.setAttribute('aria-label', scene.trans.__('Documents on their way'));
    this.words.setAttribute('role', 'status');
    this.words.dir = 'auto';
    this.coming.append(this.words, this.bar);
    this.coming.hidden = true;
    this.finding = new Finding(scene);
    this.body.append(this.coming, this.finding.node, this.list);
  }

  forget(): void {
    super.forget();
    this.open.clear();
    this.lists.clear();
    this.begun = false;
    this.coming.hidden = true;
    this.list.replaceChildren();
    this.finding.forget();
  }

  /** Show how far documents are on their way. */
  follow(news: PageIngest): void {
    const { trans } = this.scene;
    const { collection, what, done, total } = news;
    const [one, whole] = [done.toLocaleString(), total?.toLocaleString() ?? ''];
    const read = [
      trans.__('%1: %2 of %3 documents read', collection, one, whole),
      trans.__('%1: %2 documents read', collection, one)
    ];
    const sent = [
      trans.__('%1: %2 of %3 documents sent', collection, one, whole),
      trans.__('%1: %2 documents sent', collection, one)
    ];
    const embedded = [
      trans.__('%1: %2 of %3 texts embedded', collection, one, whole),
      trans.__('%1: %2 texts embedded', collection, one)
    ];
    const known: Record<string, string[]> = { documents: read, 'cut again': read, sent };
    const [ofAll, alone] = known[what] ?? embedded;
    this.coming.hidden = news.over;
    this.words.textContent = news.over ? '' : total ? ofAll : alone;
    if (total) {
      this.bar.max = total;
      this.bar.value = done;
    } else {
      this.bar.removeAttribute('value'); // how far it is is not known
    }
    if (news.over) {
      this.refresh();
    }
  }

  protected ask(line: KernelLine): Promise<PageCollections> {
    return line.ask('collections');
  }

  protected show({ rows }: PageCollections): void {
    // While it is being made, nobody knows yet that it will be the usual one.
    const usual = rows.find(row => row.usual);
    if (!this.begun && usual) {
      this.begun = true;
      this.open.set(usual.id, STEP);
    }
    const focused = this.list.querySelector<HTMLElement>('summary:focus')?.dataset.collection;
    this.finding.offer(rows);
    this.list.replaceChildren(...(rows.length ? rows.map(row => this.item(row)) : this.none()));
    if (focused) {
      this.list.querySelector<HTMLElement>(`[data-collection="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  private none(): Node[] {
    const words = this.scene.trans.__('No documents yet. Add some in a cell:');
    const row = element('div', 'jan-Panel-row');
    row.append(element('code', 'jan-Panel-load', ADD));
    return [element('div', 'jan-Panel-quiet', words), row];
  }

  private item(row: PageCollection): HTMLElement {
    const { trans } = this.scene;
    const files = this.lists.get(row.id) ?? element('div', 'jan-Panel-files');
    this.lists.set(row.id, files);
    const item = folded('jan-Panel-collection', '', files);
    const [summary] = item.children as unknown as [HTMLElement];
    const name = element('span', 'jan-Panel-title', row.name);
    name.dir = 'auto';
    const about = [
      row.usual ? trans.__('default') : '',
      row.server ? trans.__('on a server') : '',
      row.documents === null ? '' : trans._n('%1 document', '%1 documents', row.documents),
      row.chunks === null ? '' : trans._n('%1 chunk', '%1 chunks', row.chunks),
      row.fault ? trans.__('damaged') : ''
    ];
    summary.dataset.collection = row.id;
    summary.title = [row.name, row.owner, row.fault].filter(Boolean).join('\n');
    summary.append(name, element('span', 'jan-Panel-about', about.filter(Boolean).join(' · ')));
    item.open = this.open.has(row.id);
    if (item.open) {
      void this.fill(files, row.id);
    }
    item.addEventListener('toggle', () => {
      if (item.open && !this.open.has(row.id)) {
        this.open.set(row.id, STEP);
        void this.fill(files, row.id);
      } else if (!item.open) {
        this.open.delete(row.id);
      }
    });
    return item;
  }

  /** Ask for the documents of a collection that is unfolded. */
  private async fill(files: HTMLElement, id: string): Promise<void> {
    const limit = this.open.get(id) ?? STEP;
    try {
      const asked = this.scene.line?.ask<PageDocuments>('documents', { collection: id, limit });
      const { rows, total } = (await asked) ?? { rows: [], total: 0 };
      const list = element('ul', '');
      list.setAttribute('role', 'list');
      list.append(...rows.map(row => this.file(row)));
      files.replaceChildren(list);
      if (total > rows.length) {
        const more = this.scene.trans._n('%1 more', '%1 more', total - rows.length);
        const next = button(more, () => {
          this.open.set(id, limit + STEP);
          void this.fill(files, id);
        });
        next.classList.add('jan-Panel-more');
        files.append(next);
      }
    } catch (failure) {
      files.replaceChildren(element('div', 'jan-Panel-quiet', saidOf(failure)));
    }
  }

  private file(row: PageDocument): HTMLElement {
    const { trans } = this.scene;
    const item = element('li', 'jan-Panel-file');
    const [file, folder] = fileName(row.source);
    const name = element('span', 'jan-Panel-title', file);
    name.dir = 'auto';
    const about = [
      row.chunks === null ? '' : trans._n('%1 chunk', '%1 chunks', row.chunks),
      this.status(row.status),
      folder
    ];
    item.title = [row.source, row.reason].filter(Boolean).join('\n');
    item.dataset.status = row.status;
    item.append(name, element('span', 'jan-Panel-about', about.filter(Boolean).join(' · ')));
    if (row.reason && row.status !== 'indexed') {
      item.append(element('span', 'jan-Panel-snippet', row.reason));
    }
    return item;
  }

  private status(name: string): string {
    const { trans } = this.scene;
    const words: Record<string, string> = {
      indexed: trans.__('indexed'),
      skipped: trans.__('skipped'),
      failed: trans.__('failed')
    };
    return words[name] ?? name;
  }
}
