import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForThePage } from '../src/shieldedKeys.ts';

const key = (name: string, held: Partial<Parameters<typeof isForThePage>[0]> = {}) => ({
  key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held
});

test('save and the palette are for the page, typing is not', () => {
  assert.ok(isForThePage(key('s', { ctrlKey: true })));
  assert.ok(isForThePage(key('S', { metaKey: true, shiftKey: true })));
  assert.ok(isForThePage(key('C', { ctrlKey: true, shiftKey: true })));
  for (const typed of [key('s'), key('Enter', { ctrlKey: true }), key('c', { ctrlKey: true }), key('s', { ctrlKey: true, altKey: true })]) {
    assert.ok(!isForThePage(typed));
  }
});
