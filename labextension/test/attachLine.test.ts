/** Paths on the magic line, as the kernel's own reader of words takes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attaching, relativeTo, word } from '../src/attachLine.ts';

test('paths are seen from the notebook', () => {
  assert.equal(relativeTo('', 'plan.md'), 'plan.md');
  assert.equal(relativeTo('work', 'work/papers/plan.md'), 'papers/plan.md');
  assert.equal(relativeTo('work/notes', 'work/plan.md'), '../plan.md');
  assert.equal(relativeTo('work/notes', 'worker/notes/计划.md'), '../../worker/notes/计划.md');
  assert.equal(relativeTo('work', 'work/my-plan.md'), 'my-plan.md');
  assert.equal(relativeTo('work', 'work'), '.');
});

test('no path is taken for a variable, a flag or a home', () => {
  assert.equal(relativeTo('', 'data'), './data');
  assert.equal(relativeTo('', '-x.md'), './-x.md');
  assert.equal(relativeTo('', '~a/b.md'), './~a/b.md');
});

test('words are quoted where they must be', () => {
  assert.equal(word('计划.md'), '计划.md');
  assert.equal(word('my plan.md'), '"my plan.md"');
  assert.equal(word('it\'s "so".md'), '"it\'s \\"so\\".md"');
  assert.equal(word('a\\b.md'), '"a\\\\b.md"');
  assert.equal(word('[1].md'), '"[1].md"');
});

test('the flag stands at the end of the first line, once', () => {
  assert.deepEqual(attaching('%%chat -q  \nWhy?', ['a.md', 'b c.md']), [
    9,
    ' --attach a.md --attach "b c.md"'
  ]);
  assert.deepEqual(attaching('%%chat --attach a.md\nWhy?', ['a.md']), [20, '']);
  assert.deepEqual(attaching('%%chat --attach a.md2', ['a.md']), [21, ' --attach a.md']);
});
