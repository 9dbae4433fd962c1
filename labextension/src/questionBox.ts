/** The box with a question and its buttons. It knows no kernel. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { block, element } from './elements';

export type Verdict = 'yes' | 'always' | 'no';

/** What a kernel asks; token and digest are what an answer has to carry. */
export interface Asked {
  kind: 'call' | 'start';
  name: string;
  shown: string;
  token: string;
  digest: string;
  /** The id of the cell that asks. */
  cell?: string;
}

type Choice = [Verdict, string, string];

function choices(kind: Asked['kind'], trans: TranslationBundle): Choice[] {
  if (kind === 'start') {
    return [
      ['yes', trans.__('Start'), 'jp-mod-accept'],
      ['no', trans.__("Don't start"), 'jp-mod-reject']
    ];
  }
  return [
    ['yes', trans.__('Run once'), 'jp-mod-accept'],
    ['always', trans.__('Always in this kernel'), ''],
    ['no', trans.__("Don't run"), 'jp-mod-reject']
  ];
}

/**
 * Make a box; `answer` is called once. Nothing takes the focus: whoever types meanwhile must not
 * say yes by it. Tab reaches the buttons, Escape inside the box is a no.
 */
export function questionBox(
  asked: Asked,
  trans: TranslationBundle,
  answer: (verdict: Verdict) => void
): HTMLElement {
  const words =
    asked.kind === 'call'
      ? trans.__('The model wants to run')
      : trans.__('A turn needs the MCP server');
  const box = element('div', 'jan-Question');
  box.setAttribute('role', 'group');
  box.tabIndex = -1;
  box.setAttribute('aria-label', `${words} ${asked.name}`);
  // Else the notebook takes Enter and Space for itself.
  box.dataset.lmSuppressShortcuts = 'true';

  const question = element('div', 'jan-Question-words', `${words} `);
  question.setAttribute('role', 'alert');
  question.append(element('code', '', asked.name));
  const row = element('div', 'jan-Question-buttons');
  const choose = (verdict: Verdict) => {
    if (box.contains(document.activeElement)) {
      box.focus(); // a button that is switched off loses the focus to nobody
    }
    row.querySelectorAll('button').forEach(button => {
      button.disabled = true;
    });
    answer(verdict);
  };
  for (const [verdict, label, className] of choices(asked.kind, trans)) {
    const button = element('button', `jp-mod-styled ${className}`, label);
    (button as HTMLButtonElement).type = 'button';
    button.addEventListener('click', () => choose(verdict), { once: true });
    row.append(button);
  }
  box.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      choose('no');
    }
    event.stopPropagation();
  });
  box.append(question, block(asked.shown), row);
  return box;
}
