/** Code blocks as cells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellFor } from '../src/cellFor.ts';

test('Python stays as it is, shells and pages get their magic', () => {
  for (const language of ['', 'py', 'Python', 'ipython']) {
    assert.deepEqual(cellFor('x = 1', language), ['code', 'x = 1']);
  }
  assert.deepEqual(cellFor('ls', 'bash'), ['code', '%%bash\nls']);
  assert.deepEqual(cellFor('<p>', 'html'), ['code', '%%html\n<p>']);
});

test('what no kernel runs becomes Markdown, in a fence that holds', () => {
  assert.deepEqual(cellFor('SELECT 1', 'sql'), ['markdown', '```sql\nSELECT 1\n```']);
  assert.equal(cellFor('a ```` b', 'md')[1], '`````md\na ```` b\n`````');
});
