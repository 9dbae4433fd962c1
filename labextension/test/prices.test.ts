import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loose } from '../src/prices.ts';

const marked = (text: string) => loose(text).reduceRight((all, at) => `${all.slice(0, at)}¤${all.slice(at + 1)}`, text);

test('prices are no formula', () => {
  assert.equal(marked('Costs $5 and $10 today.'), 'Costs ¤5 and ¤10 today.');
  assert.equal(marked('It costs $5, or $6 with tax.'), 'It costs ¤5, or ¤6 with tax.');
  assert.equal(marked('一张$20，两张$35。'), '一张¤20，两张¤35。');
  assert.equal(marked('only $'), 'only ¤');
});

test('formulas are', () => {
  for (const text of ['$x_1$', 'a $x$ b $y^2$ c', '$$\\sum_i i$$', 'see $5x$ here', 'costs \\$5 and \\$6']) {
    assert.equal(marked(text), text);
  }
});

test('a price beside a formula', () => {
  assert.equal(marked('$5 or $x$'), '¤5 or $x$');
  assert.equal(marked('$x$ costs $5'), '$x$ costs ¤5');
});
