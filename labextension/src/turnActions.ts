/** The buttons under a turn: which version, once more, go on, change, pin. */
import { button, element } from './elements';
import { type Insert } from './codeTools';
import type { PageState } from './protocol';
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

/** Say where the answer is for the next turn. */
function memory(view: TurnView, state: PageState): HTMLElement {
  const { trans } = view;
  const words: Record<PageState['memory'], string> = {
    context: trans.__('in the context'),
    summary: trans.__('in a summary'),
    dropped: trans.__('not sent any more'),
    branch: trans.__('on another branch'),
    left: trans.__('built on a branch that is no longer shown')
  };
  const told = state.pinned ? trans.__('pinned') : words[state.memory];
  const made = element('span', 'jan-Turn-memory', told);
  made.dataset.memory = state.memory;
  made.toggleAttribute('data-told', String(view.shown?.footer ?? '').includes(told));
  return made;
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

/** Make the row; empty where nothing can be done. */
export function actionRow(view: TurnView, actions: Actions): HTMLElement {
  const { trans, state } = view;
  const row = element('div', 'jan-Turn-actions');
  if (!state) {
    return row;
  }
  row.append(memory(view, state));
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
  return row;
}
