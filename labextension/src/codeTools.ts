/** Buttons at the code blocks of an answer: copy, and insert as a cell below. */
import { Clipboard } from '@jupyterlab/apputils';
import { type TranslationBundle } from '@jupyterlab/translation';
import { button, element } from './elements';

export type Insert = (code: string, language: string) => void;

/** Milliseconds that a button says what it did. */
const DONE = 1500;

/** The language that a fence named, as JupyterLab's renderer notes it. */
export function languageOf(code: Element): string {
  const named = [...code.classList].find(name => name.startsWith('language-'));
  return named?.slice('language-'.length) ?? '';
}

function saysDone(pressed: HTMLButtonElement, done: string): void {
  const before = pressed.textContent;
  pressed.textContent = done;
  setTimeout(() => {
    pressed.textContent = before;
  }, DONE);
}

/** Give every code block its buttons; `insert` is missing where there is no notebook. */
export function addCodeTools(body: Element, trans: TranslationBundle, insert?: Insert): void {
  for (const block of body.querySelectorAll('pre')) {
    const code = block.querySelector('code') ?? block;
    const text = code.textContent ?? '';
    if (!text.trim() || block.closest('.jan-Code')) {
      continue;
    }
    const tools = element('div', 'jan-Code-tools');
    tools.dataset.lmSuppressShortcuts = 'true';
    const copy = button(trans.__('Copy'), () => {
      Clipboard.copyToSystem(text);
      saysDone(copy, trans.__('Copied'));
    });
    tools.append(copy);
    if (insert) {
      tools.append(button(trans.__('Insert below'), () => insert(text, languageOf(code))));
    }
    const frame = element('div', 'jan-Code');
    block.replaceWith(frame);
    // Wide blocks are scrolled, by keyboard too.
    block.tabIndex = 0;
    frame.append(block, tools);
  }
}
