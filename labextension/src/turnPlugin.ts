/** Turns in outputs: their renderer, and what their buttons ask of the notebook's kernel. */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { type Cell, type CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';
import { type KernelLine, TURN, type Shown } from './kernelLine';
import { IKernels } from './kernels';
import { IPreferences } from './preferences';
import { insertBelow, put, spotOf, turnsIn } from './outputs';
import type {
  PageBundle,
  PageChunk,
  PageOver,
  PagePlace,
  PageShown,
  PageState
} from './protocol';
import { type Actions } from './turnActions';
import { type Turn, type TurnEvent } from './turns';
import { type Scene, TurnView } from './turnView';

/** Bundles that may wait for the end of their turns to be told. */
const FEW = 20;

/** The answers of all notebooks: which one a cell shows, and what runs. */
export interface ITurns {
  readonly views: ReadonlySet<TurnView>;
  in(cell: Cell | null): TurnView | null;
  actions(view: TurnView): Actions;
  running(panel: NotebookPanel | null): string[];
  stop(panel: NotebookPanel | null): Promise<void>;
}

export const ITurns = new Token<ITurns>('jan-magics:ITurns');

class Turns implements Scene, ITurns {
  readonly views = new Set<TurnView>();
  /** Final bundles that no output of this page waits for, by their turns. */
  private readonly homeless = new Map<string, PageBundle>();
  private asking = 0;

  constructor(
    private readonly tracker: INotebookTracker,
    private readonly kernels: IKernels,
    private readonly preferences: IPreferences
  ) {
    kernels.each((panel, line) => {
      line.told.connect((_line, event) => this.tell(panel, line, event));
      line.shown.connect((_line, shown) => this.place(panel, shown));
      line.opened.connect(() => this.views.forEach(view => this.check(view)));
      line.news.connect((_line, news) => news.kind === 'changed' && this.askSoon());
    });
  }

  get readAloud(): boolean {
    return this.preferences.readAloud;
  }

  line(node: Node): KernelLine | null {
    const panel = this.tracker.find(each => each.content.node.contains(node));
    return panel ? this.kernels.of(panel) : null;
  }

  /** Give the last answer that a cell shows. */
  in(cell: Cell | null): TurnView | null {
    return cell && ([...this.views].reverse().find(view => cell.node.contains(view.node)) ?? null);
  }

  /** Name the turns that run in a notebook's kernel. */
  running(panel: NotebookPanel | null): string[] {
    const turns = (panel && this.kernels.of(panel)?.turns) ?? new Map<string, Turn>();
    return [...turns].filter(([, { over }]) => !over).map(([name]) => name);
  }

  async stop(panel: NotebookPanel | null): Promise<void> {
    const line = panel && this.kernels.of(panel);
    await Promise.all(this.running(panel).map(turn => line?.stop(turn)));
  }

  /** Ask the kernel about an answer that may be its own, all of a page at once. */
  check(view: TurnView): void {
    view.state = null;
    view.paintSoon();
    this.askSoon();
  }

  /** Ask about all of them, once for all that happens at this moment. */
  private askSoon(): void {
    this.asking ||= window.setTimeout(() => {
      this.asking = 0;
      void this.askAll();
    }, 50);
  }

  async look(view: TurnView, n: number): Promise<PageChunk | null> {
    const line = this.line(view.node);
    const { shown, state } = view;
    if (!line?.isOpen || !state || !shown) {
      return null;
    }
    const place = { thread: shown.thread_id, message: shown.message };
    return (await line.ask<{ place: PageChunk }>('source', { ...place, number: n })).place;
  }

  put(view: TurnView, event: PageOver): void {
    const spot = spotOf(this.tracker, view.node);
    if (spot && event.bundle) {
      put(spot.cell, spot.output, event.bundle);
    }
  }

  actions(view: TurnView): Actions {
    const spot = spotOf(this.tracker, view.node);
    if (!spot) {
      return {};
    }
    const insert: Actions['insert'] = (code, language) => {
      // Where it stands now: cells move.
      const now = spotOf(this.tracker, view.node);
      if (now) {
        insertBelow(now, code, language);
      }
    };
    const line = this.kernels.of(spot.panel);
    const { shown } = view;
    if (!line?.isOpen || !view.state || !shown?.message || !shown.thread_id) {
      return { insert };
    }
    const { id: cell } = spot.cell.model;
    const place: PagePlace = { thread: shown.thread_id, message: shown.message, cell };
    const replace = async (kind: string, more: Record<string, unknown>) => {
      const { bundle } = await line.ask<{ bundle: PageBundle }>(kind, { ...place, ...more });
      const now = spotOf(this.tracker, view.node);
      if (now) {
        put(now.cell, now.output, bundle);
      }
    };
    const begin = async (kind: string) => {
      const { turn } = await line.ask<{ turn: string }>(kind, place);
      view.follow(turn);
    };
    return {
      insert,
      go: to => replace('go', { to }),
      edit: text => replace('edit', { text }),
      retry: () => begin('retry'),
      resume: () => begin('resume'),
      pin: async pinned => {
        const { state } = await line.ask<{ state: PageState }>('pin', { ...place, pinned });
        view.state = state;
        this.mark(view);
        view.paintSoon();
      }
    };
  }

  private async askAll(): Promise<void> {
    const asked = new Map<KernelLine, TurnView[]>();
    for (const view of this.views) {
      const line = view.shown?.message && view.shown.thread_id ? this.line(view.node) : null;
      if (line?.isOpen) {
        asked.set(line, [...(asked.get(line) ?? []), view]);
      }
    }
    for (const [line, views] of asked) {
      const answers = views.map(({ shown }) => ({
        thread: shown?.thread_id ?? '',
        message: shown?.message ?? ''
      }));
      const found = await line.known(answers).catch(() => new Map<string, PageState>());
      views.forEach(view => {
        view.state = found.get(view.shown?.message ?? '') ?? null;
        this.mark(view);
        view.paintSoon();
      });
    }
  }

  /** Mark the cell of an answer on the memory map; its view says the same in words. */
  private mark(view: TurnView): void {
    const cell = spotOf(this.tracker, view.node)?.cell;
    if (cell && view.state && this.preferences.marks) {
      cell.node.dataset.janMemory = view.state.memory;
    } else {
      delete cell?.node.dataset.janMemory;
    }
  }

  private tell(panel: NotebookPanel, line: KernelLine, event: TurnEvent): void {
    const views = [...this.views].filter(view => view.live === event.turn);
    if (event.kind === 'over') {
      views.forEach(view => {
        if (event.bundle) {
          this.put(view, event);
        } else if (view.shown) {
          view.unfollow(event.said);
        }
      });
      this.house(panel, event);
      // Whatever was said: what other answers can do may be another thing now.
      this.views.forEach(view => this.check(view));
    } else if (views.length === 0) {
      this.adopt(panel, line, event.turn, event.cell);
    }
    views.forEach(view => view.paintSoon());
  }

  /** Give a running turn its output back that a reload of this page has taken from it. */
  private adopt(panel: NotebookPanel, line: KernelLine, turn: string, id: string): void {
    const cell = panel.content.widgets.find(each => each.model.id === id) as CodeCell | undefined;
    // While the cell's own messages come in here, its display does too.
    if (!cell || cell.model.type !== 'code' || cell.outputArea.future) {
      return;
    }
    if (turnsIn(cell, shown => shown.live === turn).length === 0) {
      const { markdown = '', note = '' } = line.turns.get(turn) ?? {};
      const live = { schema: 1, live: turn, cell: id, markdown, note };
      put(cell, cell.model.outputs.length, { [TURN]: live, 'text/plain': note || '…' });
    }
  }

  /** Put the end of a turn into its cell, where a reload has taken the beginning away. */
  private house(panel: NotebookPanel, { turn, cell: id }: PageOver): void {
    const bundle = this.homeless.get(turn);
    this.homeless.delete(turn);
    const cell = panel.content.widgets.find(each => each.model.id === id) as CodeCell | undefined;
    if (!bundle || !cell || cell.model.type !== 'code' || cell.outputArea.future) {
      return;
    }
    const { message } = bundle[TURN] as PageShown;
    // One that still shows it running is about to get the bundle.
    if (turnsIn(cell, each => each.message === message || each.live === turn).length === 0) {
      put(cell, cell.model.outputs.length, bundle);
    }
  }

  /** Put a bundle where its display is lost: the running turn's place, or the same answer's. */
  private place(panel: NotebookPanel, { display, bundle }: Shown): void {
    const turn = bundle[TURN] as Partial<PageShown> & { live?: string };
    if (turn.live) {
      return;
    }
    if (this.homeless.size > FEW) {
      this.homeless.clear(); // of displays that are no turns, whose end is not told
    }
    this.homeless.set(display, bundle);
    // Later than JupyterLab itself, which knows the displays of this page.
    setTimeout(() => {
      for (const cell of panel.content.widgets as CodeCell[]) {
        if (cell.model.type === 'code') {
          turnsIn(cell, shown => shown.live === display).forEach(n => put(cell, n, bundle));
        }
      }
    }, 0);
  }
}

export const turnPlugin: JupyterFrontEndPlugin<ITurns> = {
  id: 'jan-magics:turn',
  description: 'Shows the answers of a chat.',
  autoStart: true,
  provides: ITurns,
  requires: [INotebookTracker, IRenderMimeRegistry, IKernels, IPreferences],
  optional: [ITranslator],
  activate: (
    _app,
    tracker: INotebookTracker,
    registry: IRenderMimeRegistry,
    kernels: IKernels,
    preferences: IPreferences,
    translator: ITranslator | null
  ) => {
    const turns = new Turns(tracker, kernels, preferences);
    const trans = (translator ?? nullTranslator).load('jan_magics');
    registry.addFactory({
      safe: true, // it renders as untrusted whatever the output is
      mimeTypes: [TURN],
      defaultRank: 10,
      createRenderer: () => new TurnView(registry, trans, turns)
    });
    return turns;
  }
};
