/**
 * Keys that work everywhere, in our boxes and buttons too: save, and the palette. All others are kept
 * from the notebook there, which would take Enter, letters and arrows for commands of its own.
 */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

/** The attribute by which JupyterLab leaves the keys of a node alone. */
const SHIELD = 'data-lm-suppress-shortcuts';

/** Tell whether a key is for the whole page: Ctrl or Cmd with S, with Shift also C. */
export function isForThePage(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>
): boolean {
  const key = event.key.toLowerCase();
  const held = (event.ctrlKey || event.metaKey) && !event.altKey;
  return held && (key === 's' || (key === 'c' && event.shiftKey));
}

/** Let such a key through, before JupyterLab looks at it. */
function letThrough(event: KeyboardEvent): void {
  if (!isForThePage(event)) {
    return;
  }
  const shields: Element[] = [];
  for (let node = event.target as Element | null; node; node = node.parentElement) {
    if (node.hasAttribute?.(SHIELD) && /(^|\s)jan-/.test(node.className)) {
      shields.push(node);
    }
  }
  shields.forEach(node => node.removeAttribute(SHIELD));
  setTimeout(() => shields.forEach(node => node.setAttribute(SHIELD, 'true')));
}

export const shieldedKeysPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jan-magics:keys',
  description: 'Lets save and the palette be reached by their keys from turns and views.',
  autoStart: true,
  activate: () => window.addEventListener('keydown', letThrough, true)
};
