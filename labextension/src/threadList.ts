/** Threads as rows. Arrows walk, Enter opens, F2 renames, Delete deletes; Tab reaches one row. */
import { deleteIcon, editIcon } from '@jupyterlab/ui-components';
import { ago, exactly } from './dates';
import { element, iconButton } from './elements';
import { type PanelScene } from './panelSection';
import type { PageThread, PageThreads } from './protocol';

/** What is done to a thread; a name that was not taken tells so. */
export interface ThreadActs {
  open(row: PageThread): unknown;
  rename(row: PageThread, title: string): Promise<boolean>;
  remove(row: PageThread): Promise<unknown>;
}

export class ThreadList {
  readonly node = element('ul', 'jan-Panel-list');
  private rows: PageThread[] = [];
  private items: HTMLLIElement[] = [];
  private at = 0;
  /** A row that gets the focus as soon as it is there. */
  private wanted = '';
  private editing = false;
  private waiting: PageThreads | null = null;

  constructor(
    private readonly scene: PanelScene,
    private readonly acts: ThreadActs
  ) {
    this.node.setAttribute('role', 'list');
    this.node.setAttribute('aria-label', scene.trans.__('Threads'));
    this.node.addEventListener('keydown', event => this.press(event));
  }

  /** Put the focus on a row, also one that is still to come; without a name on the last one. */
  focus(id = ''): void {
    this.wanted = id;
    const found = id ? this.rows.findIndex(row => row.id === id) : this.at;
    if (found >= 0) {
      this.wanted = '';
      this.put(found);
    }
  }

  /** Show threads; what is being typed into a name stays. */
  show(state: PageThreads): void {
    if (this.editing) {
      this.waiting = state;
      return;
    }
    const { activeElement } = document;
    const focused = this.node.contains(activeElement);
    const control = activeElement?.getAttribute('data-control') ?? 'open';
    const kept = focused ? this.rows[this.at]?.id : state.current;
    const before = this.at;
    this.rows = state.rows;
    this.items = state.rows.map((row, n) => this.item(row, n, row.id === state.current));
    this.node.replaceChildren(...this.items);
    const found = this.rows.findIndex(row => row.id === kept);
    this.put(found < 0 && focused ? before : Math.max(0, found), focused ? control : '');
    if (this.wanted) {
      this.focus(this.wanted);
    }
  }

  /** Let Tab reach one row, with its buttons; `control` names what gets the focus. */
  private put(n: number, control = 'open'): void {
    this.at = Math.min(Math.max(0, n), this.items.length - 1);
    this.items.forEach((item, number) => {
      item.querySelectorAll<HTMLElement>('[data-control]').forEach(each => {
        each.tabIndex = number === this.at ? 0 : -1;
      });
    });
    if (control) {
      this.items[this.at]?.querySelector<HTMLElement>(`[data-control=${control}]`)?.focus();
    }
  }

  private press(event: KeyboardEvent): void {
    const row = this.rows[this.at];
    if (this.editing || !row || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const moves: Record<string, () => unknown> = {
      ArrowDown: () => this.put(this.at + 1),
      ArrowUp: () => this.put(this.at - 1),
      Home: () => this.put(0),
      End: () => this.put(this.items.length - 1),
      F2: () => this.edit(this.at),
      Delete: () => this.acts.remove(row)
    };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      move();
    }
  }

  private item(row: PageThread, n: number, current: boolean): HTMLLIElement {
    const { trans } = this.scene;
    const item = element('li', 'jan-Panel-item');
    const open = element('button', 'jan-Panel-open');
    open.type = 'button';
    open.dataset.control = 'open';
    open.addEventListener('click', () => {
      this.put(n);
      this.acts.open(row);
    });
    if (current) {
      item.classList.add('jan-mod-current');
      open.setAttribute('aria-current', 'true');
    }
    const title = element('span', 'jan-Panel-title', row.title);
    title.dir = 'auto';
    open.append(title, this.about(row));
    open.title = [row.title, exactly(row.updated, this.scene.tongue), row.fault]
      .filter(Boolean)
      .join('\n');
    if (row.snippet) {
      open.append(snippet(row.snippet));
    }
    const tools = element('span', 'jan-Panel-tools');
    const rename = iconButton(trans.__('Rename'), editIcon, () => this.edit(n));
    rename.dataset.control = 'rename';
    const remove = iconButton(trans.__('Move to the bin'), deleteIcon, () => {
      this.at = n;
      return this.acts.remove(row);
    });
    remove.dataset.control = 'delete';
    tools.append(rename, remove);
    item.append(open, tools);
    return item;
  }

  private about(row: PageThread): HTMLElement {
    const { trans, tongue } = this.scene;
    const parts = [
      trans._n('%1 message', '%1 messages', row.messages),
      row.branches > 1 ? trans._n('%1 branch', '%1 branches', row.branches) : '',
      ago(row.updated, tongue),
      row.fault ? trans.__('damaged') : ''
    ];
    return element('span', 'jan-Panel-about', parts.filter(Boolean).join(' · '));
  }

  /** Put a box in the place of a title: Enter keeps the name, Escape the former one. */
  private edit(n: number): void {
    const row = this.rows[n];
    const item = this.items[n];
    if (!row || !item || this.editing) {
      return;
    }
    this.put(n, '');
    this.editing = true;
    const box = element('input', 'jp-mod-styled jan-Panel-name');
    box.value = row.title;
    box.dir = 'auto';
    box.setAttribute('aria-label', this.scene.trans.__('New name of the thread'));
    item.replaceChildren(box);
    const leave = (focused: boolean) => {
      if (!this.editing) {
        return;
      }
      this.editing = false;
      const state = this.waiting;
      this.waiting = null;
      this.items[n] = this.item(row, n, item.classList.contains('jan-mod-current'));
      item.replaceWith(this.items[n]);
      if (state) {
        this.show(state);
      }
      this.put(this.at, focused ? 'open' : '');
    };
    const keep = async () => {
      const title = box.value.trim();
      if (!title || title === row.title || (await this.acts.rename(row, title))) {
        row.title = title || row.title;
        leave(true);
      }
    };
    box.addEventListener('keydown', event => {
      event.stopPropagation();
      if (event.key === 'Enter' && !event.isComposing) {
        void keep();
      } else if (event.key === 'Escape') {
        leave(true);
      }
    });
    box.addEventListener('blur', () => leave(false));
    box.focus();
    box.select();
  }
}

/** Write a line in which the words that were looked for stand in «…». */
function snippet(text: string): HTMLElement {
  const made = element('span', 'jan-Panel-snippet');
  made.dir = 'auto';
  text.split(/«([^«»]*)»/).forEach((piece, n) => {
    made.append(n % 2 ? element('mark', '', piece) : piece);
  });
  return made;
}
