/**
 * A view in an output: its widget while that lives, else the table or text of the same bundle.
 * JupyterLab itself prefers the widget, and would say "Loading widget..." for ever without a kernel.
 */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { type IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { type ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Panel } from '@lumino/widgets';

const VIEW = 'application/vnd.jan-magics.view+json';
const WIDGET = 'application/vnd.jupyter.widget-view+json';

class LiveView extends Panel implements IRenderMime.IRenderer {
  private model: IRenderMime.IMimeModel | null = null;
  private panel: NotebookPanel | null = null;
  /** What is shown: a MIME type, '' for nothing yet. */
  private shown = '';

  constructor(
    private readonly registry: IRenderMimeRegistry,
    private readonly tracker: INotebookTracker
  ) {
    super();
    this.addClass('jan-LiveView');
  }

  /** Take a bundle; it is shown once it is known in which notebook it stands. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.model = model;
    this.shown = '';
    await this.choose();
  }

  dispose(): void {
    Signal.clearData(this);
    super.dispose();
  }

  protected onAfterAttach(): void {
    if (!this.panel) {
      this.panel = this.tracker.find(each => each.content.node.contains(this.node)) ?? null;
      // Widgets come and go with messages of the kernel.
      this.panel?.sessionContext.statusChanged.connect(this.chooseSoon, this);
      this.panel?.sessionContext.kernelChanged.connect(this.chooseSoon, this);
    }
    this.chooseSoon();
  }

  private chooseSoon(): void {
    this.choose().catch(console.warn);
  }

  private get lives(): boolean {
    const view = this.model?.data[WIDGET] as ReadonlyPartialJSONObject | undefined;
    const kernel = this.panel?.sessionContext.session?.kernel;
    // As with any widget: a notebook that nobody trusts gets none.
    return Boolean(this.model?.trusted && kernel?.hasComm(String(view?.model_id)));
  }

  private async choose(): Promise<void> {
    if (!this.model || !this.isAttached || this.isDisposed) {
      return;
    }
    const { [VIEW]: _view, [WIDGET]: _widget, ...still } = this.model.data;
    const wanted = this.lives ? WIDGET : this.registry.preferredMimeType(still, 'ensure') ?? '';
    if (wanted === this.shown || !wanted) {
      return;
    }
    this.shown = wanted;
    const live = wanted === WIDGET;
    const registry = (live && this.panel?.content.rendermime) || this.registry;
    const renderer = registry.createRenderer(wanted);
    const data = live ? this.model.data : still;
    const model = live ? this.model : this.registry.createModel({ data, trusted: false });
    this.widgets.slice().forEach(each => each.dispose());
    this.addWidget(renderer);
    await renderer.renderModel(model);
  }
}

export const liveViewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:live-view',
  description: 'Shows views while they live, and what they showed afterwards.',
  autoStart: true,
  requires: [INotebookTracker, IRenderMimeRegistry],
  activate: (_app, tracker: INotebookTracker, registry: IRenderMimeRegistry) => {
    registry.addFactory({
      safe: true, // the widget only where the output is trusted
      mimeTypes: [VIEW],
      defaultRank: -20, // before the widgets' own, which is -10
      createRenderer: () => new LiveView(registry, tracker)
    });
  }
};
