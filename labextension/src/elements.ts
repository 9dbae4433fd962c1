/** Elements of the page, made of text only: what is shown was written by models. */

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

/** Something that unfolds. */
export function folded(className: string, summary: string, ...inside: Node[]): HTMLDetailsElement {
  const made = element('details', className);
  made.append(element('summary', '', summary), ...inside);
  return made;
}
