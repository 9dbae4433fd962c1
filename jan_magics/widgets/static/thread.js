// A thread to read and to go on in. The kernel renders Markdown; here it is checked once more.

const CHINESE = {
  Thread: '对话',
  'a new thread': '新对话',
  'waiting for the kernel': '正在等待内核',
  'nothing said yet': '还没有对话',
  'Clear context': '清空上下文',
  Restore: '恢复',
  Compact: '压缩',
  'Undo compact': '撤销压缩',
  'compacting…': '正在压缩…',
  'answering…': '正在回答…',
  'This waits for the end of what goes on.': '要等正在进行的操作结束。',
  Stop: '停止',
  Send: '发送',
  'Ask: Enter sends, Shift+Enter begins a line': '提问：回车发送，Shift+回车换行',
  You: '你',
  System: '系统',
  Retry: '重试',
  'Go on': '继续',
  'The model wants to run {name}': '模型想要运行 {name}',
  'A turn needs the MCP server {name}': '这一轮需要 MCP 服务器 {name}',
  'Run once': '运行一次',
  'Always in this kernel': '在此内核中始终允许',
  "Don't run": '不运行',
  Start: '启动',
  "Don't start": '不启动',
  Edit: '编辑',
  Save: '保存',
  Cancel: '取消',
  Copy: '复制',
  copied: '已复制',
  'Version before': '上一个版本',
  'Next version': '下一个版本',
  Reasoning: '推理过程',
  Sources: '来源',
  'called {line}': '调用 {line}',
  'file: {name}': '文件：{name}',
  'context cleared · {n} messages': '上下文已清空 · {n} 条消息',
  'summary of {n} messages': '{n} 条消息的摘要',
  'in the summary · {n} messages': '摘要之中 · {n} 条消息',
  'the messages themselves': '原始消息',
  '{n} more': '还有 {n} 条',
  '{n} earlier': '之前还有 {n} 条',
  'the answer is there': '回答完成',
  stopped: '已停止',
  'Edited text': '编辑内容'
};
const TAGS = new Set(
  ('P H1 H2 H3 H4 H5 H6 UL OL LI BLOCKQUOTE PRE CODE EM STRONG S A BR HR TABLE THEAD TBODY TR TH TD ' +
    'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover ' +
    'mmultiscripts mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose mfenced').split(' ')
);
// Each attribute with what its value may be.
const PLAIN =
  /^(title|rel|target|class|start|display|displaystyle|scriptlevel|mathvariant|stretchy|fence|form|separators?|[lr]space|m(in|ax)size|linethickness|accent(under)?|column(align|spacing)|rowspacing|notation|movablelimits|symmetric|largeop|width|height|depth|open|close)$/;
const ADDRESS = /^(https?:\/\/|mailto:)/i;
const ALIGNED = /^text-align:\s*(left|center|right);?$/;

/** Make nodes of the kernel's HTML. It has passed a list of tags there; what is not on it goes. */
function nodesOf(html) {
  const inert = new DOMParser().parseFromString(html, 'text/html').body;
  for (const node of [...inert.querySelectorAll('*')]) {
    if (!TAGS.has(node.tagName)) {
      node.replaceWith(document.createTextNode(node.textContent));
      continue;
    }
    for (const { name, value } of [...node.attributes]) {
      const known =
        PLAIN.test(name) ||
        (name === 'href' && node.tagName === 'A' && ADDRESS.test(value)) ||
        (name === 'style' && ALIGNED.test(value));
      if (!known) {
        node.removeAttribute(name);
      }
    }
  }
  return [...inert.childNodes];
}

function render({ model, el }) {
  const t = tongue(model, CHINESE);
  const framed = frame(el, t('Thread'));
  let state = null;
  let from = 0;
  let asked = null; // what was asked for and has not come: rows, a text
  // An edit that the kernel has not taken in yet.
  let saving = null;
  const drawn = new Map(); // of each row its JSON and its node

  const title = make('span', { class: 'jan-title', dir: 'auto' });
  const who = make('span', { class: 'jan-quiet' });
  const log = make('div', { class: 'jan-log', tabindex: 0, role: 'group', 'aria-label': t('Thread') });
  const status = make('span', { class: 'jan-quiet', role: 'status' });
  const input = make('textarea', {
    rows: 2,
    dir: 'auto',
    'aria-label': t('Ask: Enter sends, Shift+Enter begins a line'),
    placeholder: t('Ask: Enter sends, Shift+Enter begins a line')
  });
  const press = (words, click, about = {}) => make('button', { type: 'button', click, ...about }, t(words));
  const act = kind => () => connected.say({ kind });
  const buttons = {
    clear: press('Clear context', act('clear')),
    restore: press('Restore', act('restore')),
    compact: press('Compact', act('compact')),
    uncompact: press('Undo compact', act('uncompact'))
  };
  const send = press('Send', submit);
  const stop = press('Stop', act('stop'), { class: 'jan-stop' });
  framed.body.append(make('div', { class: 'jan-quiet' }, t('waiting for the kernel')));

  function submit() {
    if (input.value.trim() && !state.busy) {
      connected.say({ kind: 'send', text: input.value });
      input.value = '';
    }
  }
  input.addEventListener('keydown', event => {
    // Enter also ends the choice of a Chinese word: then nothing is sent.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });

  /** Give every code block a button that copies it. */
  function dress(node) {
    for (const pre of node.querySelectorAll('pre')) {
      const button = press('Copy', () => copy(pre.textContent, button), { class: 'jan-copy' });
      const box = make('div', { class: 'jan-code' });
      pre.replaceWith(box);
      pre.tabIndex = 0;
      box.append(pre, button);
    }
    return node;
  }

  function copy(text, button) {
    const done = () => {
      button.textContent = t('copied');
      setTimeout(() => (button.textContent = t('Copy')), 1500);
    };
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(done, () => {});
    }
  }

  const prose = html => dress(make('div', { class: 'jan-prose', dir: 'auto' }, nodesOf(html)));
  const folded = (words, ...content) =>
    make('details', { class: 'jan-fold' }, make('summary', {}, words), ...content);

  function messageNode(row) {
    const body = make('div', {});
    if (row.reasoning) {
      body.append(folded(t('Reasoning'), make('div', { class: 'jan-reasoning', dir: 'auto' }, row.reasoning)));
    }
    body.append(prose(row.html));
    for (const call of row.calls) {
      const line = call.line.replace(/^called /, '');
      body.append(folded(t('called {line}', { line }), make('pre', { dir: 'auto', tabindex: 0 }, call.whole)));
    }
    if (row.sources.length) {
      const items = row.sources.map(({ n, said }) => make('li', { value: n, tabindex: -1, dir: 'auto' }, said));
      const sources = folded(t('Sources'), make('ol', {}, items));
      sources.classList.add('jan-sources');
      body.append(sources);
      for (const mark of body.querySelectorAll('a.jan-cite')) {
        const item = items.find(each => each.value === Number(mark.title));
        mark.href = '#';
        mark.title = item?.textContent ?? '';
        mark.addEventListener('click', event => {
          event.preventDefault();
          sources.open = true;
          item?.focus();
        });
      }
    }
    for (const name of row.files) {
      body.append(make('div', { class: 'jan-quiet' }, t('file: {name}', { name })));
    }
    const tools = make('span', { class: 'jan-tools' });
    const step = (words, sign, by, ends) =>
      make(
        'button',
        {
          type: 'button',
          class: 'jan-bare',
          'aria-label': t(words),
          'data-idle': ends ? 'end' : 'more',
          disabled: ends,
          click: () => connected.say({ kind: 'version', message: row.message, step: by })
        },
        sign
      );
    if (row.versions > 1) {
      tools.append(
        step('Version before', '‹', -1, row.version === 1),
        make('span', { class: 'jan-number' }, `${row.version}/${row.versions}`),
        step('Next version', '›', 1, row.version === row.versions)
      );
    }
    const change = (words, click) => press(words, click, { class: 'jan-bare', 'data-idle': 'more' });
    if (row.cut) {
      tools.append(change('Go on', () => connected.say({ kind: 'resume', message: row.message })));
    }
    if (row.role === 'assistant') {
      tools.append(change('Retry', () => connected.say({ kind: 'retry', message: row.message })));
    }
    const want = use => () => {
      asked = { message: row.message, use };
      connected.say({ kind: 'source', message: row.message });
    };
    tools.append(change('Edit', want(edit)));
    const copyButton = press('Copy', want(text => copy(text, copyButton)), { class: 'jan-bare' });
    tools.append(copyButton);

    function edit(text) {
      const area = make('textarea', { rows: 4, dir: 'auto', 'aria-label': t('Edited text') });
      area.value = text;
      const end = () => {
        editor.replaceWith(body);
        tools.hidden = false;
      };
      const save = () => {
        connected.say({ kind: 'edit', message: row.message, text: area.value });
        area.readOnly = true;
        saving = { end, refused: () => (area.readOnly = false) };
      };
      const editor = make('div', {}, area, make('div', { class: 'jan-bar-row' }, press('Save', save), press('Cancel', end)));
      area.addEventListener('keydown', event => {
        if (event.key === 'Escape') {
          end();
        } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          save();
        }
      });
      body.replaceWith(editor);
      tools.hidden = true;
      area.focus();
    }
    return make(
      'article',
      { class: `jan-message jan-from-${row.role}${row.sent ? '' : ' jan-unsent'}`, 'data-message': row.message },
      make('div', { class: 'jan-message-head' }, make('span', { class: 'jan-title' }, t(row.who)), tools),
      body
    );
  }

  function foldNode(row) {
    const words = {
      cleared: 'context cleared · {n} messages',
      summary: 'summary of {n} messages',
      covered: 'in the summary · {n} messages'
    }[row.what];
    const inner = make('div', {});
    const label = t(words, { n: row.count });
    const details = folded(row.html ? t('the messages themselves') : label, inner);
    details.dataset.fold = row.message;
    details.addEventListener('toggle', () => {
      if (details.open && !inner.childNodes.length) {
        connected.say({ kind: 'open', message: row.message, from: 0 });
      }
    });
    if (!row.html) {
      return make('div', { class: 'jan-cleared' }, details);
    }
    return make('section', { class: 'jan-card' }, make('div', { class: 'jan-title' }, label), prose(row.html), details);
  }

  /** Return the node of a row: the same as before where nothing has changed, so that it stays open. */
  function nodeOf(row) {
    const text = JSON.stringify(row);
    const known = drawn.get(row.message);
    if (known?.text === text) {
      return known.node;
    }
    const node = row.row === 'fold' ? foldNode(row) : messageNode(row);
    drawn.set(row.message, { text, node });
    return node;
  }

  const before = press('', earlier, { class: 'jan-earlier' });
  const list = make('div', {});
  const question = make('article', { class: 'jan-message jan-from-user', hidden: true });
  const settled = make('div', { class: 'jan-prose', dir: 'auto' });
  const tail = make('div', { class: 'jan-prose', dir: 'auto' });
  const note = make('div', { class: 'jan-quiet' });
  const growing = make('article', { class: 'jan-message jan-from-assistant jan-growing', hidden: true }, settled, tail, note);
  log.append(before, list, question, growing);
  log.addEventListener('scroll', () => {
    if (log.scrollTop < 30 && from > 0) {
      earlier();
    }
  });

  function earlier() {
    if (!asked?.rows) {
      asked = { rows: true };
      connected.say({ kind: 'earlier', before: from }, true);
    }
  }

  /** Keep to the end where the reader is there. */
  function sticking(change) {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    change();
    if (atEnd) {
      log.scrollTop = log.scrollHeight;
    }
  }

  function showEarlier() {
    before.hidden = from === 0;
    before.textContent = t('{n} earlier', { n: from });
  }

  function show(message) {
    const wasBusy = state?.busy;
    state = message;
    const fresh = message.rows.map(nodeOf);
    // What was read before stays, where it is still what stands above.
    const at = [...list.children].indexOf(fresh[0]);
    const kept = at > 0 && from + at === message.from ? [...list.children].slice(0, at) : [];
    from = message.from - kept.length;
    list.replaceChildren(...kept, ...fresh);
    showEarlier();
    title.textContent = message.title || t('a new thread');
    who.textContent = message.model;
    const busy = message.busy;
    question.hidden = !busy?.prompt;
    question.replaceChildren(make('span', { class: 'jan-title' }, t('You')), make('div', { class: 'jan-plain', dir: 'auto' }, busy?.prompt ?? ''));
    growing.hidden = !busy;
    if (!busy || !wasBusy) {
      settled.replaceChildren();
      tail.replaceChildren();
      note.textContent = '';
    }
    for (const [name, button] of Object.entries(buttons)) {
      button.disabled = Boolean(busy) || !message.can[name];
      button.title = busy ? t('This waits for the end of what goes on.') : '';
    }
    for (const tool of list.querySelectorAll('[data-idle]')) {
      tool.disabled = Boolean(busy) || tool.dataset.idle === 'end';
      tool.title = busy ? t('This waits for the end of what goes on.') : '';
    }
    buttons.compact.textContent = t(busy?.what === 'compacting' ? 'compacting…' : 'Compact');
    send.disabled = Boolean(busy);
    stop.hidden = !busy?.stop; // where a cell waits for it, a click would come too late
    status.textContent = busy
      ? t(busy.what === 'compacting' ? 'compacting…' : 'answering…')
      : wasBusy?.what === 'answering'
        ? t(message.rows.at(-1)?.cut ? 'stopped' : 'the answer is there')
        : message.total
          ? ''
          : t('nothing said yet');
  }

  function grow(message) {
    if (message.fresh) {
      settled.replaceChildren();
    }
    if (message.settled) {
      settled.append(...prose(message.settled).childNodes);
    }
    note.textContent = message.note;
    const code = tail.querySelector('code.jan-tail');
    if (message.how === 'add') {
      (code ?? tail).append(message.tail);
    } else if (message.how === 'html') {
      tail.replaceChildren(...nodesOf(message.tail));
    } else if (message.how === 'code') {
      tail.replaceChildren(make('pre', {}, make('code', { class: 'jan-tail' }, message.tail)));
    } else {
      tail.replaceChildren(message.tail);
    }
    tail.classList.toggle('jan-plain', message.how === 'text' || (message.how === 'add' && !code));
  }

  const asking = make('div', {});

  /** Put a question there. Nothing takes the focus: whoever types meanwhile must not say yes by it. */
  function ask({ what, name, shown, token, digest }) {
    const call = what === 'call';
    const words = t(call ? 'The model wants to run {name}' : 'A turn needs the MCP server {name}', { name });
    const say = verdict => () => {
      connected.say({ kind: 'verdict', token, digest, verdict });
      asking.replaceChildren();
    };
    const box = make(
      'div',
      { class: 'jan-alert jan-ask', role: 'group', 'aria-label': words, 'data-token': token },
      make('div', { role: 'alert' }, words),
      make('pre', { dir: 'auto', tabindex: 0 }, shown),
      make(
        'div',
        { class: 'jan-bar-row' },
        press(call ? 'Run once' : 'Start', say('yes')),
        call ? press('Always in this kernel', say('always')) : null,
        press(call ? "Don't run" : "Don't start", say('no'))
      )
    );
    box.addEventListener('keydown', event => event.key === 'Escape' && say('no')());
    asking.replaceChildren(box);
  }

  function opened(message) {
    const details = list.querySelector(`[data-fold="${CSS.escape(message.message)}"]`);
    const inner = details?.lastElementChild;
    if (!inner) {
      return;
    }
    inner.querySelector('.jan-earlier')?.remove();
    inner.append(...message.rows.map(messageNode));
    const left = message.total - message.from - message.rows.length;
    if (left > 0) {
      const next = message.from + message.rows.length;
      const click = () => connected.say({ kind: 'open', message: message.message, from: next });
      inner.append(make('button', { type: 'button', class: 'jan-earlier', click }, t('{n} more', { n: left })));
    }
  }

  function take(message) {
    if (message.kind === 'failed') {
      asked = null;
      saving?.refused(); // the words stay where they were typed
      saving = null;
    } else if (message.kind === 'thread') {
      const first = state === null;
      saving?.end();
      saving = null;
      sticking(() => show(message));
      if (first) {
        const head = make('div', { class: 'jan-bar-row' }, title, who);
        const context = make('div', { class: 'jan-bar-row jan-context' }, ...Object.values(buttons));
        framed.body.replaceChildren(head, context, log, asking, input, make('div', { class: 'jan-bar-row jan-foot' }, send, stop, status));
        log.scrollTop = log.scrollHeight;
      }
    } else if (message.kind === 'delta') {
      sticking(() => grow(message));
    } else if (message.kind === 'earlier' && message.from < from) {
      const height = log.scrollHeight;
      list.prepend(...message.rows.map(nodeOf));
      from = message.from;
      asked = null;
      showEarlier();
      log.scrollTop += log.scrollHeight - height;
    } else if (message.kind === 'asking') {
      ask(message);
    } else if (message.kind === 'asked') {
      asking.querySelector(`[data-token="${CSS.escape(message.token)}"]`)?.remove();
    } else if (message.kind === 'opened') {
      opened(message);
    } else if (message.kind === 'source' && asked?.message === message.message) {
      asked.use(message.text);
      asked = null;
    }
  }

  const connected = connect(model, framed, take);
  return connected.end;
}

export default { render };
