/** The tree of the thread that cells ask in. Arrows walk, Enter goes to a branch. */
import { button, element } from './elements';
import { type KernelLine } from './kernelLine';
import { type PanelScene, Section } from './panelSection';
import type { PageTree, PageTreeRow } from './protocol';

/** Messages that are asked for at a time; twice as many come with each "more". */
const STEP = 200;
/** Depths that are shown by a step to the right each; deeper ones stand below one another. */
const DEEPEST = 8;

export class Branches extends Section<PageTree> {
  private readonly about = element('div', 'jan-Panel-quiet');
  private readonly tree = element('div', 'jan-Panel-tree');
  private readonly said = element('div', 'jan-Panel-quiet');
  private readonly more: HTMLButtonElement;
  private rows: PageTreeRow[] = [];
  private items: HTMLElement[] = [];
  private at = 0;
  private wanted = '';
  private head = '';
  private limit = STEP;

  constructor(scene: PanelScene) {
    super(scene, scene.trans.__('Branches'), 'branches');
    this.about.dir = 'auto';
    this.said.setAttribute('role', 'status');
    this.tree.setAttribute('role', 'tree');
    this.tree.setAttribute('aria-multiselectable', 'true'); // the whole of the path is
    this.tree.setAttribute('aria-label', scene.trans.__('Branches'));
    this.tree.addEventListener('keydown', event => this.press(event));
    this.more = button('', () => {
      this.limit *= 2;
      this.refresh();
    });
    this.more.classList.add('jan-Panel-more');
    this.more.hidden = true;
    this.body.append(this.about, this.more, this.tree, this.said);
  }

  forget(): void {
    super.forget();
    this.limit = STEP;
    this.rows = this.items = [];
    this.tree.replaceChildren();
    this.more.hidden = true;
    this.about.textContent = this.said.textContent = '';
  }

  protected ask(line: KernelLine): Promise<PageTree> {
    return line.ask('tree', { limit: this.limit });
  }

  protected show(state: PageTree): void {
    const { trans } = this.scene;
    const focused = this.tree.contains(document.activeElement);
    const kept = this.wanted || (focused ? this.rows[this.at]?.id : '');
    this.rows = state.rows;
    const head = state.rows.reduce((last, row, n) => (row.active ? n : last), -1);
    this.items = state.rows.map((row, n) => this.item(row, n, n === head));
    this.tree.replaceChildren(...this.items);
    this.tree.hidden = this.items.length === 0;
    const left = state.before + state.after;
    this.more.hidden = left === 0;
    this.more.textContent = trans._n('%1 more', '%1 more', left);
    this.about.textContent = state.messages
      ? [
          trans._n('%1 message', '%1 messages', state.messages),
          trans._n('%1 branch', '%1 branches', state.branches),
          state.pending ? trans.__('a new branch begins with the next turn') : ''
        ]
          .filter(Boolean)
          .join(' · ')
      : trans.__('Nothing said yet in this thread');
    const found = this.rows.findIndex(row => row.id === kept);
    this.put(found < 0 ? head : found, focused);
    const shown = this.items[this.at];
    if (shown) {
      this.tree.scrollTop = shown.offsetTop - this.tree.clientHeight / 2;
    }
    this.say(state.rows[head]?.id ?? '');
  }

  /** Say what was chosen, until the path ends elsewhere. */
  private say(head: string): void {
    if (this.wanted) {
      this.said.textContent = this.scene.trans.__('The path leads through %1 now', this.wanted);
    } else if (head !== this.head) {
      this.said.textContent = '';
    }
    this.head = head;
    this.wanted = '';
  }

  /** Let one row be the one that Tab reaches. */
  private put(n: number, focus = true): void {
    this.items[this.at]?.setAttribute('tabindex', '-1');
    this.at = Math.min(Math.max(0, n), this.items.length - 1);
    this.items[this.at]?.setAttribute('tabindex', '0');
    if (focus) {
      this.items[this.at]?.focus();
    }
  }

  private async choose(n: number): Promise<void> {
    const { id } = this.rows[n];
    this.wanted = id;
    if (!(await this.attempt(line => line.ask('branch', { message: id })))) {
      this.wanted = '';
    }
  }

  /** Find the line that the versions around a row branch off from. */
  private outer(n: number): number {
    let line = n;
    while (line > 0 && this.rows[line].depth >= this.rows[n].depth) {
      line -= 1;
    }
    return line;
  }

  private press(event: KeyboardEvent): void {
    const { at, rows } = this;
    const moves: Record<string, () => unknown> = {
      ArrowDown: () => this.put(at + 1),
      ArrowUp: () => this.put(at - 1),
      ArrowLeft: () => this.put(this.outer(at)),
      ArrowRight: () => this.put(rows[at + 1]?.depth > rows[at].depth ? at + 1 : at),
      Home: () => this.put(0),
      End: () => this.put(rows.length - 1),
      Enter: () => this.choose(at),
      ' ': () => this.choose(at)
    };
    const move = moves[event.key];
    if (move && rows.length && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      move();
    }
  }

  private item(row: PageTreeRow, n: number, head: boolean): HTMLElement {
    const made = element('div', 'jan-Panel-node');
    made.setAttribute('role', 'treeitem');
    made.setAttribute('aria-level', String(row.depth + 1));
    made.setAttribute('aria-selected', String(row.active));
    made.tabIndex = -1;
    made.style.setProperty('--jan-depth', String(Math.min(row.depth, DEEPEST)));
    const end = head ? this.scene.trans.__('end of the active path') : '';
    if (head) {
      made.setAttribute('aria-current', 'true');
    }
    made.title = [`${row.id} ${row.who}${row.version}`, row.text, end].filter(Boolean).join('\n');
    const dot = element('span', 'jan-Panel-dot');
    dot.setAttribute('aria-hidden', 'true');
    const named = row.who === 'You' ? this.scene.trans.__('You') : row.who;
    const who = element('span', 'jan-Panel-who', `${named}${row.version}`);
    const words = element('span', 'jan-Panel-words', row.text);
    words.dir = 'auto';
    made.append(dot, who, words);
    made.addEventListener('click', () => {
      this.put(n);
      void this.choose(n);
    });
    return made;
  }
}
