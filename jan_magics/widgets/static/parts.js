// What all views share. It stands before the code of each view, in one module.

/** Make an element. Strings become text: nothing that a model or a file says is ever markup. */
function make(tag, about = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (typeof value === 'function') {
      made.addEventListener(name, value);
    } else {
      made.setAttribute(name, value === true ? '' : value);
    }
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}

/** Return what says words in the reader's language; `{n}` in them is filled in. */
function tongue(model, chinese) {
  const named = model.get('language') || document.documentElement.lang || navigator.language;
  const known = (named || '').toLowerCase().startsWith('zh') ? chinese : {};
  return (words, given = {}) =>
    (known[words] ?? words).replace(/\{(\w+)\}/g, (_, name) => String(given[name] ?? ''));
}

/** Make the frame of a view: what went wrong or is waited for on top, the content below. */
function frame(el, label) {
  const alert = make('div', { class: 'jan-alert', role: 'alert', hidden: true });
  const waiting = make('div', { class: 'jan-waiting', role: 'status', hidden: true });
  const body = make('div', { class: 'jan-body' });
  // Else the notebook takes Enter, arrows and letters for itself.
  const root = make(
    'div',
    { class: 'jan-view', role: 'group', 'aria-label': label, 'data-lm-suppress-shortcuts': 'true' },
    alert,
    waiting,
    body
  );
  root.addEventListener('keydown', event => event.stopPropagation());
  el.append(root);
  return {
    root,
    body,
    wait(words) {
      waiting.hidden = !words;
      waiting.textContent = words;
    },
    fail(message) {
      alert.hidden = !message;
      alert.replaceChildren(
        ...(message ? [make('strong', {}, message.message), make('div', {}, message.next)] : [])
      );
    }
  };
}

// What is clicked while a cell runs is heard after it.
const PATIENCE = 2000;
const WAITING = 'the kernel is busy, or gone: what was asked for waits';
const WAITING_CHINESE = { [WAITING]: '内核正忙或已退出：请求正在等待' };

/** Hear the kernel, show what it has said before, and say that somebody looks. */
function connect(model, framed, take) {
  const t = tongue(model, WAITING_CHINESE);
  let timer;
  const settle = () => {
    clearTimeout(timer);
    framed.wait('');
  };
  const hear = message => {
    settle();
    if (message.kind === 'failed') {
      framed.fail(message);
    }
    take(message);
  };
  // What nobody clicked takes no failure away that is still to be read.
  const say = (message, unasked = false) => {
    if (!unasked) {
      framed.fail(null);
    }
    clearTimeout(timer);
    timer = setTimeout(() => framed.wait(t(WAITING)), PATIENCE);
    model.send(message);
  };
  model.on('msg:custom', hear);
  const first = model.get('first');
  if (first && first.kind) {
    take(first);
  }
  model.send({ kind: 'ready' });
  const end = () => {
    clearTimeout(timer);
    model.off('msg:custom', hear);
  };
  return { say, end };
}
