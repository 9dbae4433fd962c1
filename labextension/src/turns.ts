/** What pages know of turns that run: events of a kernel in, text and a note out. Pure. */
import type { PageBusy, PageChanged, PageIngest, PageOver, PageTurn } from './protocol';

export type TurnEvent = PageTurn | PageOver;
/** What a kernel tells panels. */
export type News = PageChanged | PageIngest | PageBusy;

/** A turn as it stands; `over` once nothing more comes. */
export interface Turn {
  readonly markdown: string;
  readonly note: string;
  readonly cell: string;
  readonly over: boolean;
}

/**
 * Take an event in. `undefined` where its text goes on from one that this page has not seen: the
 * turn is then as it was, and its whole text has to be asked for.
 */
export function reduce(turn: Turn | undefined, event: TurnEvent): Turn | undefined {
  if (event.kind === 'over') {
    const { markdown = '', note = '' } = turn ?? {};
    return { markdown, note, cell: event.cell, over: true };
  }
  const known = turn?.markdown ?? '';
  if (event.at > known.length || turn?.over) {
    return turn?.over ? turn : undefined;
  }
  const markdown = known.slice(0, event.at) + event.text;
  return { markdown, note: event.note, cell: event.cell, over: false };
}

/** Tell whether something that a kernel sent is an event of a turn. */
export function isTurnEvent(data: unknown): data is TurnEvent {
  const { kind, turn } = (data ?? {}) as Partial<TurnEvent>;
  return (kind === 'turn' || kind === 'over') && typeof turn === 'string';
}

/** Tell whether something that a kernel sent is for panels. */
export function isNews(data: unknown): data is News {
  const { kind } = (data ?? {}) as Partial<News>;
  return kind === 'changed' || kind === 'ingest' || kind === 'busy';
}

/** Cut what may be said aloud from a growing text: whole sentences that were not said yet. */
export function spoken(markdown: string, said: number): [text: string, said: number] {
  const rest = markdown.slice(said);
  const end = Math.max(...['. ', '! ', '? ', '。', '！', '？', '\n'].map(mark => {
    const at = rest.lastIndexOf(mark);
    return at < 0 ? -1 : at + mark.length;
  }));
  return end <= 0 ? ['', said] : [rest.slice(0, end).trim(), said + end];
}
