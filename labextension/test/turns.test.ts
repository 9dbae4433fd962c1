/** The reducer of turns on the logs that the kernel's own tests write: `npm test`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Turn, type TurnEvent, isTurnEvent, reduce, spoken } from '../src/turns.ts';

interface Log {
  name: string;
  events: TurnEvent[];
  shown: Turn;
}

const FILE = new URL('../../tests/streams/pages/turns.json', import.meta.url);
const logs = JSON.parse(readFileSync(FILE, 'utf8')) as Log[];

for (const { name, events, shown } of logs) {
  test(`a turn that ${name}`, () => {
    let turn: Turn | undefined;
    for (const event of events) {
      assert.ok(isTurnEvent(event));
      turn = reduce(turn, event);
      assert.ok(turn);
    }
    assert.deepEqual(turn, shown);
  });

  test(`pieces of it that are missing are noticed: ${name}`, () => {
    for (const event of events) {
      const begins = event.kind === 'over' || event.at === 0;
      assert.equal(reduce(undefined, event) !== undefined, begins);
    }
  });
}

test('nothing is added to a turn that is over', () => {
  const over: Turn = { markdown: 'all', note: '', cell: 'c1', over: true };
  const late = { kind: 'turn', turn: 't1', cell: 'c1', at: 3, text: ' more', note: '' } as const;
  assert.equal(reduce(over, late), over);
});

test('other messages are no events of turns', () => {
  for (const data of [null, 7, 'turn', {}, { kind: 'turn' }, { kind: 'reply', turn: 't1' }]) {
    assert.equal(isTurnEvent(data), false);
  }
});

test('whole sentences are said, each once', () => {
  assert.deepEqual(spoken('One. Two', 0), ['One.', 5]);
  assert.deepEqual(spoken('One. Two', 5), ['', 5]);
  assert.deepEqual(spoken('One. Two! 三。四', 5), ['Two! 三。', 12]);
});
