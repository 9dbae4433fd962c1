/** The magic line: what makes a cell a chat cell, and how that line looks. */
import { type Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate
} from '@codemirror/view';

/** `%%chat` or `%%jan` as a whole word on the first line; `%%chat?` asks for help and is Python. */
const MAGIC = /^%%(?:chat|jan)(?=\s|$)/;

/** Tell whether a text, a cell's source or its first line, starts with our magic. */
export function isChat(text: string): boolean {
  return MAGIC.test(text);
}

const mark = Decoration.line({ class: 'jan-MagicLine' });

function decorate(view: EditorView): DecorationSet {
  const first = view.state.doc.line(1);
  return isChat(first.text) ? Decoration.set(mark.range(first.from)) : Decoration.none;
}

/** Give the magic line its class, so that the style sheet can set it apart from the prompt. */
export const magicLine: Extension = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }

    update(update: ViewUpdate): void {
      if (update.docChanged) {
        this.decorations = decorate(update.view);
      }
    }
  },
  { decorations: plugin => plugin.decorations }
);
