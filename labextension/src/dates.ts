/** Times in the user's language: how long ago, and exactly. */

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
];

/** Say how long ago something was; '' for what is no time. */
export function ago(time: string, tongue: string, now = Date.now()): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) {
    return '';
  }
  const format = new Intl.RelativeTimeFormat(known(tongue), { numeric: 'auto', style: 'short' });
  const [unit, size] = STEPS.find(([, size]) => seconds >= size) ?? ['second', Infinity];
  return format.format(-Math.floor(seconds / size), unit);
}

/** Write a date and a time; '' for what is none. */
export function exactly(time: string, tongue: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString(known(tongue));
}

/** Return a language that the browser knows, else its own. */
function known(tongue: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tongue.replace('_', '-'))[0];
  } catch {
    return undefined;
  }
}
