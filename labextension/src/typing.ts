/** What somebody is typing into a chat cell: the prompt that would be sent now. */
import { type Cell } from '@jupyterlab/cells';
import { type INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { isChat } from './magicLine';

/** Milliseconds without a key, before somebody has typed. */
const PAUSE = 300;

/** Return the prompt of a chat cell, '' where it is none. */
export function promptOf(source: string): string {
  const end = source.indexOf('\n');
  return isChat(source) && end >= 0 ? source.slice(end + 1) : '';
}

export class Typing {
  /** The prompt as it stands in the active cell, '' until something is typed there. */
  prompt = '';
  readonly changed = new Signal<this, void>(this);
  private timer = 0;

  constructor(private readonly tracker: INotebookTracker) {
    let left = () => undefined as void;
    tracker.activeCellChanged.connect((_tracker, cell) => {
      left();
      this.forget();
      left = cell ? this.follow(cell) : () => undefined;
    });
  }

  /** A cell has begun a turn: what was typed there is sent. '' is a cell that nobody names. */
  sent(cell: string): void {
    if (!cell || cell === this.tracker.activeCell?.model.id) {
      this.forget();
    }
  }

  /** Nobody types any more. */
  private forget(): void {
    window.clearTimeout(this.timer);
    if (this.prompt) {
      this.prompt = '';
      this.changed.emit();
    }
  }

  private follow(cell: Cell): () => void {
    const { sharedModel } = cell.model;
    const hear = (_model: unknown, change: { sourceChange?: unknown }) => {
      if (change.sourceChange) {
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.take(promptOf(sharedModel.source)), PAUSE);
      }
    };
    sharedModel.changed.connect(hear);
    return () => sharedModel.changed.disconnect(hear);
  }

  private take(prompt: string): void {
    if (prompt !== this.prompt) {
      this.prompt = prompt;
      this.changed.emit();
    }
  }
}
