import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidOnce } from '../src/saidOnce.ts';

const LEFT = 'built on a branch that is no longer shown';
const FOOTER = 'offline:echo · 3→4 tok │ trip (new) · answer ‹2/3› │ sees 5 of 12 messages (7 in a summary)';

test('buttons that choose a version say which it is', () => {
  const without = FOOTER.replace(' · answer ‹2/3›', '');
  assert.equal(saidOnce(FOOTER, true, LEFT).footer, without);
  assert.equal(saidOnce(FOOTER, false, LEFT).footer, FOOTER);
  assert.equal(saidOnce('offline:echo │ 旅行 · 回答 ‹2/3›', true, LEFT).footer, 'offline:echo │ 旅行');
  assert.equal(saidOnce('offline:echo │ answer ‹2/3›', true, LEFT).footer, 'offline:echo');
});

test('the version of a question is said by no button', () => {
  for (const footer of ['offline:echo │ trip · question ‹2/2›', 'offline:echo │ 旅行 · 提问 ‹2/2›']) {
    assert.equal(saidOnce(footer, true, LEFT).footer, footer);
  }
});

test('where an answer is, is told by a line of its own', () => {
  assert.equal(saidOnce(`${FOOTER}\n${LEFT} · see: %chat tree`, false, LEFT).told, true);
  assert.equal(saidOnce(FOOTER, false, LEFT).told, false);
});

test('what other messages are, or a thread is called, is told of no answer', () => {
  assert.equal(saidOnce(FOOTER, false, 'in a summary').told, false);
  assert.equal(saidOnce('offline:echo │ pinned notes 📌 (new)', false, 'pinned').told, false);
});
