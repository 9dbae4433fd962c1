/** What stands under a turn, and its buttons: which version, once more, go on, change, pin. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { button, element } from './elements';
import { type Insert } from './codeTools';
import type { PageState } from './protocol';
import { saidOnce } from './saidOnce';
import { type TurnView } from './turnView';

/** What can be done here; all but `insert` only where the kernel knows the answer. */
export interface Actions {
  insert?: Insert;
  go?: (to: 'prev' | 'next') => Promise<unknown>;
  retry?: () => Promise<unknown>;
  resume?: () => Promise<unknown>;
  edit?: (text: string) => Promise<unknown>;
  pin?: (pinned: boolean) => Promise<unknown>;
}

function picker(view: TurnView, go: NonNullable<Actions['go']>): HTMLElement {
  const { trans, state } = view;
  const { version, versions } = state ?? { version: 1, versions: 1 };
  const box = element('span', 'jan-Turn-versions');
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', trans.__('Versions of this answer'));
  const previous = button(trans.__('Previous version'), () => view.attempt(() => go('prev')), '‹');
  const next = button(trans.__('Next version'), () => view.attempt(() => go('next')), '›');
  previous.disabled = version <= 1;
  next.disabled = version >= versions;
  box.append(previous, element('span', '', `${version}/${versions}`), next);
  return box;
}

/** Say where an answer is for the next turn. */
function memoryOf(state: PageState, trans: TranslationBundle): string {
  const words: Record<PageState['memory'], string> = {
    context: trans.__('in the context'),
    summary: trans.__('in a summary'),
    dropped: trans.__('not sent any more'),
    branch: trans.__('on another branch'),
    left: trans.__('built on a branch that is no longer shown')
  };
  return state.pinned ? trans.__('pinned') : words[state.memory];
}

/** A box in place of the words; Escape leaves them as they were. */
function editor(view: TurnView, edit: NonNullable<Actions['edit']>): void {
  const { trans } = view;
  const box = element('div', 'jan-Turn-editor');
  box.dataset.lmSuppressShortcuts = 'true';
  const area = element('textarea', 'jp-mod-styled');
  area.value = view.shown?.text ?? '';
  area.rows = Math.min(24, area.value.split('\n').length + 2);
  area.dir = 'auto';
  area.setAttribute('aria-label', trans.__('Text of the answer'));
  const leave = () => {
    box.remove();
    view.body.show();
    view.node.querySelector<HTMLButtonElement>('[data-action=edit]')?.focus();
  };
  const save = () => view.attempt(() => edit(area.value)).then(leave);
  box.append(area, button(trans.__('Save as a version'), save), button(trans.__('Cancel'), leave));
  box.addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'Escape') {
      leave();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      void save();
    }
  });
  view.body.node.after(box);
  view.body.hide();
  area.focus();
}

/** Make what stands under the words: the footer, and the row of what can be done. */
export function footerRow(view: TurnView, words: string, actions: Actions): HTMLElement {
  const { trans, state } = view;
  const picked = Boolean(actions.go && state && state.versions > 1);
  const memory = state ? memoryOf(state, trans) : '';
  const { footer, told } = saidOnce(words, picked, memory);
  const made = element('div', 'jan-Turn-footer');
  made.dataset.lmSuppressShortcuts = 'true';
  const row = element('div', 'jan-Turn-actions');
  if (state) {
    const mark = element('span', 'jan-Turn-memory', memory);
    // What is as usual need not be read, either: the mark beside the cell says it.
    mark.classList.toggle('jan-Turn-spoken', told || state.memory === 'context');
    row.append(mark);
    addButtons(row, view, state, actions);
  }
  made.append(element('div', 'jan-Turn-words', footer), row);
  return made;
}

function addButtons(row: HTMLElement, view: TurnView, state: PageState, actions: Actions): void {
  const { trans } = view;
  const { go, retry, resume, edit, pin } = actions;
  if (go && state.versions > 1) {
    row.append(picker(view, go));
  }
  const add = (name: string, label: string, act: () => unknown) => {
    const made = button(label, act);
    made.dataset.action = name;
    row.append(made);
    return made;
  };
  if (resume && state.cut) {
    add('resume', trans.__('Go on'), () => view.attempt(resume));
  }
  if (retry) {
    add('retry', trans.__('Retry'), () => view.attempt(retry));
  }
  if (edit) {
    add('edit', trans.__('Edit'), () => editor(view, edit));
  }
  if (pin) {
    const pressed = add('pin', trans.__('Pin'), () => view.attempt(() => pin(!state.pinned)));
    pressed.setAttribute('aria-pressed', String(state.pinned));
    pressed.title = trans.__('Pinned answers are always sent');
  }
}
