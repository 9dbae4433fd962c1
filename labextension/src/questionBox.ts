/** The box with a question and its buttons. It knows no kernel. */

export type Verdict = 'yes' | 'always' | 'no';

/** What a kernel asks; token and digest are what an answer has to carry. */
export interface Asked {
  kind: 'call' | 'start';
  name: string;
  shown: string;
  token: string;
  digest: string;
}

const CHOICES: Record<Asked['kind'], [Verdict, string, string][]> = {
  call: [
    ['yes', 'Run once', 'jp-mod-accept'],
    ['always', 'Always in this kernel', ''],
    ['no', "Don't run", 'jp-mod-reject']
  ],
  start: [
    ['yes', 'Start', 'jp-mod-accept'],
    ['no', "Don't start", 'jp-mod-reject']
  ]
};
const WORDS: Record<Asked['kind'], string> = {
  call: 'The model wants to run ',
  start: 'A turn needs the MCP server '
};

function element(tag: string, className: string, text = ''): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  // As text: what is shown was written by a model.
  made.textContent = text;
  return made;
}

/**
 * Make a box; `answer` is called once. Nothing takes the focus: whoever types meanwhile must not
 * say yes by it. Tab reaches the buttons, Escape inside the box is a no.
 */
export function questionBox(asked: Asked, answer: (verdict: Verdict) => void): HTMLElement {
  const box = element('div', 'jan-Question');
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', `${WORDS[asked.kind]}${asked.name}`);
  // Else the notebook takes Enter and Space for itself.
  box.dataset.lmSuppressShortcuts = 'true';

  const question = element('div', 'jan-Question-words', WORDS[asked.kind]);
  question.setAttribute('role', 'alert');
  question.append(element('code', '', asked.name));
  const shown = element('pre', 'jan-Question-shown', asked.shown);
  shown.tabIndex = 0;
  shown.dir = 'auto';

  const row = element('div', 'jan-Question-buttons');
  const choose = (verdict: Verdict) => {
    row.querySelectorAll('button').forEach(button => {
      button.disabled = true;
    });
    answer(verdict);
  };
  for (const [verdict, label, className] of CHOICES[asked.kind]) {
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
  box.append(question, shown, row);
  return box;
}
