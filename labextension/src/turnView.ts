/** A turn in an output: it grows while the model speaks, and stands with its buttons afterwards. */
import { type IRenderMimeRegistry, RenderedMarkdown } from '@jupyterlab/rendermime';
import { type IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { type TranslationBundle } from '@jupyterlab/translation';
import { Panel, Widget } from '@lumino/widgets';
import { addCiteLinks } from './citeLinks';
import { addCodeTools } from './codeTools';
import { button, element } from './elements';
import { type KernelLine, TURN, saidOf } from './kernelLine';
import type { PageChunk, PageLive, PageOver, PageShown, PageState } from './protocol';
import { sparing } from './prices';
import { quietSanitizer, withoutDrawing } from './safeHtml';
import { aimAt } from './sourceRows';
import { Speaker } from './speaker';
import { type Actions, footerRow } from './turnActions';
import { above, below } from './turnParts';

/** Milliseconds between two paintings of a growing answer, at least. */
const PAINT_EVERY = 50;
/** So many times as long as the last painting took is waited before the next. */
const WORK = 3;

/** What a turn needs of the page around it; `line` null: no kernel speaks. */
export interface Scene {
  line(node: Node): KernelLine | null;
  /** What can be done with a final turn; `insert` missing where it is in no notebook. */
  actions(view: TurnView): Actions;
  /** A final bundle for the output that a view stands in. */
  put(view: TurnView, event: PageOver): void;
  /** A source in its document, null where no kernel knows the answer. */
  look(view: TurnView, n: number): Promise<PageChunk | null>;
  /** Ask whether the kernel knows what is shown. */
  check(view: TurnView): void;
  readonly views: Set<TurnView>;
  readonly readAloud: boolean;
}

export class TurnView extends Panel implements IRenderMime.IRenderer {
  shown: PageShown | null = null;
  /** The running turn that is shown here, '' for none. */
  live = '';
  state: PageState | null = null;
  readonly body: RenderedMarkdown;
  private readonly top = new Widget();
  private readonly bottom = new Widget();
  private readonly speaker: Speaker;
  private readonly note = element('div', 'jan-Turn-note');
  private readonly liveWords = element('span', 'jan-Turn-happens');
  /** The words of a running turn that its output holds; a kernel may know more. */
  private kept = '';
  /** What the parts around the words were made for. */
  private partsOf: PageShown | string | null = null;
  private readonly parts = element('div', 'jan-Turn-parts');
  private readonly footer = element('div', 'jan-Turn-foot');
  private timer = 0;
  private painting = false;
  private took = 0;
  private painted: string | null = null;

  constructor(
    private readonly registry: IRenderMimeRegistry,
    readonly trans: TranslationBundle,
    private readonly scene: Scene
  ) {
    super();
    this.addClass('jan-Turn');
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', trans.__('Answer'));
    this.body = new RenderedMarkdown({
      mimeType: 'text/markdown',
      sanitizer: quietSanitizer(registry.sanitizer),
      resolver: null,
      linkHandler: null,
      latexTypesetter: sparing(registry.latexTypesetter),
      markdownParser: registry.markdownParser ?? undefined
    });
    this.body.addClass('jan-Turn-body');
    this.body.node.dir = 'auto';
    this.speaker = new Speaker(this.node);
    [this.top, this.body, this.bottom].forEach(part => this.addWidget(part));
    scene.views.add(this);
  }

  dispose(): void {
    this.scene.views.delete(this);
    window.clearTimeout(this.timer);
    super.dispose();
  }

  /** Take a turn in, running or over, from a kernel or from a file that anybody may have written. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const turn = (model.data[TURN] ?? {}) as unknown as PageShown & PageLive;
    this.live = typeof turn.live === 'string' ? turn.live : '';
    this.shown = this.live ? null : turn;
    this.state = null;
    this.scene.line(this.node)?.begin({ ...turn });
    this.kept = this.live ? String(turn.markdown ?? '') : '';
    if (this.shown) {
      this.scene.check(this);
    }
    await this.paint();
  }

  /** Show a running turn in this place, as when a question is answered once more. */
  follow(turn: string): void {
    this.live = turn;
    this.paintSoon();
  }

  /** The running turn is over without an answer: what stood here stands again. */
  unfollow(said: string): void {
    this.live = '';
    this.paintSoon();
    this.say(said);
  }

  paintSoon(): void {
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      this.paint().catch(console.warn);
    }, Math.max(PAINT_EVERY, WORK * this.took));
  }

  /** Say something below the turn: what went wrong, or what has to be known. */
  say(words: string): void {
    this.note.textContent = words;
    this.note.hidden = !words;
    this.note.setAttribute('role', 'status');
  }

  async attempt(work: () => Promise<unknown>): Promise<void> {
    this.say('');
    try {
      await work();
    } catch (error) {
      this.say(saidOf(error));
    }
  }

  protected onAfterAttach(): void {
    this.paintSoon(); // only now is it known in which notebook this stands
  }

  private async paint(): Promise<void> {
    if (this.painting || this.isDisposed) {
      this.paintSoon();
      return;
    }
    this.painting = true;
    const begun = performance.now();
    try {
      if (this.live) {
        await this.paintLive();
      } else if (this.shown) {
        await this.paintShown(this.shown);
      }
    } finally {
      this.painting = false;
      this.took = performance.now() - begun;
    }
  }

  private async paintLive(): Promise<void> {
    const line = this.scene.line(this.node);
    const turn = line?.turns.get(this.live);
    const running = turn !== undefined && !turn.over;
    const markdown = (turn?.markdown.length ?? 0) >= this.kept.length ? turn?.markdown ?? '' : this.kept;
    this.node.dataset.state = running ? 'running' : 'left';
    this.node.setAttribute('aria-busy', String(running));
    await this.words(markdown);
    if (running && this.scene.readAloud) {
      this.speaker.follow(markdown);
    }
    const unfinished = this.trans.__('This answer was left unfinished · see: %chat show');
    this.liveWords.textContent = running ? turn.note : unfinished;
    // Made once: a button that is made anew between press and release hears no click.
    const row = `${this.live} ${running}`;
    if (this.partsOf !== row) {
      this.partsOf = row;
      this.top.node.replaceChildren();
      this.bottom.node.replaceChildren(this.liveRow(running ? line : null), this.note);
    }
  }

  private liveRow(line: KernelLine | null): HTMLElement {
    const row = element('div', 'jan-Turn-live');
    row.dataset.lmSuppressShortcuts = 'true';
    row.append(this.liveWords);
    if (line) {
      const turn = this.live;
      const stop = button(this.trans.__('Stop'), () => {
        stop.disabled = true;
        line.stop(turn).catch(console.warn);
      });
      row.prepend(element('span', 'jan-Turn-pulse'));
      row.append(stop);
    }
    return row;
  }

  private async paintShown(turn: PageShown): Promise<void> {
    this.node.dataset.state = this.state ? 'known' : 'read-only';
    this.node.dataset.path = this.state && !this.state.on_path ? 'left' : '';
    this.node.removeAttribute('aria-busy');
    await this.words(turn.markdown ?? turn.text ?? '');
    this.speaker.end();
    const actions = this.scene.actions(this);
    addCodeTools(this.body.node, this.trans, actions.insert);
    const aim = (n: number, from: HTMLElement) => aimAt(this.parts, n, from);
    addCiteLinks(this.body.node, turn.sources ?? [], aim, this.trans);
    const footer = footerRow(this, String(turn.footer ?? ''), actions);
    // Made once for a turn: what somebody has unfolded stays so.
    if (this.partsOf !== turn) {
      this.partsOf = turn;
      this.top.node.replaceChildren(...above(turn, this.trans));
      this.parts.replaceChildren(...below(turn, n => this.scene.look(this, n), this.trans));
      this.bottom.node.replaceChildren(this.parts, this.footer, this.note);
    }
    this.keepFocus(() => this.footer.replaceChildren(footer));
  }

  /** Render the words where they have changed; what is unchanged keeps its selection. */
  private async words(markdown: string): Promise<void> {
    const attached = this.isAttached;
    const key = `${attached}${markdown}`;
    if (this.painted === key) {
      return;
    }
    const data = { 'text/markdown': withoutDrawing(markdown) };
    await this.body.renderModel(this.registry.createModel({ data, trusted: false }));
    // Addresses of headings are of no use in an output, and are read aloud.
    this.body.node.querySelectorAll('.jp-InternalAnchorLink').forEach(link => link.remove());
    this.painted = key;
  }

  /** Paint anew and leave the focus on the button of the same name. */
  private keepFocus(work: () => void): void {
    const focused = document.activeElement;
    const label = this.node.contains(focused) ? focused?.textContent : null;
    work();
    if (label && !this.node.contains(document.activeElement)) {
      const buttons = [...this.node.querySelectorAll('button')];
      buttons.find(each => each.textContent === label)?.focus();
    }
  }
}
