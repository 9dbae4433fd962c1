// A thread's tree. Up and Down walk, Left leads out of a version, Enter goes there.

const CHINESE = {
  Branches: '分支',
  'Arrows walk, Enter goes to a branch': '方向键移动，回车切换分支',
  'The path leads through {id} now': '当前路径经过 {id}',
  'end of the active path': '当前路径的末端',
  'waiting for the kernel': '正在等待内核',
  'nothing said yet': '还没有对话'
};

function render({ model, el }) {
  const t = tongue(model, CHINESE);
  const framed = frame(el, t('Branches'));
  const title = make('div', { class: 'jan-title', dir: 'auto' });
  const hint = make('div', { class: 'jan-quiet' }, t('Arrows walk, Enter goes to a branch'));
  const tree = make('div', { class: 'jan-tree', role: 'tree', 'aria-multiselectable': 'true', 'aria-label': t('Branches') });
  const status = make('div', { class: 'jan-quiet', role: 'status' });
  framed.body.append(make('div', { class: 'jan-quiet' }, t('waiting for the kernel')));
  let items = [];
  let rows = [];
  let at = 0;
  let wanted = null;

  /** Let one row be the one that Tab reaches. */
  function put(n, focus) {
    items[at]?.setAttribute('tabindex', '-1');
    at = Math.min(Math.max(0, n), items.length - 1);
    items[at]?.setAttribute('tabindex', '0');
    if (focus) {
      items[at]?.focus();
    }
  }

  function choose(n) {
    wanted = rows[n].id;
    connected.say({ kind: 'go', message: wanted });
  }

  /** Find the line that the versions around row n branch off from. */
  function outer(n) {
    let line = n;
    while (line > 0 && rows[line].depth >= rows[n].depth) {
      line -= 1;
    }
    return line;
  }

  tree.addEventListener('keydown', event => {
    const moves = {
      ArrowDown: () => put(at + 1, true),
      ArrowUp: () => put(at - 1, true),
      ArrowLeft: () => put(outer(at), true),
      ArrowRight: () => put(rows[at + 1]?.depth > rows[at].depth ? at + 1 : at, true),
      Home: () => put(0, true),
      End: () => put(items.length - 1, true),
      Enter: () => choose(at),
      ' ': () => choose(at)
    };
    const move = moves[event.key];
    if (move && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      move();
    }
  });

  function item(row, n, head) {
    return make(
      'div',
      {
        class: `jan-node${row.active ? ' jan-active' : ''}`,
        role: 'treeitem',
        tabindex: -1,
        'aria-level': row.depth + 1,
        'aria-selected': String(row.active),
        'aria-current': n === head ? 'true' : null,
        title: n === head ? t('end of the active path') : null,
        style: `padding-left: ${8 + Math.min(row.depth, 12) * 22}px`,
        click: () => {
          put(n, true);
          choose(n);
        }
      },
      make('span', { class: 'jan-dot', 'aria-hidden': 'true' }),
      make('code', {}, row.id),
      make('span', { class: 'jan-who' }, `${row.who}${row.version}`),
      make('span', { class: 'jan-words', dir: 'auto' }, row.text)
    );
  }

  function take(message) {
    if (message.kind === 'failed') {
      wanted = null;
    }
    if (message.kind !== 'tree') {
      return;
    }
    const focused = tree.contains(document.activeElement);
    const kept = wanted ?? (focused ? rows[at]?.id : null);
    rows = message.rows;
    const head = rows.reduce((last, row, n) => (row.active ? n : last), -1);
    items = rows.map((row, n) => item(row, n, head));
    title.textContent = message.title;
    tree.replaceChildren(...items);
    tree.hidden = !rows.length;
    framed.body.replaceChildren(title, ...(rows.length ? [hint, tree, status] : []));
    at = 0;
    const found = rows.findIndex(row => row.id === kept);
    put(found < 0 ? head : found, focused);
    // Only inside of the box: the notebook itself stays where it is.
    const shown = items[at];
    if (shown) {
      tree.scrollTop = shown.offsetTop - tree.clientHeight / 2;
    }
    if (wanted) {
      status.textContent = t('The path leads through {id} now', { id: wanted });
      wanted = null;
    }
  }

  const connected = connect(model, framed, take);
  return connected.end;
}

export default { render };
