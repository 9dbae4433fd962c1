/**
 * Tool calls that wait for a yes: a question below the running cell, with buttons. It is no output:
 * nothing of it is saved. Answers go over a comm that this page opens and the kernel never speaks
 * on, so that they arrive while the cell runs.
 */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { type Cell, type CodeCell } from '@jupyterlab/cells';
import { type NotebookPanel } from '@jupyterlab/notebook';
import { type Kernel, type KernelMessage } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { type KernelLine } from './kernelLine';
import { IKernels } from './kernels';
import { type Asked, questionBox } from './questionBox';
import { forgets } from './reaching';

const ASK = 'jan-magics.ask';

/** Find the cell that a question belongs to, else the one that runs, else the one looked at. */
function cellOf(panel: NotebookPanel, id: string, parent: string | undefined): Cell | null {
  const { widgets } = panel.content;
  const named = id && widgets.find(cell => cell.model.id === id);
  const running = widgets.find(
    cell =>
      cell.model.type === 'code' &&
      (cell as CodeCell).outputArea.future?.msg.header.msg_id === parent
  );
  return named || (running ?? panel.content.activeCell);
}

function show(
  panel: NotebookPanel,
  line: KernelLine,
  comm: Kernel.IComm,
  message: KernelMessage.ICommOpenMsg,
  translator: ITranslator
): void {
  const asked = message.content.data as unknown as Asked;
  const { token, digest } = asked;
  const parent = (message.parent_header as Partial<KernelMessage.IHeader>).msg_id;
  const trans = translator.load('jan_magics');
  const known = [...panel.node.querySelectorAll<HTMLElement>('.jan-Question')];
  if (known.some(each => each.dataset.token === token)) {
    return; // the kernel asks again, for pages that have joined since
  }
  const box = questionBox(asked, trans, verdict => line.say({ token, digest, verdict }));
  box.dataset.token = token;
  box.dataset.kernel = line.kernel.id;
  comm.onClose = () => {
    const focused = box.contains(document.activeElement);
    box.remove();
    if (focused) {
      panel.content.activate();
    }
  };
  (cellOf(panel, asked.cell ?? '', parent)?.node ?? panel.content.node).append(box);
  box.scrollIntoView({ block: 'nearest' });
  line.say({ token, digest }); // it is on screen
}

export const approvalPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:approval',
  description: 'Asks whether a tool that a model calls may run.',
  autoStart: true,
  requires: [IKernels],
  optional: [ITranslator],
  activate: (_app, kernels: IKernels, translator: ITranslator | null) => {
    kernels.each((panel, line) => {
      const drop = () =>
        panel.node
          .querySelectorAll<HTMLElement>('.jan-Question')
          .forEach(each => each.dataset.kernel === line.kernel.id && each.remove());
      line.kernel.disposed.connect(drop);
      line.kernel.statusChanged.connect((_kernel, status) => {
        if (forgets(status)) {
          drop(); // nobody is there any more who could take the answer
        }
      });
      line.kernel.registerCommTarget(ASK, (comm, message) =>
        show(panel, line, comm, message, translator ?? nullTranslator)
      );
    });
  }
};
