/**
 * Tool calls that wait for a yes: a question below the running cell, with buttons. It is no output:
 * nothing of it is saved. Answers go over a comm that this page opens and the kernel never speaks
 * on, so that they arrive while the cell runs.
 */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { type Cell, type CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { type Kernel, type KernelMessage } from '@jupyterlab/services';
import { type Asked, type Verdict, questionBox } from './questionBox';

const HELLO = 'jan-magics.hello';
const ANSWER = 'jan-magics.ctl';
const ASK = 'jan-magics.ask';

/** The way back to one kernel; a restart ends it, and the new kernel says hello again. */
class AnswerLine {
  private comm: Kernel.IComm | null = null;

  constructor(private readonly kernel: Kernel.IKernelConnection) {
    kernel.statusChanged.connect((_kernel, status) => {
      if (status === 'restarting' || status === 'autorestarting') {
        this.comm = null;
      }
    });
  }

  open(): Kernel.IComm {
    if (!this.comm || this.comm.isDisposed) {
      const comm = this.kernel.createComm(ANSWER);
      comm.onClose = () => {
        this.comm = null;
      };
      comm.open();
      this.comm = comm;
    }
    return this.comm;
  }

  /** Say that a question is on screen, or what somebody says to it. */
  send(asked: Asked, verdict?: Verdict): void {
    const { token, digest } = asked;
    this.open().send(verdict ? { token, digest, verdict } : { token, digest });
  }
}

/** Find the cell whose execution a message belongs to, else the one that is looked at. */
function cellOf(panel: NotebookPanel, parent: string | undefined): Cell | null {
  const running = panel.content.widgets.find(
    cell =>
      cell.model.type === 'code' &&
      (cell as CodeCell).outputArea.future?.msg.header.msg_id === parent
  );
  return running ?? panel.content.activeCell;
}

function show(
  panel: NotebookPanel,
  line: AnswerLine,
  comm: Kernel.IComm,
  message: KernelMessage.ICommOpenMsg
): void {
  const asked = message.content.data as unknown as Asked;
  const parent = (message.parent_header as Partial<KernelMessage.IHeader>).msg_id;
  const box = questionBox(asked, verdict => line.send(asked, verdict));
  comm.onClose = () => {
    const focused = box.contains(document.activeElement);
    box.remove();
    if (focused) {
      panel.content.activate();
    }
  };
  (cellOf(panel, parent)?.node ?? panel.content.node).append(box);
  box.scrollIntoView({ block: 'nearest' });
  line.send(asked);
}

/** Listen to one kernel; one that has said hello before, to a page that is gone, is asked. */
async function listen(panel: NotebookPanel, kernel: Kernel.IKernelConnection): Promise<void> {
  const line = new AnswerLine(kernel);
  kernel.registerCommTarget(HELLO, () => {
    line.open();
  });
  kernel.registerCommTarget(ASK, (comm, message) => show(panel, line, comm, message));
  await kernel.info;
  const found = await kernel.requestCommInfo({ target_name: HELLO });
  if (found.content.status === 'ok' && Object.keys(found.content.comms).length > 0) {
    line.open();
  }
}

function follow(panel: NotebookPanel, known: WeakSet<Kernel.IKernelConnection>): void {
  const attach = () => {
    const kernel = panel.sessionContext.session?.kernel;
    if (kernel && !known.has(kernel)) {
      known.add(kernel);
      // A kernel that ends before it answers has nothing to ask.
      listen(panel, kernel).catch(() => known.delete(kernel));
    }
  };
  panel.sessionContext.kernelChanged.connect(attach);
  attach();
}

export const approvalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:approval',
  description: 'Asks whether a tool that a model calls may run.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app, tracker: INotebookTracker) => {
    const known = new WeakSet<Kernel.IKernelConnection>();
    tracker.widgetAdded.connect((_tracker, panel) => follow(panel, known));
    tracker.forEach(panel => follow(panel, known));
  }
};
