// Candidates of a search: the threshold moves here, at once; the kernel knows the documents.

const CHINESE = {
  'Search results': '检索结果',
  '{n} candidates': '{n} 个候选',
  'Threshold (cosine)': '阈值（余弦）',
  none: '无',
  '{used} of {n} are used': '使用 {n} 个中的 {used} 个',
  '{n} below the threshold': '{n} 个低于阈值',
  '{n} beyond the first {k}': '{n} 个在前 {k} 个之外',
  used: '使用',
  'out: below the threshold': '未用：低于阈值',
  'out: beyond k = {k}': '未用：超出 k = {k}',
  'out: dropped by {by}': '未用：被 {by} 剔除',
  'Searched by words only: there is no cosine to compare with a threshold.':
    '仅按词检索：没有可与阈值比较的余弦。',
  'In the document': '在文档中',
  'Close the document': '收起文档',
  'waiting for the kernel': '正在等待内核',
  'nothing was found': '什么也没找到',
  '{n} more candidates are in the table': '表格中还有 {n} 个候选',
  'A full bar is {scales}. Only bars of the same name can be compared.': '满格为 {scales}。只有同名的条可以相互比较。',
  ', a full bar is {full}': '，满格为 {full}',
  'To keep it:': '保留此设置：'
};

/** Tell what becomes of each candidate under a threshold, as the search itself does it. */
function decide(rows, k, threshold) {
  let used = 0;
  return rows.map(row => {
    if (row.lost) {
      return row.lost;
    }
    if (threshold !== null && !(row.cosine !== null && row.cosine >= threshold)) {
      return 'threshold';
    }
    used += 1;
    return used > k ? 'k' : '';
  });
}

function render({ model, el }) {
  const t = tongue(model, CHINESE);
  const framed = frame(el, t('Search results'));
  let state = null;
  let threshold = null;
  const items = [];

  const head = make('div', {});
  const control = make('div', { class: 'jan-control' });
  const list = make('ol', { class: 'jan-hits' });
  framed.body.append(make('div', { class: 'jan-quiet' }, t('waiting for the kernel')));

  function told(by) {
    if (!by) {
      return t('used');
    }
    const known = { threshold: 'out: below the threshold', k: 'out: beyond k = {k}' };
    return t(known[by] ?? 'out: dropped by {by}', { by, k: state.k });
  }

  /** Say to who sees no bar what would fill it. */
  const spoken = ({ full }) =>
    full ? make('span', { class: 'jan-spoken' }, t(', a full bar is {full}', { full })) : null;

  /** Say what fills a bar, by its name: another score for each stage. */
  function scales() {
    const full = new Map(state.rows.flatMap(row => row.bars).map(bar => [bar.name, bar.full]));
    const known = [...full].filter(each => each[1]).map(each => each.join('\u00a0'));
    const words = t('A full bar is {scales}. Only bars of the same name can be compared.', { scales: known.join(' · ') });
    return known.length ? make('div', { class: 'jan-quiet jan-scales' }, words) : '';
  }

  function item(row) {
    const badge = make('span', { class: 'jan-state' });
    const place = make('div', { class: 'jan-document', dir: 'auto', tabindex: 0, hidden: true });
    const button = make('button', { type: 'button', 'aria-expanded': 'false' }, t('In the document'));
    button.addEventListener('click', () => {
      const open = place.hidden;
      place.hidden = !open;
      button.setAttribute('aria-expanded', String(open));
      button.textContent = t(open ? 'Close the document' : 'In the document');
      if (open && !place.childNodes.length) {
        connected.say({ kind: 'document', chunk: row.chunk });
      }
    });
    const ticks = [];
    const bars = row.bars.flatMap((bar, n) => {
      const track = make('span', { class: 'jan-track', 'aria-hidden': 'true' });
      const fill = make('span', { class: n ? 'jan-fill' : 'jan-fill jan-main' });
      fill.style.width = `${Math.round(bar.share * 100)}%`;
      track.append(fill);
      if (bar.name === 'vector') {
        ticks.push(make('span', { class: 'jan-tick', hidden: true }));
        track.append(ticks[0]);
      }
      return [
        make('span', {}, bar.name),
        track,
        make('span', { class: 'jan-number' }, bar.said, spoken(bar))
      ];
    });
    const node = make(
      'li',
      { class: 'jan-hit' },
      make('div', { class: 'jan-hit-head' }, make('span', { class: 'jan-title' }, row.source), badge),
      make(
        'div',
        { class: 'jan-hit-grid' },
        make(
          'div',
          {},
          make('div', { class: 'jan-quiet' }, row.about),
          make('p', { class: 'jan-hit-words', dir: 'auto' }, row.words)
        ),
        make('div', { class: 'jan-bars' }, bars)
      ),
      button,
      place
    );
    return { node, badge, place, ticks };
  }

  const slider = make('input', { type: 'range', step: '0.01', 'aria-label': t('Threshold (cosine)') });
  const value = make('span', { class: 'jan-value', 'aria-hidden': 'true' });
  const summary = make('div', { role: 'status' });
  const keep = make('div', { class: 'jan-quiet' });
  slider.addEventListener('input', () => {
    threshold = Number(slider.value) <= Number(slider.min) ? null : Number(slider.value);
    paint();
  });

  function paint() {
    const fates = decide(state.rows, state.k, threshold);
    items.forEach(({ node, badge, ticks }, n) => {
      node.classList.toggle('jan-out', Boolean(fates[n]));
      badge.textContent = told(fates[n]);
      for (const tick of ticks) {
        tick.hidden = threshold === null;
        tick.style.left = `${(threshold ?? 0) * 100}%`;
      }
    });
    const count = fate => fates.filter(each => each === fate).length;
    const [low, far] = [count('threshold'), count('k')];
    summary.textContent = [
      t('{used} of {n} are used', { used: count(''), n: fates.length }),
      low ? t('{n} below the threshold', { n: low }) : '',
      far ? t('{n} beyond the first {k}', { n: far, k: state.k }) : ''
    ]
      .filter(Boolean)
      .join(' · ');
    value.textContent = threshold === null ? t('none') : `≥ ${threshold.toFixed(2)}`;
    slider.setAttribute('aria-valuetext', `${value.textContent}, ${summary.textContent}`);
    keep.replaceChildren(
      ...(threshold === null
        ? []
        : [`${t('To keep it:')} `, make('code', {}, `--threshold ${threshold.toFixed(2)}`)])
    );
  }

  function show() {
    const cosines = state.rows.map(row => row.cosine).filter(cosine => cosine !== null);
    head.replaceChildren(
      make('div', { class: 'jan-title', dir: 'auto' }, state.question),
      make(
        'div',
        { class: 'jan-quiet' },
        [t('{n} candidates', { n: state.rows.length + state.more }), ...state.how].join(' · ')
      )
    );
    items.splice(0, items.length, ...state.rows.map(item));
    list.replaceChildren(...items.map(each => each.node));
    if (cosines.length) {
      // One step below the lowest cosine stands for no threshold.
      const floor = Math.floor(Math.min(...cosines, threshold ?? 1) * 100) / 100 - 0.01;
      slider.min = floor.toFixed(2);
      slider.max = Math.max(Math.ceil(Math.max(...cosines) * 100) / 100 + 0.01, threshold ?? 0).toFixed(2);
      slider.value = threshold === null ? slider.min : threshold;
      const row = make('label', { class: 'jan-bar-row' }, t('Threshold (cosine)'), slider, value);
      control.replaceChildren(row, make('div', { class: 'jan-bar-row' }, summary, keep));
    } else {
      control.replaceChildren(
        summary,
        make(
          'div',
          { class: 'jan-quiet' },
          t('Searched by words only: there is no cosine to compare with a threshold.')
        )
      );
    }
    if (state.note) {
      control.append(make('div', { class: 'jan-quiet' }, state.note));
    }
    const more = state.more ? t('{n} more candidates are in the table', { n: state.more }) : '';
    framed.body.replaceChildren(
      head,
      control,
      scales(),
      list,
      make('div', { class: 'jan-quiet' }, state.rows.length ? more : t('nothing was found'))
    );
    paint();
  }

  function take(message) {
    if (message.kind === 'scores' && state === null) {
      state = message;
      threshold = message.threshold;
      show();
    } else if (message.kind === 'document') {
      const n = state.rows.findIndex(row => row.chunk === message.chunk);
      const marked = make('mark', {}, message.text);
      items[n]?.place.replaceChildren(
        make('span', {}, `${message.cut[0] ? '… ' : ''}${message.before}`),
        marked,
        make('span', {}, `${message.after}${message.cut[1] ? ' …' : ''}`)
      );
      const box = items[n]?.place;
      if (box) {
        box.scrollTop = Math.max(0, marked.offsetTop - 40);
      }
    }
  }

  const connected = connect(model, framed, take);
  return connected.end;
}

export default { render };
