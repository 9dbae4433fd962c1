/** Commands of chat cells: in the palette, by shortcut, and the toolbar's new chat cell. */
import { type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { isChat } from './magicLine';
import { type Actions } from './turnActions';
import { ITurns } from './turnPlugin';
import { type TurnView } from './turnView';

/** A speech bubble, in the colours of the theme. */
export const chatIcon = new LabIcon({
  name: 'jan-magics:chat',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H9l-5 4v-4
  a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zm0 2v10h2v2l2.5-2H20V5zm3 3h10v1.5H7zm0 3h7v1.5H7z"/></svg>`
});

type Act = (actions: Actions, view: TurnView) => (() => Promise<unknown>) | undefined;

/** What acts on the answer of the active cell, where its kernel allows it. */
const ON_ANSWERS: Record<string, [label: string, Act]> = {
  retry: ['Answer once more', ({ retry }) => retry],
  resume: ['Go on with a cut answer', ({ resume }, { state }) => (state?.cut ? resume : undefined)],
  'previous-version': [
    'Previous version of the answer',
    ({ go }, { state }) => (go && (state?.version ?? 1) > 1 ? () => go('prev') : undefined)
  ],
  'next-version': [
    'Next version of the answer',
    ({ go }, { state }) =>
      go && state && state.version < state.versions ? () => go('next') : undefined
  ],
  pin: ['Pin the answer, or let it go', ({ pin }, { state }) => pin && (() => pin(!state?.pinned))]
};

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  turns: ITurns,
  translator: ITranslator | null,
  palette: ICommandPalette | null
): void {
  const trans = (translator ?? nullTranslator).load('jan_magics');
  const { commands } = app;
  const onChat = () => isChat(tracker.activeCell?.model.sharedModel.getSource() ?? '');
  const view = () => turns.in(tracker.activeCell);
  const listed: string[] = [];
  const add = (name: string, options: Parameters<typeof commands.addCommand>[1]) => {
    listed.push(`jan-magics:${name}`);
    commands.addCommand(`jan-magics:${name}`, options);
  };

  add('chat-cell', {
    label: trans.__('New chat cell below'),
    caption: trans.__('Insert a chat cell below'),
    icon: chatIcon,
    isEnabled: () => tracker.currentWidget !== null,
    execute: async () => {
      const content = tracker.currentWidget?.content;
      if (content) {
        NotebookActions.insertBelow(content);
        NotebookActions.changeCellType(content, 'code');
        content.activeCell?.model.sharedModel.setSource('%%chat\n');
        await content.activeCell?.ready;
        content.mode = 'edit';
        content.activeCell?.editor?.focus();
        content.activeCell?.editor?.setCursorPosition({ line: 1, column: 0 });
      }
    }
  });
  add('send', {
    label: trans.__('Send the chat cell and stay'),
    isEnabled: onChat,
    execute: () => commands.execute('notebook:run-cell')
  });
  add('stop', {
    label: trans.__('Stop the answer'),
    isEnabled: () => turns.running(tracker.currentWidget).length > 0,
    execute: () => turns.stop(tracker.currentWidget)
  });
  for (const [name, [label, act]] of Object.entries(ON_ANSWERS)) {
    const action = () => {
      const shown = view();
      return shown ? act(turns.actions(shown), shown) : undefined;
    };
    add(name, {
      label: trans.__(label),
      isEnabled: () => action() !== undefined,
      execute: () => {
        const work = action();
        return work && view()?.attempt(work);
      }
    });
  }
  const category = trans.__('Chat');
  listed.forEach(command => palette?.addItem({ command, category }));
}

export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:commands',
  description: 'Commands of chat cells.',
  autoStart: true,
  requires: [INotebookTracker, ITurns],
  optional: [ITranslator, ICommandPalette],
  activate
};
