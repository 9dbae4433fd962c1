/** Where on a page an output stands: its notebook, its cell, and its place in the cell's model. */
import { type CodeCell } from '@jupyterlab/cells';
import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { MultilineString } from '@jupyterlab/nbformat';
import { cellFor } from './cellFor';
import { TURN } from './kernelLine';
import type { PageBundle } from './protocol';

export interface Spot {
  panel: NotebookPanel;
  cell: CodeCell;
  /** The cell's place in the notebook, and the output's in the cell. */
  number: number;
  output: number;
}

/** Find where a node stands; null where it is in no notebook, as in a view of one output. */
export function spotOf(tracker: INotebookTracker, node: Node): Spot | null {
  const panel = tracker.find(each => each.content.node.contains(node));
  const number = panel?.content.widgets.findIndex(each => each.node.contains(node)) ?? -1;
  const cell = panel?.content.widgets[number] as CodeCell | undefined;
  if (!panel || cell?.model.type !== 'code') {
    return null;
  }
  const output = cell.outputArea.widgets.findIndex(each => each.node.contains(node));
  return output < 0 ? null : { panel, cell, number, output };
}

/** Replace an output's bundle in the notebook's model, from where it is saved as any other. */
export function put(cell: CodeCell, output: number, bundle: PageBundle): void {
  const outputs = cell.model.outputs;
  const before = output < outputs.length ? outputs.get(output).toJSON() : null;
  const data = bundle as Record<string, MultilineString>;
  if (before) {
    outputs.set(output, { ...before, data } as never);
  } else {
    outputs.add({ output_type: 'display_data', data, metadata: {} });
  }
}

/** Find the outputs of a cell that show a turn, by what is asked of its JSON form. */
export function turnsIn(
  cell: CodeCell,
  wanted: (turn: Record<string, unknown>) => boolean
): number[] {
  const { outputs } = cell.model;
  return Array.from({ length: outputs.length }, (_none, n) => n).filter(n => {
    const turn = outputs.get(n).data[TURN];
    return typeof turn === 'object' && turn !== null && wanted(turn as Record<string, unknown>);
  });
}

/** Put a code block into a new cell below; it is not run. */
export function insertBelow(spot: Spot, code: string, language: string): void {
  const { content } = spot.panel;
  const [kind, source] = cellFor(code.replace(/\n$/, ''), language);
  content.deselectAll();
  content.activeCellIndex = spot.number;
  NotebookActions.insertBelow(content);
  NotebookActions.changeCellType(content, kind);
  content.activeCell?.model.sharedModel.setSource(source);
}
