/**
 * Files that are dropped on a chat cell are attached to its question. Those of JupyterLab's file
 * browser are there already; those of the desktop are uploaded beside the notebook, after asking.
 */
import { type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { type Cell } from '@jupyterlab/cells';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { type Contents } from '@jupyterlab/services';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { type MimeData } from '@lumino/coreutils';
import { attaching, relativeTo } from './attachLine';
import { isChat } from './magicLine';
import { freeName, isThere, upload } from './uploading';

/** What JupyterLab's file browser calls the paths that are dragged. */
const CONTENTS = 'application/x-jupyter-icontents';
const OVER = 'jan-mod-dropping';

/** A drag inside JupyterLab, as its own library sends it. */
interface LabDrag extends MouseEvent {
  mimeData: MimeData;
  dropAction: string;
  proposedAction: string;
}

class Dropping {
  private over: Cell | null = null;

  constructor(
    private readonly panel: NotebookPanel,
    private readonly contents: Contents.IManager,
    private readonly trans: TranslationBundle
  ) {
    // Before the editor, which would put the text of a file into the cell.
    for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
      panel.content.node.addEventListener(kind, this, true);
      panel.content.node.addEventListener(`lm-${kind}`, this, true);
    }
  }

  handleEvent(event: Event): void {
    const drag = event as LabDrag & DragEvent;
    const own = event.type.startsWith('lm-');
    if (own ? !drag.mimeData.hasData(CONTENTS) : !drag.dataTransfer?.types.includes('Files')) {
      return;
    }
    if (event.type.endsWith('dragleave')) {
      this.mark(this.at(drag.relatedTarget));
      return;
    }
    const cell = this.at(event.target);
    this.mark(event.type.endsWith('drop') ? null : cell);
    if (!cell) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (own) {
      drag.dropAction = drag.proposedAction;
    } else if (drag.dataTransfer) {
      drag.dataTransfer.dropEffect = 'copy';
    }
    if (event.type === 'lm-drop') {
      this.attach(cell, drag.mimeData.getData(CONTENTS) as string[]);
    } else if (event.type === 'drop') {
      this.bring(cell, [...(drag.dataTransfer?.files ?? [])]).catch(error =>
        showErrorMessage(this.trans.__('The file was not attached'), error)
      );
    }
  }

  /** Find the chat cell that something stands in. */
  private at(target: EventTarget | null): Cell | null {
    const cell = this.panel.content.widgets.find(each => each.node.contains(target as Node | null));
    return cell?.model.type === 'code' && isChat(cell.model.sharedModel.getSource()) ? cell : null;
  }

  private mark(cell: Cell | null): void {
    if (this.over !== cell) {
      this.over?.node.classList.remove(OVER);
      cell?.node.classList.add(OVER);
      this.over = cell;
    }
  }

  /** Write paths of JupyterLab into the first line of a cell. */
  private attach(cell: Cell, paths: readonly string[]): void {
    const drive = this.contents.driveName(this.panel.context.path);
    const folder = this.folder();
    const near = paths.filter(path => this.contents.driveName(path) === drive);
    const named = near.map(path => relativeTo(folder, this.contents.localPath(path)));
    const model = cell.model.sharedModel;
    const [at, text] = attaching(model.getSource(), named);
    if (text) {
      model.updateSource(at, at, text);
    }
    if (near.length < paths.length) {
      const said = this.trans.__('The kernel does not see this drive; copy the file first.');
      void showErrorMessage(this.trans.__('The file was not attached'), said);
    }
  }

  private folder(): string {
    const path = this.contents.localPath(this.panel.context.path);
    return path.slice(0, Math.max(0, path.lastIndexOf('/')));
  }

  /** Upload files of the desktop that somebody says yes to, and attach them. */
  private async bring(cell: Cell, files: readonly File[]): Promise<void> {
    const notebook = this.panel.context.path;
    const folder = notebook.slice(0, Math.max(notebook.lastIndexOf('/') + 1, notebook.indexOf(':') + 1));
    for (const file of files) {
      const name = await this.ask(folder, file.name);
      if (name) {
        await upload(this.contents, file, folder + name);
        this.attach(cell, [folder + name]);
      }
    }
  }

  /** Ask under which name a file may be uploaded; '' for not at all. */
  private async ask(folder: string, name: string): Promise<string> {
    const { trans } = this;
    const taken = await isThere(this.contents, folder + name);
    const cancel = Dialog.cancelButton({ label: trans.__('Cancel') });
    const yes = taken ? trans.__('Keep both') : trans.__('Upload and attach');
    const { button } = await showDialog({
      title: taken ? trans.__('A file of this name is there') : trans.__('Attach a file'),
      body: taken
        ? trans.__('%1 is beside the notebook already.', name)
        : trans.__('%1 will be uploaded beside the notebook.', name),
      buttons: [
        cancel,
        ...(taken ? [Dialog.warnButton({ label: trans.__('Replace') })] : []),
        Dialog.okButton({ label: yes })
      ],
      defaultButton: taken ? 2 : 1
    });
    if (!button.accept) {
      return '';
    }
    return taken && button.label === yes ? freeName(this.contents, folder, name) : name;
  }
}

export const droppingPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:dropping',
  description: 'Attaches files that are dropped on a chat cell.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, tracker: INotebookTracker, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load('jan_magics');
    const { contents } = app.serviceManager;
    const follow = (panel: NotebookPanel) => new Dropping(panel, contents, trans);
    tracker.widgetAdded.connect((_tracker, panel) => follow(panel));
    tracker.forEach(follow);
  }
};
