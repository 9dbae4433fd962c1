/** Elements of the page, made of text only: what is shown was written by models. */
import { type LabIcon } from '@jupyterlab/ui-components';

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text = ''
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** A quiet button; `label` is also what is read aloud where an icon stands for it. */
export function button(label: string, act: () => unknown, icon = ''): HTMLButtonElement {
  const made = element('button', 'jan-Button', icon || label);
  made.type = 'button';
  if (icon) {
    made.title = label;
    made.setAttribute('aria-label', label);
  }
  made.addEventListener('click', () => act());
  return made;
}

/** The same with one of JupyterLab's own pictures. */
export function iconButton(label: string, icon: LabIcon, act: () => unknown): HTMLButtonElement {
  const made = button(label, act);
  const picture = icon.element({ tag: 'span' });
  picture.setAttribute('aria-hidden', 'true');
  made.replaceChildren(picture);
  made.title = label;
  made.setAttribute('aria-label', label);
  return made;
}

/** Text as it is, in a box that can be scrolled by key. */
export function block(text: string): HTMLPreElement {
  const made = element('pre', 'jan-Block', text);
  made.dir = 'auto';
  made.tabIndex = 0;
  return made;
}

/** Something that unfolds. */
export function folded(className: string, summary: string, ...inside: Node[]): HTMLDetailsElement {
  const made = element('details', className);
  made.append(element('summary', '', summary), ...inside);
  return made;
}

/** The name of a file before its folders: a narrow line shows what tells it from others. */
export function fileName(source: string): [name: string, folder: string] {
  const [, folder = '', name = source] = /^(.*[/\\])([^/\\]+)$/.exec(source) ?? [];
  return [name, folder];
}
