/**
 * Files that are dropped on a chat cell are attached to its question; on the panel, to that of the
 * current cell, or of a new one. Those of JupyterLab's file browser are there already; those of the
 * desktop are uploaded beside the notebook, after asking.
 */
import { type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { type Cell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
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

/** The chat cell that files are for, and the notebook that it is in. */
interface Target {
  notebook: NotebookPanel;
  cell: Cell;
}

/** Where files can be dropped. */
export interface Place {
  node: HTMLElement;
  /** What lights up while files are above it; null where none are taken. */
  lit(target: EventTarget | null): HTMLElement | null;
  /** What they are for once they are dropped there. */
  taken(target: EventTarget | null): Target | null;
}

/** Find the chat cell of a notebook that something stands in. */
function chatCell(notebook: NotebookPanel, target: EventTarget | null): Cell | null {
  const cell = notebook.content.widgets.find(each => each.node.contains(target as Node | null));
  return cell && isChatCell(cell) ? cell : null;
}

function isChatCell(cell: Cell): boolean {
  return cell.model.type === 'code' && isChat(cell.model.sharedModel.getSource());
}

/** The cells of a notebook. */
function cellsOf(notebook: NotebookPanel): Place {
  return {
    node: notebook.content.node,
    lit: target => chatCell(notebook, target)?.node ?? null,
    taken: target => {
      const cell = chatCell(notebook, target);
      return cell && { notebook, cell };
    }
  };
}

/** A panel beside the notebooks: the current chat cell of the current one, or a new one below. */
export function besides(node: HTMLElement, tracker: INotebookTracker): Place {
  return {
    node,
    lit: () => (tracker.currentWidget ? node : null),
    taken: () => {
      const notebook = tracker.currentWidget;
      const active = notebook?.content.activeCell;
      if (!notebook || !active) {
        return null;
      }
      if (isChatCell(active)) {
        return { notebook, cell: active };
      }
      NotebookActions.insertBelow(notebook.content);
      const cell = notebook.content.activeCell as Cell;
      cell.model.sharedModel.setSource('%%chat\n');
      return { notebook, cell };
    }
  };
}

export class Dropping {
  private over: HTMLElement | null = null;

  constructor(
    private readonly place: Place,
    private readonly contents: Contents.IManager,
    private readonly trans: TranslationBundle
  ) {
    // Before the editor, which would put the text of a file into the cell.
    for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
      place.node.addEventListener(kind, this, true);
      place.node.addEventListener(`lm-${kind}`, this, true);
    }
  }

  handleEvent(event: Event): void {
    const drag = event as LabDrag & DragEvent;
    const own = event.type.startsWith('lm-');
    if (own ? !drag.mimeData.hasData(CONTENTS) : !drag.dataTransfer?.types.includes('Files')) {
      return;
    }
    if (event.type.endsWith('dragleave')) {
      const to = drag.relatedTarget as Node | null;
      this.mark(this.place.node.contains(to) ? this.place.lit(to) : null);
      return;
    }
    const lit = this.place.lit(event.target);
    this.mark(event.type.endsWith('drop') ? null : lit);
    if (!lit) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (own) {
      drag.dropAction = drag.proposedAction;
    } else if (drag.dataTransfer) {
      drag.dataTransfer.dropEffect = 'copy';
    }
    const to = event.type.endsWith('drop') ? this.place.taken(event.target) : null;
    if (!to) {
      return;
    }
    if (own) {
      this.attach(to, drag.mimeData.getData(CONTENTS) as string[]);
    } else {
      this.bring(to, [...(drag.dataTransfer?.files ?? [])]).catch(error =>
        showErrorMessage(this.trans.__('The file was not attached'), error)
      );
    }
  }

  private mark(node: HTMLElement | null): void {
    if (this.over !== node) {
      this.over?.classList.remove(OVER);
      node?.classList.add(OVER);
      this.over = node;
    }
  }

  /** Write paths of JupyterLab into the first line of a cell. */
  private attach({ notebook, cell }: Target, paths: readonly string[]): void {
    const drive = this.contents.driveName(notebook.context.path);
    const path = this.contents.localPath(notebook.context.path);
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
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

  /** Upload files of the desktop that somebody says yes to, and attach them. */
  private async bring(to: Target, files: readonly File[]): Promise<void> {
    const path = to.notebook.context.path;
    const folder = path.slice(0, Math.max(path.lastIndexOf('/') + 1, path.indexOf(':') + 1));
    for (const file of files) {
      const name = await this.ask(folder, file.name);
      if (name) {
        await upload(this.contents, file, folder + name);
        this.attach(to, [folder + name]);
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
    const follow = (notebook: NotebookPanel) => new Dropping(cellsOf(notebook), contents, trans);
    tracker.widgetAdded.connect((_tracker, notebook) => follow(notebook));
    tracker.forEach(follow);
  }
};
