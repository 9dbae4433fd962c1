/** The status bar: who answers in this notebook, and how much of the token budget is taken. */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { IKernels } from './kernels';
import { IPreferences } from './preferences';
import type { PageStatus } from './protocol';

/** Write what is known; a notebook without a chat says nothing. */
export function statusText(status: PageStatus | null, trans: TranslationBundle): string {
  if (!status?.model) {
    return '';
  }
  const { model, tokens, budget } = status;
  const share = tokens !== null && budget ? Math.round((100 * tokens) / budget) : null;
  const name = model.length > 32 ? `…${model.slice(-31)}` : model;
  return share === null ? name : trans.__('%1 · %2% of the budget', name, share);
}

/** Say which package has to be upgraded, where the two sides do not understand each other. */
export function upgrade(older: 'kernel' | 'page', trans: TranslationBundle): string {
  return older === 'kernel'
    ? trans.__("Upgrade jan-magics in the kernel's environment")
    : trans.__('Upgrade jan-magics where JupyterLab runs');
}

class StatusItem extends Widget {
  readonly changed = new Signal<this, void>(this);
  private asked = 0;

  constructor(
    private readonly tracker: INotebookTracker,
    private readonly kernels: IKernels,
    private readonly trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-StatusBar-TextItem');
    this.addClass('jan-Status');
    tracker.currentChanged.connect(() => this.refresh());
    kernels.each((_panel, line) => {
      line.opened.connect(() => this.refresh());
      line.told.connect((_line, event) => event.kind === 'over' && this.refresh());
      line.news.connect((_line, news) => news.kind === 'changed' && this.refresh());
    });
  }

  refresh(): void {
    const panel = this.tracker.currentWidget;
    const line = panel && this.kernels.of(panel);
    const asked = ++this.asked;
    const show = (status: PageStatus | null) => {
      if (asked === this.asked) {
        this.paint(status);
      }
    };
    if (line?.older) {
      this.say(upgrade(line.older, this.trans));
    } else if (line?.isOpen) {
      line.ask<PageStatus>('status').then(show, () => show(null));
    } else {
      show(null);
    }
  }

  private say(words: string): void {
    this.node.textContent = words;
    this.changed.emit();
  }

  private paint(status: PageStatus | null): void {
    this.say(statusText(status, this.trans));
    const { thread = '', messages = 0, tokens = null, budget = null } = status ?? {};
    const counted = tokens === null ? '' : this.trans.__('%1 of %2 tokens', tokens, budget ?? '?');
    const where = status ? this.trans.__('thread %1, %2 messages', thread, messages) : '';
    this.node.title = [where, counted].filter(Boolean).join('\n');
  }
}

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:status',
  description: 'Shows the model and the share of the budget in the status bar.',
  autoStart: true,
  requires: [INotebookTracker, IKernels, IPreferences],
  optional: [IStatusBar, ITranslator],
  activate: (
    _app,
    tracker: INotebookTracker,
    kernels: IKernels,
    preferences: IPreferences,
    bar: IStatusBar | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jan_magics');
    // The status bar says it too; Notebook 7 has none.
    kernels.each((_panel, line) => {
      line.opened.connect(() => {
        if (line.older) {
          Notification.warning(upgrade(line.older, trans), { autoClose: false });
        }
      });
    });
    if (bar) {
      const item = new StatusItem(tracker, kernels, trans);
      preferences.changed.connect(() => item.refresh());
      bar.registerStatusItem('jan-magics:status', {
        item,
        align: 'right',
        rank: 50,
        isActive: () => preferences.statusBar && item.node.textContent !== '',
        activeStateChanged: item.changed
      });
    }
  }
};
