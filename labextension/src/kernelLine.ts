/** The line to one kernel: what its turns say, what pages ask it for, and the way to stop a turn. */
import { type Kernel, type KernelMessage } from '@jupyterlab/services';
import { type JSONObject } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';
import type {
  PageBundle,
  PagePlace,
  PageRefusal,
  PageReply,
  PageRequest,
  PageState,
  PageWelcome
} from './protocol';
import { type Speaking, forgets, reach, soon } from './reaching';
import { type News, type Turn, type TurnEvent, isNews, isTurnEvent, reduce } from './turns';

const HELLO = 'jan-magics.hello';
const CONTROL = 'jan-magics.ctl';
const PAGE = 'jan-magics.page';
/** Raised with the kernel's, where the two would not understand each other. */
export const PROTOCOL = 1;
/** Milliseconds that a subshell may take to start; without one, the kernel hears when it is idle. */
const STARTING = 5000;
/** Milliseconds within which a kernel that is not busy tells what it is. */
const KNOWN = 500;
/** Milliseconds that a stop may take to get through before the kernel itself is interrupted. */
const STOPPING = 1500;
export const TURN = 'application/vnd.jan-magics.turn+json';

/** A request that the kernel refused: what happened, and what to do. */
export class Refused extends Error {
  constructor(readonly refusal: PageRefusal) {
    super(refusal.said);
  }
}

/** Say what went wrong, and what to do. */
export function saidOf(error: unknown): string {
  const refusal = error instanceof Refused ? error.refusal : null;
  return refusal ? [refusal.said, refusal.next].filter(Boolean).join(' · ') : String(error);
}

/** A whole bundle that a kernel shows somewhere; pages that have lost its display put it there. */
export interface Shown {
  display: string;
  bundle: PageBundle;
}

/** What a page says of itself: the kernel writes footers in its language, unless another is set. */
function introduction(): JSONObject {
  return { protocol: PROTOCOL, language: document.documentElement.lang };
}

/** Wait for the subshell of a comm, where JupyterLab makes one. */
function started(comm: Kernel.IComm): Promise<void> {
  return (comm as { subshellStarted?: Promise<void> }).subshellStarted ?? Promise.resolve();
}

export class KernelLine {
  readonly turns = new Map<string, Turn>();
  /** Which side is the older where the two do not understand each other; '' while all is well. */
  older: '' | 'kernel' | 'page' = '';
  private control: Promise<Speaking> | null = null;
  private page: Kernel.IComm | null = null;
  private welcomed = false;
  private asked = 0;
  private readonly waiting = new Map<number, (reply: PageReply) => void>();
  private readonly _began = new Signal<this, string>(this);
  private readonly _told = new Signal<this, TurnEvent>(this);
  private readonly _shown = new Signal<this, Shown>(this);
  private readonly _opened = new Signal<this, void>(this);
  private readonly _news = new Signal<this, News>(this);

  constructor(readonly kernel: Kernel.IKernelConnection) {
    kernel.registerCommTarget(HELLO, () => this.greet());
    kernel.iopubMessage.connect((_kernel, message) => this.hear(message));
    kernel.statusChanged.connect((_kernel, status) => {
      if (forgets(status)) {
        this.hangUp();
      }
    });
  }

  /** A turn that this page has not heard of before, by its cell; '' where nobody says. */
  get began(): ISignal<this, string> {
    return this._began;
  }

  /** Something that a turn says, also one that this page saw begin elsewhere. */
  get told(): ISignal<this, TurnEvent> {
    return this._told;
  }

  get shown(): ISignal<this, Shown> {
    return this._shown;
  }

  /** The kernel answers requests from now on, or no longer. */
  get opened(): ISignal<this, void> {
    return this._opened;
  }

  /** What panels show has changed, or documents are on their way. */
  get news(): ISignal<this, News> {
    return this._news;
  }

  get isOpen(): boolean {
    return this.welcomed && this.older === '';
  }

  /** Ask a kernel whether it has said hello before, to a page that is gone. */
  async look(): Promise<void> {
    await this.kernel.info;
    const found = await this.kernel.requestCommInfo({ target_name: HELLO });
    if (found.content.status === 'ok' && Object.keys(found.content.comms).length > 0) {
      this.greet();
    }
  }

  /** Open both comms. On the one for control the kernel never sends, so that it is heard at once. */
  greet(): void {
    this.opening().catch(() => undefined); // the kernel is gone
    if (!this.page || this.page.isDisposed) {
      const comm = this.kernel.createComm(PAGE);
      comm.onMsg = message => this.take(message.content.data as unknown as PageReply | PageWelcome);
      comm.onClose = () => this.hangUp();
      started(comm).catch(() => undefined); // it is not waited for here
      comm.open(introduction());
      this.page = comm;
    }
  }

  /** Send an answer, or a stop. */
  say(data: JSONObject): void {
    this.opening()
      .then(comm => comm.send(data))
      .catch(() => undefined); // the kernel is gone
  }

  /** The comm for answers and stops, open. */
  private opening(): Promise<Speaking> {
    this.control ??= this.openControl();
    return this.control;
  }

  /**
   * Open it on its subshell: what is sent before there is one waits in the kernel for the end of the
   * running cell, and what comes on a comm that was not opened is not heard.
   */
  private async openControl(): Promise<Speaking> {
    if (!(await soon(this.kernel.info, KNOWN))) {
      const reached = await soon(reach(this.kernel, CONTROL, introduction()), STARTING);
      if (reached) {
        return reached;
      }
    }
    await this.kernel.info;
    const comm = this.kernel.createComm(CONTROL);
    comm.onClose = () => {
      this.control = null;
    };
    if (this.kernel.supportsSubshells) {
      await soon(started(comm), STARTING).catch(() => undefined);
    }
    comm.open(introduction());
    return comm;
  }

  /** Ask for something. Rejects with Refused where the kernel says why not. */
  async ask<T>(kind: string, data: object = {}): Promise<T> {
    const page = this.page;
    if (!page || !this.isOpen) {
      throw new Refused({ said: 'no kernel answers here', next: '%load_ext jan_magics' });
    }
    const n = ++this.asked;
    const reply = await new Promise<PageReply>(resolve => {
      this.waiting.set(n, resolve);
      const request: PageRequest = { ...data, kind, n };
      page.send(request as never);
    });
    if (reply.error) {
      throw new Refused(reply.error);
    }
    return (reply.ok ?? {}) as T;
  }

  /** Tell which answers were written here; those of others are missing. */
  async known(answers: PagePlace[]): Promise<Map<string, PageState>> {
    const { answers: found } = await this.ask<{ answers: Record<string, PageState> }>('known', {
      answers
    });
    return new Map(Object.entries(found));
  }

  /** Stop a turn; the kernel itself is interrupted where that does not get through. */
  async stop(turn: string): Promise<void> {
    this.say({ stop: turn });
    await new Promise(resolve => setTimeout(resolve, STOPPING));
    // A page that was loaded while a cell runs does not know yet that the kernel is busy.
    if (this.turns.get(turn)?.over === false && this.kernel.status !== 'idle') {
      await this.kernel.interrupt();
    }
  }

  private hear(message: KernelMessage.IIOPubMessage): void {
    const kind = message.header.msg_type;
    if (kind === 'comm_msg') {
      const { data } = message.content as KernelMessage.ICommMsgMsg['content'];
      if (isTurnEvent(data)) {
        this.follow(data);
      } else if (isNews(data)) {
        this._news.emit(data);
      } else if (data?.kind === 'asking' && !this.page) {
        this.greet(); // a question is open, and this page was loaded since
      }
    } else if (kind === 'display_data' || kind === 'update_display_data') {
      const { data, transient } = message.content as KernelMessage.IDisplayDataMsg['content'];
      if (transient?.display_id && data[TURN]) {
        this.begin(data[TURN] as Record<string, unknown>);
        this._shown.emit({ display: String(transient.display_id), bundle: data });
      }
    }
  }

  /** Take the whole text of a turn, which a page that came late begins with. */
  begin(live: Record<string, unknown>): void {
    const { live: turn, markdown, note, cell } = live;
    const known = typeof turn === 'string' ? this.turns.get(turn) : undefined;
    if (typeof turn === 'string' && (known?.markdown ?? '').length <= String(markdown).length) {
      const over = known?.over ?? false;
      this.keep(turn, { markdown: String(markdown), note: String(note), cell: String(cell), over });
    }
  }

  private keep(turn: string, now: Turn): void {
    const isNew = !this.turns.has(turn);
    this.turns.set(turn, now);
    if (isNew) {
      this._began.emit(now.cell);
    }
  }

  private follow(event: TurnEvent): void {
    const next = reduce(this.turns.get(event.turn), event);
    if (next) {
      this.keep(event.turn, next);
      this._told.emit(event);
    }
    if (!this.page) {
      this.greet(); // it speaks: this page was loaded while a cell runs
    }
  }

  private take(data: PageReply | PageWelcome): void {
    if (data.kind === 'welcome') {
      const { protocol } = data;
      this.older = protocol === PROTOCOL ? '' : protocol < PROTOCOL ? 'kernel' : 'page';
      this.welcomed = true;
      this._opened.emit();
      this.catchUp().catch(() => undefined); // the kernel is gone
    } else {
      this.waiting.get(data.n ?? 0)?.(data);
      this.waiting.delete(data.n ?? 0);
    }
  }

  private async catchUp(): Promise<void> {
    if (!this.isOpen) {
      return;
    }
    const { turns } = await this.ask<{ turns: Record<string, unknown>[] }>('running');
    const running = new Set(turns.map(each => String(each.turn)));
    turns.forEach(each => this.begin({ ...each, live: each.turn }));
    for (const [turn, { over, cell }] of this.turns) {
      if (!over && !running.has(turn)) {
        this.follow({ kind: 'over', turn, cell, bundle: null, said: '' });
      }
    }
    turns.forEach(each => {
      const { turn, cell, note } = each as Record<string, string>;
      const at = this.turns.get(turn)?.markdown.length ?? 0;
      this._told.emit({ kind: 'turn', turn, cell, note, at, text: '' });
    });
  }

  private hangUp(): void {
    this.control = this.page = null;
    this.welcomed = false;
    const lost = { said: 'the kernel is gone', next: '%load_ext jan_magics' };
    this.waiting.forEach((resolve, n) => resolve({ kind: 'reply', n, error: lost }));
    this.waiting.clear();
    for (const [turn, { over, cell }] of this.turns) {
      if (!over) {
        this.follow({ kind: 'over', turn, cell, bundle: null, said: lost.said });
      }
    }
    this._opened.emit();
  }
}
