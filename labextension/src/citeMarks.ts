/** The numbers in brackets by which an answer names its sources, as models write them. */

/** What stands between brackets: numbers, in a list or with a dash between the ends of a range. */
const NUMBERS = String.raw`(\s*\d{1,6}(?:\s*[,，、;；–—-]\s*\d{1,6})*\s*)`;
const MARK = new RegExp(
  String.raw`\[\[?${NUMBERS}\]\]?|［${NUMBERS}］|【${NUMBERS}(?:†[^【】\n]*)?】`,
  'g'
);
/** What a typesetter takes for itself. */
const MATH = /\$\$[\s\S]*?\$\$|\$[^$\n]+\$|\\\([\s\S]*?\\\)|\\\[[\s\S]*?\\\]/g;

/** A piece of a text; `n`: the source that it names. */
export interface Piece {
  text: string;
  n?: number;
}

/**
 * Cut a text where it names a source that is `known`; the rest stays as it is. A mark of one number
 * is taken with its brackets, of several each number by itself.
 */
export function pieces(text: string, known: ReadonlySet<number>): Piece[] {
  const math = [...text.matchAll(MATH)].map(({ index, 0: all }) => [index, index + all.length]);
  const found: Piece[] = [];
  let at = 0;
  const take = (start: number, end: number, n: number) => {
    if (known.has(n)) {
      found.push({ text: text.slice(at, start) }, { text: text.slice(start, end), n });
      at = end;
    }
  };
  for (const mark of text.matchAll(MARK)) {
    const [start, end] = [mark.index, mark.index + mark[0].length];
    if (math.some(([from, to]) => start < to && end > from)) {
      continue;
    }
    const inside = mark[1] ?? mark[2] ?? mark[3];
    const numbers = [...inside.matchAll(/\d+/g)];
    if (numbers.length === 1) {
      take(start, end, Number(numbers[0][0]));
      continue;
    }
    const begin = start + mark[0].indexOf(inside);
    for (const { index, 0: digits } of numbers) {
      take(begin + index, begin + index + digits.length, Number(digits));
    }
  }
  return [...found, { text: text.slice(at) }].filter(piece => piece.text);
}
