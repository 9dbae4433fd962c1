// The context window as a bar. Numbers stand in the table; the bar is for the eye.

const CHINESE = {
  'Context budget': '上下文预算',
  'A prompt to try: nothing is sent': '试写提示词：不会发送',
  '{used} of {window} tokens are sent': '发送 {window} 个词元中的 {used} 个',
  '{used} tokens are sent, without a limit': '发送 {used} 个词元，没有上限',
  '{n} free': '剩余 {n}',
  'a warning from {n} on': '从 {n} 起提醒',
  'trimming from {n} on': '从 {n} 起裁剪',
  'compaction from {n} on': '从 {n} 起压缩',
  'refused from {n} on': '从 {n} 起拒绝',
  piece: '部分',
  tokens: '词元',
  share: '占比',
  system: '系统',
  pinned: '固定',
  summary: '摘要',
  history: '历史',
  retrieved: '检索',
  prompt: '提示词',
  tools: '工具',
  reserve: '留给回答',
  safety: '安全余量',
  free: '剩余',
  'waiting for the kernel': '正在等待内核'
};
// In the order of the bar: what is sent, what is free, what is kept back.
const ORDER = [
  ['system', '#0072b2'],
  ['tools', '#56b4e9'],
  ['pinned', '#009e73'],
  ['summary', '#cc79a7'],
  ['history', '#e69f00'],
  ['retrieved', '#b8a800'],
  ['prompt', '#d55e00'],
  ['free', ''],
  ['safety', ''],
  ['reserve', '']
];
const SENT = 7;
const WHEN = {
  warn: 'a warning from {n} on',
  trim: 'trimming from {n} on',
  compact: 'compaction from {n} on',
  error: 'refused from {n} on'
};
const PAUSE = 150;

function render({ model, el }) {
  const t = tongue(model, CHINESE);
  const framed = frame(el, t('Context budget'));
  const number = n => n.toLocaleString();
  let newest = -1;
  let timer;

  const head = make('div', {});
  const bar = make('div', { class: 'jan-stack', 'aria-hidden': 'true' });
  const marks = make('div', { class: 'jan-marks' });
  const hover = make('div', { class: 'jan-quiet jan-hover', 'aria-hidden': 'true' });
  const status = make('div', { role: 'status' });
  const table = make('table', { class: 'jan-table' });
  const notices = make('div', { class: 'jan-notices' });
  const text = make('textarea', { rows: 2, dir: 'auto' });
  text.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => connected.say({ kind: 'text', text: text.value }), PAUSE);
  });
  const box = make('label', { class: 'jan-try' }, t('A prompt to try: nothing is sent'), text);
  framed.body.append(make('div', { class: 'jan-quiet' }, t('waiting for the kernel')));

  /** Show one piece in the bar and in the table at once. */
  function point(name, words) {
    for (const node of framed.body.querySelectorAll('[data-piece]')) {
      node.classList.toggle('jan-pointed', node.dataset.piece === name);
    }
    hover.textContent = words || '\u00a0';
  }

  function show(state) {
    const known = new Map(state.pieces.map(each => [each.piece, each]));
    const ordered = ORDER.map(([name, colour]) => ({ ...known.get(name), colour }));
    const size = each => Math.max(0, each.tokens ?? 0);
    const sent = ordered.slice(0, SENT).reduce((sum, each) => sum + size(each), 0);
    const whole = Math.max(state.window ?? 0, ordered.reduce((sum, each) => sum + size(each), 0)) || 1;
    const about = each => (each.exact ? '' : '≈\u2009');
    const said = each =>
      `${t(each.piece)}: ${about(each)}${number(size(each))}` +
      (each.share === null ? '' : ` (${(each.share * 100).toFixed(1)} %)`);

    head.replaceChildren(
      make('span', { class: 'jan-title' }, state.model),
      ' ',
      make('span', { class: 'jan-quiet' }, state.line)
    );
    bar.replaceChildren(
      ...ordered.filter(size).map(each => {
        const piece = make('span', {
          class: `jan-piece jan-${each.piece}`,
          'data-piece': each.piece,
          title: said(each),
          pointerenter: () => point(each.piece, said(each)),
          pointerleave: () => point('', '')
        });
        piece.style.width = `${(size(each) / whole) * 100}%`;
        piece.style.background = each.colour;
        return piece;
      })
    );
    marks.replaceChildren(
      ...state.marks.map(mark => {
        const words = t(WHEN[mark.name], { n: number(mark.tokens) });
        const tick = make('span', { class: `jan-mark jan-${mark.name}`, title: words });
        tick.style.left = `${(mark.tokens / whole) * 100}%`;
        return tick;
      })
    );
    const free = known.get('free')?.tokens;
    const reached = state.marks.filter(mark => sent >= mark.tokens).map(mark => mark.name);
    status.className = reached.some(name => name !== 'warn')
      ? 'jan-act'
      : reached.length
        ? 'jan-warned'
        : '';
    status.textContent = [
      state.window === null
        ? t('{used} tokens are sent, without a limit', { used: number(sent) })
        : t('{used} of {window} tokens are sent', {
            used: number(sent),
            window: number(state.window)
          }),
      free === null || free === undefined ? '' : t('{n} free', { n: number(free) }),
      ...state.marks.map(mark => t(WHEN[mark.name], { n: number(mark.tokens) }))
    ]
      .filter(Boolean)
      .join(' · ');
    table.replaceChildren(
      make('thead', {}, make('tr', {}, ...['piece', 'tokens', 'share'].map(name => make('th', { scope: 'col' }, t(name))))),
      make(
        'tbody',
        {},
        ordered
          .filter(each => each.tokens !== null && each.tokens !== undefined)
          .map(each => {
            const swatch = make('span', { class: `jan-swatch jan-${each.piece}` });
            swatch.style.background = each.colour;
            return make(
              'tr',
              {
                'data-piece': each.piece,
                pointerenter: () => point(each.piece, said(each)),
                pointerleave: () => point('', '')
              },
              make('th', { scope: 'row' }, swatch, t(each.piece)),
              make('td', {}, `${about(each)}${number(each.tokens)}`),
              make('td', {}, each.share === null ? '' : `${(each.share * 100).toFixed(1)} %`)
            );
          })
      )
    );
    notices.replaceChildren(...state.notices.map(words => make('div', {}, words)));
    if (!box.isConnected) {
      // The box stays where it is while one types in it.
      framed.body.replaceChildren(head, make('div', { class: 'jan-gauge' }, bar, marks), hover, status, notices, box, table);
      point('', '');
    }
  }

  function take(message) {
    if (message.kind === 'budget' && message.n >= newest) {
      newest = message.n;
      show(message);
    }
  }

  const connected = connect(model, framed, take);
  return () => {
    clearTimeout(timer);
    connected.end();
  };
}

export default { render };
