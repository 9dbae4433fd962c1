/** The threads of a data folder: found, opened, renamed in place, deleted and brought back. */
import { addIcon } from '@jupyterlab/ui-components';
import { button, element, iconButton } from './elements';
import { type KernelLine } from './kernelLine';
import { type PanelScene, Section } from './panelSection';
import type { PageThread, PageThreads } from './protocol';
import { ThreadList } from './threadList';

/** Threads that are asked for at a time; as many come with "more". */
const STEP = 50;
/** Milliseconds after the last key before the kernel is asked. */
const PAUSE = 150;

export class Threads extends Section<PageThreads> {
  private readonly search: HTMLInputElement;
  private readonly list: ThreadList;
  private readonly counted = element('div', 'jan-Panel-quiet');
  private readonly notice = element('div', 'jan-Panel-notice');
  private readonly more: HTMLButtonElement;
  private readonly gone: { id: string; title: string }[] = [];
  private limit = STEP;
  private timer = 0;

  constructor(scene: PanelScene) {
    super(scene, scene.trans.__('Threads'), 'threads');
    const { trans } = scene;
    this.search = element('input', 'jp-mod-styled');
    this.search.type = 'search';
    this.search.placeholder = trans.__('Search threads');
    this.search.setAttribute('aria-label', trans.__('Search titles and messages'));
    this.search.addEventListener('input', () => this.typed());
    this.search.addEventListener('keydown', event => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this.list.focus();
      }
    });
    this.list = new ThreadList(scene, {
      open: ({ id }) => this.attempt(line => line.ask('use', { thread: id })),
      rename: ({ id }, title) => this.attempt(line => line.ask('rename', { thread: id, title })),
      remove: row => this.remove(row)
    });
    this.more = button('', () => {
      this.limit += STEP;
      this.refresh();
    });
    this.more.classList.add('jan-Panel-more');
    this.more.hidden = true;
    this.notice.setAttribute('role', 'status');
    this.counted.setAttribute('role', 'status');
    const begin = iconButton(trans.__('New thread'), addIcon, () =>
      this.attempt(line => line.ask('new'))
    );
    const row = element('div', 'jan-Panel-row');
    row.append(this.search, begin);
    this.body.append(row, this.notice, this.counted, this.list.node, this.more);
  }

  forget(): void {
    super.forget();
    this.gone.length = 0;
    this.search.value = '';
    this.limit = STEP;
    this.more.hidden = true;
    this.list.show({ rows: [], total: 0, current: null });
    this.tell();
  }

  protected ask(line: KernelLine): Promise<PageThreads> {
    return line.ask('threads', { words: this.search.value, limit: this.limit });
  }

  protected show(state: PageThreads): void {
    const { trans } = this.scene;
    const left = state.total - state.rows.length;
    this.list.show(state);
    this.more.textContent = trans._n('%1 more', '%1 more', left);
    this.more.hidden = left <= 0;
    this.counted.textContent = this.search.value.trim()
      ? trans._n('%1 thread found', '%1 threads found', state.total)
      : state.total
        ? ''
        : trans.__('No threads yet: ask something in a chat cell');
  }

  private typed(): void {
    window.clearTimeout(this.timer);
    this.limit = STEP;
    this.timer = window.setTimeout(() => this.refresh(), PAUSE);
  }

  private async remove(row: PageThread): Promise<void> {
    const done = await this.attempt(line => line.ask('delete', { thread: row.id }));
    if (done) {
      this.gone.push(row);
      this.tell();
    }
  }

  /** Say what is in the bin, with the way back. */
  private tell(): void {
    const { trans } = this.scene;
    const last = this.gone[this.gone.length - 1];
    this.notice.replaceChildren();
    if (last) {
      const back = button(trans.__('Undo'), async () => {
        if (await this.attempt(line => line.ask('undelete', { thread: last.id }))) {
          this.gone.splice(this.gone.indexOf(last), 1);
          this.tell();
          this.list.focus(last.id);
        }
      });
      const words = element('span', 'jan-Panel-words', trans.__('In the bin: %1', last.title));
      words.dir = 'auto';
      this.notice.append(words, back);
    }
  }
}
