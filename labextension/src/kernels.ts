/** The kernels of all open notebooks, one line each. */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { type Kernel } from '@jupyterlab/services';
import { Token } from '@lumino/coreutils';
import { KernelLine } from './kernelLine';

export type Visit = (panel: NotebookPanel, line: KernelLine) => void;

/** Finds the line to a notebook's kernel; `each` visits those of today and those to come. */
export interface IKernels {
  of(panel: NotebookPanel): KernelLine | null;
  each(visit: Visit): void;
}

export const IKernels = new Token<IKernels>('jan-magics:IKernels');

class Kernels implements IKernels {
  private readonly lines = new WeakMap<Kernel.IKernelConnection, KernelLine>();
  private readonly visits: Visit[] = [];

  constructor(private readonly tracker: INotebookTracker) {
    tracker.widgetAdded.connect((_tracker, panel) => this.follow(panel));
    tracker.forEach(panel => this.follow(panel));
  }

  of(panel: NotebookPanel): KernelLine | null {
    const kernel = panel.sessionContext.session?.kernel;
    return (kernel && this.lines.get(kernel)) ?? null;
  }

  each(visit: Visit): void {
    this.visits.push(visit);
    this.tracker.forEach(panel => {
      const line = this.of(panel);
      if (line) {
        visit(panel, line);
      }
    });
  }

  private follow(panel: NotebookPanel): void {
    const attach = () => {
      const kernel = panel.sessionContext.session?.kernel;
      if (kernel && !this.lines.has(kernel)) {
        const line = new KernelLine(kernel);
        this.lines.set(kernel, line);
        this.visits.forEach(visit => visit(panel, line));
        // A kernel that ends before it answers, or speaks another language, has nothing to say.
        line.look().catch(() => undefined);
      }
    };
    panel.sessionContext.kernelChanged.connect(attach);
    attach();
  }
}

export const kernelsPlugin: JupyterFrontEndPlugin<IKernels> = {
  id: 'jan-magics:kernels',
  description: 'Keeps a line to the chat of each kernel.',
  autoStart: true,
  provides: IKernels,
  requires: [INotebookTracker],
  activate: (_app, tracker: INotebookTracker) => new Kernels(tracker)
};
