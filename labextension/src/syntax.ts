/**
 * Chat cells read as Markdown: follow the cells of every notebook and switch the editor's language.
 * The MIME type belongs to the view, so nothing is saved and the notebook does not become dirty.
 */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { type ICellModel } from '@jupyterlab/cells';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker, type Notebook } from '@jupyterlab/notebook';
import { CHAT_MIME, addChatLanguage } from './language';
import { isChat } from './magicLine';

/** Give a code cell the language that its first line asks for. */
function match(cell: ICellModel, notebook: Notebook): void {
  const chat = isChat(cell.sharedModel.getSource());
  if (chat && cell.mimeType !== CHAT_MIME) {
    cell.mimeType = CHAT_MIME;
  } else if (!chat && cell.mimeType === CHAT_MIME) {
    cell.mimeType = notebook.codeMimetype;
  }
}

/** Keep the cells of one notebook matched, those of today and those to come. */
function follow(notebook: Notebook): void {
  const followed = new WeakSet<ICellModel>();
  const followCell = (cell: ICellModel) => {
    if (cell.type !== 'code' || followed.has(cell)) {
      return;
    }
    followed.add(cell);
    const rematch = () => match(cell, notebook);
    cell.contentChanged.connect(rematch);
    // The notebook sets every code cell back to the kernel's language when that becomes known.
    cell.mimeTypeChanged.connect(rematch);
    rematch();
  };
  const followCells = () => {
    for (const cell of notebook.model?.cells ?? []) {
      followCell(cell);
    }
  };
  const followModel = () => {
    notebook.model?.cells.changed.connect(followCells);
    followCells();
  };
  notebook.modelChanged.connect(followModel);
  followModel();
}

export const syntaxPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:syntax',
  description: 'Shows the prompt of a chat cell as Markdown.',
  autoStart: true,
  requires: [INotebookTracker, IEditorLanguageRegistry],
  activate: (_app, tracker: INotebookTracker, languages: IEditorLanguageRegistry) => {
    addChatLanguage(languages);
    tracker.widgetAdded.connect((_tracker, panel) => follow(panel.content));
    tracker.forEach(panel => follow(panel.content));
  }
};
