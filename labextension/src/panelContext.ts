/** The context window of the next turn: a bar, its numbers, and the four buttons. */
import { button, element } from './elements';
import { type KernelLine } from './kernelLine';
import { type PanelScene, Section } from './panelSection';
import type { PageBudget, PageBusy, PageCan, PageMark, PagePiece } from './protocol';

/** In the order of the bar: what is sent, what is free, what is kept back. */
const ORDER = [
  'system',
  'tools',
  'pinned',
  'summary',
  'history',
  'retrieved',
  'prompt',
  'free',
  'safety',
  'reserve'
];
const SENT = ORDER.indexOf('free');

type Button = keyof PageCan;
type Busy = PageBusy['what'];

export class Context extends Section<PageBudget> {
  private readonly head = element('div', 'jan-Panel-quiet');
  private readonly bar = element('div', 'jan-Panel-bar');
  private readonly said = element('div', 'jan-Panel-said');
  private readonly pieces = element('dl', 'jan-Panel-pieces');
  private readonly notices = element('div', 'jan-Panel-quiet');
  private readonly buttons: Record<Button, HTMLButtonElement>;
  private readonly stop: HTMLButtonElement;
  private readonly row = element('div', 'jan-Panel-buttons');
  private readonly titles: Record<Button, string>;
  private state: PageBudget | null = null;

  constructor(scene: PanelScene) {
    super(scene, scene.trans.__('Context'), 'context');
    const { trans } = scene;
    const press = (name: string) => this.attempt(line => line.ask('context', { press: name }));
    this.titles = {
      clear: trans.__('Send nothing of what was said so far; nothing is deleted'),
      restore: trans.__('Send again what was cleared last'),
      compact: trans.__('Let the model summarise all but the last turns; the originals stay'),
      uncompact: trans.__('Send the messages again that the last summary stands for')
    };
    const made = (name: Button, label: string) => {
      const pressed = button(label, () => {
        if (pressed.getAttribute('aria-disabled') !== 'true') {
          pressed.setAttribute('aria-disabled', 'true'); // until the kernel says how it is then
          void press(name);
        }
      });
      pressed.title = this.titles[name];
      pressed.dataset.press = name;
      return pressed;
    };
    this.buttons = {
      clear: made('clear', trans.__('Clear context')),
      restore: made('restore', trans.__('Restore')),
      compact: made('compact', trans.__('Compact')),
      uncompact: made('uncompact', trans.__('Undo compact'))
    };
    this.stop = button(trans.__('Stop'), () => press('stop'));
    this.stop.title = trans.__('Stop compacting');
    this.row.setAttribute('role', 'group');
    this.row.setAttribute('aria-label', trans.__('Context'));
    this.row.append(...Object.values(this.buttons), this.stop);
    this.bar.setAttribute('aria-hidden', 'true');
    this.said.setAttribute('role', 'status');
    this.head.dir = 'auto';
    this.body.append(this.head, this.bar, this.said, this.row, this.pieces, this.notices);
    this.body.hidden = true;
  }

  forget(): void {
    super.forget();
    this.body.hidden = true;
    this.state = null;
  }

  /** A turn or a compaction has begun, or is over: then the kernel says how it is. */
  follow({ what }: PageBusy): void {
    if (!what) {
      this.refresh();
    } else if (this.state) {
      this.show({ ...this.state, busy: what });
    }
  }

  protected ask(line: KernelLine): Promise<PageBudget> {
    return line.ask('budget', { prompt: this.scene.prompt });
  }

  protected show(state: PageBudget): void {
    const known = new Map(state.pieces.map(each => [each.piece, each]));
    const ordered = ORDER.flatMap(name => known.get(name) ?? []);
    const size = ({ tokens }: PagePiece) => Math.max(0, tokens ?? 0);
    const sum = (pieces: PagePiece[]) => pieces.reduce((all, each) => all + size(each), 0);
    const sent = sum(ordered.filter(({ piece }) => ORDER.indexOf(piece) < SENT));
    const whole = Math.max(state.window ?? 0, sum(ordered)) || 1;
    this.state = state;
    this.body.hidden = false;
    this.head.textContent = state.model;
    this.bar.replaceChildren(
      ...ordered.filter(size).map(each => {
        const piece = element('span', 'jan-Panel-piece');
        piece.dataset.piece = each.piece;
        piece.style.width = `${(100 * size(each)) / whole}%`;
        piece.title = `${this.named(each.piece)}: ${this.number(each)}`;
        return piece;
      }),
      ...state.marks.map(each => {
        const mark = element('span', 'jan-Panel-mark');
        mark.dataset.mark = each.name;
        mark.style.left = `${(100 * each.tokens) / whole}%`;
        mark.title = this.when(each);
        return mark;
      })
    );
    this.tell(state, sent);
    this.list(ordered.filter(each => size(each) || (each.piece === 'free' && each.tokens !== null)));
    this.notices.replaceChildren(...state.notices.map(words => element('div', '', words)));
    this.allow(state);
  }

  /** Say what is sent of what may be, and which marks that has passed. */
  private tell(state: PageBudget, sent: number): void {
    const { trans } = this.scene;
    const { window } = state;
    const used = sent.toLocaleString();
    const failed = state.failed ? [`${state.failed.said}. ${state.failed.next}`] : [];
    const lines = [
      window === null
        ? trans.__('%1 tokens are sent, without a limit', used)
        : trans.__('%1 of %2 tokens are sent', used, window.toLocaleString()),
      ...state.marks.filter(({ tokens }) => sent >= tokens).map(mark => this.when(mark)),
      ...(state.busy ? [this.why(state.busy)] : []),
      ...failed
    ];
    const reached = state.marks.filter(({ tokens }) => sent >= tokens);
    this.said.dataset.reached = reached.some(({ name }) => name !== 'warn')
      ? 'act'
      : reached.length
        ? 'warn'
        : '';
    const words = lines.map(line => element('div', '', line));
    if (this.said.textContent !== lines.join('')) {
      this.said.replaceChildren(...words);
    }
  }

  private list(pieces: PagePiece[]): void {
    this.pieces.replaceChildren(
      ...pieces.flatMap(each => {
        const swatch = element('span', 'jan-Panel-piece');
        swatch.dataset.piece = each.piece;
        const name = element('dt', '');
        name.append(swatch, this.named(each.piece));
        return [name, element('dd', '', this.number(each))];
      })
    );
  }

  /** Buttons keep the focus while they cannot be pressed, so none of them is taken away. */
  private allow({ can, busy }: PageBudget): void {
    const { trans } = this.scene;
    const compacting = busy === 'compacting';
    for (const [name, made] of Object.entries(this.buttons) as [Button, HTMLButtonElement][]) {
      made.setAttribute('aria-disabled', String(Boolean(busy) || !can[name]));
      made.title = busy ? this.why(busy) : this.titles[name];
    }
    this.buttons.compact.textContent = compacting ? trans.__('compacting…') : trans.__('Compact');
    this.stop.hidden = !compacting;
  }

  /** Say why no button can be pressed. */
  private why(busy: Exclude<Busy, ''>): string {
    const { trans } = this.scene;
    return busy === 'compacting'
      ? trans.__('compacting…')
      : trans.__('answering… The context can be changed when the answer is over.');
  }

  private number({ tokens, share, exact }: PagePiece): string {
    const about = exact ? '' : '≈\u2009';
    const part = share === null ? '' : ` · ${(share * 100).toFixed(1)}\u2009%`;
    return `${about}${(tokens ?? 0).toLocaleString()}${part}`;
  }

  private when({ name, tokens }: PageMark): string {
    const { trans } = this.scene;
    const at = tokens.toLocaleString();
    const words: Record<PageMark['name'], string> = {
      warn: trans.__('a warning from %1 on', at),
      trim: trans.__('trimming from %1 on', at),
      compact: trans.__('compaction from %1 on', at),
      error: trans.__('refused from %1 on', at)
    };
    return words[name];
  }

  private named(piece: string): string {
    const { trans } = this.scene;
    const words: Record<string, string> = {
      system: trans.__('system'),
      tools: trans.__('tools'),
      pinned: trans.__('pinned'),
      summary: trans.__('summary'),
      history: trans.__('history'),
      retrieved: trans.__('retrieved'),
      prompt: trans.__('prompt'),
      free: trans.__('free'),
      safety: trans.__('safety'),
      reserve: trans.__('kept for the answer')
    };
    return words[piece] ?? piece;
  }
}
