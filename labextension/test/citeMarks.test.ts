/** Numbers that name sources, cut out of a text, on the table that the kernel's tests read too. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pieces } from '../src/citeMarks.ts';

interface Case {
  text: string;
  known: number[];
  named: [number, string][];
}

const FILE = new URL('../../tests/streams/pages/marks.json', import.meta.url);
const cases = JSON.parse(readFileSync(FILE, 'utf8')) as Case[];

for (const { text, known, named } of cases) {
  test(`the sources of: ${text}`, () => {
    const found = pieces(text, new Set(known));
    assert.equal(found.map(piece => piece.text).join(''), text);
    assert.deepEqual(found.flatMap(piece => (piece.n === undefined ? [] : [[piece.n, piece.text]])), named);
  });
}

test('what is typeset names nothing', () => {
  for (const text of ['$x[1]$', 'so \\(a[1]\\)', '$$\na[1]\n$$']) {
    assert.deepEqual(pieces(text, new Set([1])), [{ text }]);
  }
  assert.equal(pieces('5 $ [1]', new Set([1])).length, 2);
});
