/** The panel: which notebook it is about, and why there may be nothing to show. */
import { type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { type Kernel } from '@jupyterlab/services';
import { type IStateDB } from '@jupyterlab/statedb';
import { type TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { button, element } from './elements';
import { type KernelLine } from './kernelLine';
import { type IKernels } from './kernels';
import { Context } from './panelContext';
import { Documents } from './panelDocuments';
import { type PanelScene, type Section } from './panelSection';
import { Threads } from './panelThreads';
import { Branches } from './panelTree';
import { upgrade } from './status';
import { type News } from './turns';
import { Typing } from './typing';

const LOAD = '%load_ext jan_magics';
/** Where the names of the folded sections are kept. */
const FOLDED = 'jan-magics:folded';

/** Two speech bubbles, in the colours of the theme. */
const panelIcon = new LabIcon({
  name: 'jan-magics:panel',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="20" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M3 3h12a1 1 0 0 1 1 1v8a1 1 0 0 1-1 1H7l-4 3.5V4a1 1 0
  0 1 0-1zm1.5 2v7.6L6.4 11H14V5zM18 8h2.5a1 1 0 0 1 1 1v12.5L17.5 18H9a1 1 0 0 1-1-1v-2h2v1h8.3
  l1.2 1V10H18z"/></svg>`
});

export class ChatPanel extends Widget implements PanelScene {
  line: KernelLine | null = null;
  private readonly head = element('h2', 'jan-Panel-head');
  private readonly quiet = element('div', 'jan-Panel-nobody');
  private readonly context: Context;
  private readonly documents: Documents;
  private readonly typing: Typing;
  private readonly sections: Section<unknown>[];
  private readonly languages = new WeakMap<Kernel.IKernelConnection, string>();
  private shown: NotebookPanel | null = null;
  private timer = 0;

  constructor(
    private readonly tracker: INotebookTracker,
    private readonly kernels: IKernels,
    readonly trans: TranslationBundle,
    readonly tongue: string
  ) {
    super();
    this.id = 'jan-magics-panel';
    this.addClass('jan-Panel');
    this.title.icon = panelIcon;
    this.title.caption = trans.__('Chat: threads, context and documents');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.caption);
    this.context = new Context(this);
    this.documents = new Documents(this);
    this.typing = new Typing(tracker);
    this.typing.changed.connect(() => {
      this.line?.ask('typed', { prompt: this.prompt }).catch(() => undefined);
      this.context.refresh();
    });
    this.sections = [
      new Threads(this),
      new Branches(this),
      this.context,
      this.documents
    ] as Section<unknown>[];
    this.node.append(this.head, this.quiet, ...this.sections.map(({ node }) => node));
    tracker.currentChanged.connect(() => this.follow());
    kernels.each((_panel, line) => {
      line.opened.connect(() => this.follow());
      line.news.connect((_line, news) => this.hear(line, news));
      line.began.connect((_line, cell) => line === this.line && this.typing.sent(cell));
      line.told.connect((_line, event) => event.kind === 'over' && this.refresh());
    });
    this.follow();
  }

  get prompt(): string {
    return this.typing.prompt;
  }

  get looking(): boolean {
    return this.isVisible;
  }

  /** Ask again for everything, once for all that happens at this moment. */
  refresh(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.sections.forEach(each => each.refresh()), 30);
  }

  /** Fold what was folded before the page was loaded anew, and keep what is from now on. */
  async remember(state: IStateDB): Promise<void> {
    const kept = await state.fetch(FOLDED);
    const folded = Array.isArray(kept) ? kept : [];
    for (const { node, name } of this.sections) {
      node.open = !folded.includes(name);
      node.addEventListener('toggle', () => {
        const names = this.sections.filter(each => !each.node.open).map(each => each.name);
        state.save(FOLDED, names).catch(console.warn);
      });
    }
  }

  protected onAfterShow(): void {
    this.refresh();
  }

  /** Another kernel may have changed the same threads; documents come into one notebook's. */
  private hear(line: KernelLine, news: News): void {
    if (news.kind === 'changed') {
      this.refresh();
    } else if (line !== this.line) {
      return;
    } else if (news.kind === 'busy') {
      this.context.follow(news);
    } else {
      this.documents.follow(news);
    }
  }

  /** Look which notebook is in front, and whether its kernel answers. */
  private follow(): void {
    const panel = this.tracker.currentWidget;
    if (panel !== this.shown) {
      this.shown?.sessionContext.kernelChanged.disconnect(this.followSoon, this);
      this.shown?.sessionContext.statusChanged.disconnect(this.followSoon, this);
      this.shown?.context.pathChanged.disconnect(this.followSoon, this);
      panel?.sessionContext.kernelChanged.connect(this.followSoon, this);
      panel?.sessionContext.statusChanged.connect(this.followSoon, this);
      panel?.context.pathChanged.connect(this.followSoon, this);
      this.shown = panel;
    }
    const name = panel?.context.path.split('/').pop() ?? '';
    this.head.textContent = name;
    this.head.title = panel?.context.path ?? '';
    this.head.hidden = !panel;
    const line = (panel && this.kernels.of(panel)) ?? null;
    const open = line?.isOpen ? line : null;
    if (open !== this.line) {
      this.line = open;
      this.sections.forEach(each => each.forget());
      this.refresh();
    }
    this.sections.forEach(({ node }) => {
      node.hidden = open === null;
    });
    this.quiet.hidden = open !== null;
    this.quiet.replaceChildren(...(open ? [] : this.why(panel, line)));
  }

  private followSoon(): void {
    // Later than whoever takes the line of a new kernel.
    setTimeout(() => this.isDisposed || this.follow(), 0);
  }

  /** Say why there is nothing to show, and what to do about it. */
  private why(panel: NotebookPanel | null, line: KernelLine | null): Node[] {
    const { trans } = this;
    const say = (words: string) => [element('p', '', words)];
    if (!panel) {
      return say(trans.__('Open a notebook to see its threads here.'));
    }
    const kernel = panel.sessionContext.session?.kernel;
    if (!kernel || !line || kernel.status === 'dead') {
      return say(trans.__('This notebook has no kernel.'));
    }
    if (line.older) {
      return say(upgrade(line.older, trans));
    }
    if (kernel.status === 'busy') {
      return say(trans.__('The kernel is busy. What it knows stands here when the cell is over.'));
    }
    const language = this.languages.get(kernel);
    if (language === undefined) {
      void kernel.info.then(info => {
        this.languages.set(kernel, info.language_info.name);
        this.follow();
      });
      return say(trans.__('The kernel is starting.'));
    }
    if (language !== 'python') {
      return say(trans.__('Chats need a Python kernel; this one speaks %1.', language));
    }
    const row = element('div', 'jan-Panel-row');
    const copy = button(trans.__('Copy'), () => navigator.clipboard?.writeText(LOAD));
    row.append(element('code', 'jan-Panel-load', LOAD), copy);
    return [...say(trans.__('The chat is not loaded in this kernel. Run in a cell:')), row];
  }
}
