/** The parts of a turn around its words: what was thought, called and found. */
import { type TranslationBundle } from '@jupyterlab/translation';
import { block, element, folded } from './elements';
import type { PageCall, PageShown } from './protocol';
import { type Look, sourceRow } from './sourceRows';

const LONGEST = 120;

function clipped(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

function callCard(call: PageCall, trans: TranslationBundle): HTMLElement {
  const states: Record<string, string> = {
    ok: '',
    error: trans.__('failed'),
    denied: trans.__('denied'),
    interrupted: trans.__('interrupted')
  };
  const card = folded('jan-Turn-call', '');
  const summary = card.querySelector('summary') as HTMLElement;
  const given = /^\s*(\{\})?\s*$/.test(call.arguments) ? '' : clipped(call.arguments);
  const state = states[call.state ?? ''] ?? trans.__('no result');
  summary.append(
    element('code', '', `${call.name}(${given})`),
    element('span', 'jan-Turn-result', ` → ${[state, clipped(call.output)].filter(Boolean).join(': ')}`)
  );
  card.dataset.state = call.state ?? 'none';
  card.append(
    element('div', 'jan-Turn-label', trans.__('Arguments')),
    block(call.arguments),
    element('div', 'jan-Turn-label', trans.__('Result')),
    block(call.output || state)
  );
  return card;
}

/** What came before the words: the reasoning, folded, and tool calls, each unfolding. */
export function above(turn: PageShown, trans: TranslationBundle): HTMLElement[] {
  const parts = (turn.calls ?? []).map(call => callCard(call, trans));
  if (turn.reasoning) {
    const words = element('div', 'jan-Turn-thoughts', turn.reasoning);
    words.dir = 'auto';
    parts.unshift(folded('jan-Turn-reasoning', trans.__('Reasoning'), words));
  }
  return parts;
}

/** What stands below them: sources. */
export function below(turn: PageShown, look: Look, trans: TranslationBundle): HTMLElement[] {
  if (!turn.sources?.length) {
    return [];
  }
  const list = element('ol', 'jan-Turn-list');
  list.append(...turn.sources.map(source => sourceRow(source, look, trans)));
  const count = trans._n('%1 source', '%1 sources', turn.sources.length);
  const sources = folded('jan-Turn-sources', count, list);
  sources.dataset.lmSuppressShortcuts = 'true';
  return [sources];
}
