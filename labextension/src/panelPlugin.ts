/** The panel at the left, and the command that shows it. */
import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { besides, Dropping } from './dropping';
import { IKernels } from './kernels';
import { ChatPanel } from './panel';

const SHOW = 'jan-magics:panel';

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:panel',
  description: 'Shows threads, context and documents at the left.',
  autoStart: true,
  requires: [INotebookTracker, IKernels],
  optional: [ITranslator, ILayoutRestorer, ICommandPalette, IStateDB],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    kernels: IKernels,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    state: IStateDB | null
  ) => {
    const tongues = translator ?? nullTranslator;
    const trans = tongues.load('jan_magics');
    const panel = new ChatPanel(tracker, kernels, trans, tongues.languageCode);
    app.shell.add(panel, 'left', { rank: 450 });
    new Dropping(besides(panel.node, tracker), app.serviceManager.contents, trans);
    restorer?.add(panel, panel.id);
    if (state) {
      panel.remember(state).catch(console.warn);
    }
    app.commands.addCommand(SHOW, {
      label: trans.__('Show the chat panel'),
      execute: () => app.shell.activateById(panel.id)
    });
    palette?.addItem({ command: SHOW, category: trans.__('Chat') });
  }
};
