"""`plan_context`: what of a path goes into a request, and why. The only door of this wing.

Nothing is dropped that the plan does not name, and nothing is ever deleted: a plan is a view of
the path, made anew before every request.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jan_magics.context.budget import Budget
from jan_magics.context.counting import count_system, count_tools
from jan_magics.context.measure import Clean, Measured, measure
from jan_magics.context.refusing import refusal
from jan_magics.context.relevance import relevant_turns
from jan_magics.context.segments import Seen, look
from jan_magics.context.summary import summary_text
from jan_magics.context.trim import kept_from, sizes_of, turn_tokens
from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.overlays import Overlay, TrimCut
from jan_magics.domain.protocols import Tokenizer

ALWAYS: Final = frozenset({"pin", "keep"})
"""The marks of messages that trimming passes over."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a request is planned.

    `clean` repairs a list of messages for the provider. `model` names where trimming is remembered
    for. `retrieved` are the tokens of the prompt that were retrieved. `resend_reasoning`: what
    cleaning leaves of earlier reasoning is sent. `system_apart` False: the system text is sent in
    the words of the first question.
    """

    budget: Budget
    tokenizer: Tokenizer
    clean: Clean
    model: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    retrieved: int = 0
    resend_reasoning: bool = False
    system_apart: bool = True


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of a request by piece; `history` is what the other pieces leave for it."""

    system: int = 0
    summary: int = 0
    tools: int = 0
    prompt: int = 0
    retrieved: int = 0
    history: int = 0


@dataclass(frozen=True, slots=True)
class ContextPlan:
    """A request as it was planned.

    `system` is the one system text and `messages` what is sent with it: cleaned, the prompt last.
    `turns` are the numbers of the turns that are sent, in `measured`; `reasons` say why an old one
    is. `cut` is to be stored with the branch where trimming has fallen further. `tokens` counts
    all that is sent, `forced` what trimming passes over. `due`: a compaction should come first.
    `refused` is why it cannot be sent.
    """

    terms: Terms
    measured: Measured
    costs: Costs
    system: str
    messages: tuple[Message, ...]
    turns: tuple[int, ...]
    tokens: int
    full: int
    reasons: Mapping[int, str]
    cut: TrimCut | None = None
    due: bool = False
    forced: int = 0
    refused: ContextOverflow | None = None

    @property
    def budget(self) -> Budget:
        """Return the budget that was planned with."""
        return self.terms.budget

    @property
    def seen(self) -> Seen:
        """Return the path's statuses, marks and summary."""
        return self.measured.seen

    @property
    def exact(self) -> bool:
        """Tell whether tokens were counted, not estimated."""
        return self.measured.tokenizer.exact

    @property
    def sent(self) -> frozenset[str]:
        """Return the ids of the stored messages that are sent, also those merged into others."""
        path, origins = self.measured.path, self.measured.origins
        found: set[str] = set()
        for turn in self.turns:
            first, last = self._numbers(turn)
            end = origins[last] if last < len(origins) else len(path)
            found.update(m.id for m in path[origins[first] : end] if m.role != "system")
        return frozenset(found - self.seen.statuses.keys())

    @property
    def trimmed(self) -> int:
        """Count the messages that were left out for lack of room alone."""
        active = sum(m.id not in self.seen.statuses for m in self.measured.path)
        return active - len(self.sent) - len(self.measured.system)

    def _numbers(self, turn: int) -> tuple[int, int]:
        turns = self.measured.turns
        end = turns[turn + 1] if turn + 1 < len(turns) else len(self.measured.messages)
        return turns[turn], end


def plan_context(
    path: Sequence[Message],
    overlays: Sequence[Overlay],
    terms: Terms,
    earlier: ContextPlan | None = None,
    *,
    looking: bool = False,
) -> ContextPlan:
    """Plan the request for a path whose last question is the prompt.

    `earlier` is a plan of the same thread, from which measuring goes on; it changes nothing but
    the time this takes. With `looking` a request that cannot be sent is planned all the same, to
    be looked at: its `refused` says why.

    Raises:
        ContextOverflow: when the prompt and what must stay do not fit, or something would be left
            out and the budget's overflow is "error".
    """
    path, before = tuple(path), earlier.measured if earlier else None
    seen = _with_prompt(look(path, overlays), path)
    again = terms.resend_reasoning
    measured = measure(path, seen, terms.tokenizer, terms.clean, before, resend_reasoning=again)
    text, costs = _fixed(measured, terms)
    forced = _forced(measured)
    full = sizes_of(measured, frozenset())(0)
    always = _size_of(measured, forced)
    refused = _refusal(terms, costs, full, always)
    if refused and not looking:
        raise refused
    first, reasons, cut = _chosen(measured, terms, costs, forced, full)
    turns = tuple(sorted({*reasons, *range(first, len(measured.turns))}))
    sent = costs.system + costs.summary + costs.tools + _size_of(measured, turns)
    made = (terms, measured, costs, text, _messages(measured, turns), turns, sent, full)
    due = _is_due(terms.budget, costs, full)
    return ContextPlan(*made, reasons, cut, due, always, refused)


def _is_due(budget: Budget, costs: Costs, full: int) -> bool:
    others = budget.input - costs.history
    return budget.overflow == "compact" and full >= budget.compacts_at(costs.history, others)


def _chosen(
    measured: Measured, terms: Terms, costs: Costs, forced: frozenset[int], full: int
) -> tuple[int, dict[int, str], TrimCut | None]:
    """Return the first turn of those sent for being new, older ones with why, and a new cut."""
    budget, reasons = terms.budget, dict.fromkeys(forced, "marked")
    if budget.overflow == "error" and _size_of(measured, forced) <= costs.history:
        return 0, reasons, None  # nothing is left out by itself: all of it fits, or is refused
    high, low = (budget.share(mark, costs.history) for mark in (budget.trim_at, budget.trim_to))
    if budget.strategy == "relevance":
        if full <= high:
            return 0, reasons, None
        start = _fallen_to(measured, terms)
        first, chosen = relevant_turns(measured, forced, start, high, low)
        cut = _cut(measured, first, terms) if first > start else None
        return first, chosen | reasons, cut
    start = _fallen_to(measured, terms)
    first = kept_from(measured, start, forced, high, low)
    return first, reasons, None if first == start else _cut(measured, first, terms)


def _with_prompt(seen: Seen, path: Sequence[Message]) -> Seen:
    """Show the prompt whatever was decided about it: who asks it again wants it sent.

    What the answer to it has said and called so far comes after it, and goes with it.
    """
    asked = (n for n in reversed(range(len(path))) if path[n].role == "user")
    turn = {message.id for message in path[next(asked, len(path) - 1) :]}
    if turn.isdisjoint(seen.statuses):
        return seen
    return replace(seen, statuses={k: v for k, v in seen.statuses.items() if k not in turn})


def _fixed(measured: Measured, terms: Terms) -> tuple[str, Costs]:
    """Return the system text as it goes out, and what every piece costs."""
    tokenizer, summary = measured.tokenizer, measured.seen.summary
    told = [terms.system, *(text_of(message) for _, message in measured.system)]
    text = "\n\n".join(each for each in told if each.strip())
    whole = "\n\n".join(filter(None, (text, summary_text(summary) if summary else "")))
    alone, both = _system(text, terms), _system(whole, terms)
    prompt = turn_tokens(measured, len(measured.turns) - 1) if measured.turns else 0
    offered = count_tools(terms.tools, tokenizer)
    history = terms.budget.input - both - offered - prompt
    return whole, Costs(
        alone, both - alone, offered, prompt - terms.retrieved, terms.retrieved, history
    )


def _system(text: str, terms: Terms) -> int:
    """Return the tokens of a system text, with its own marks where it stands apart."""
    if terms.system_apart or not text:
        return count_system(text, terms.tokenizer)
    return terms.tokenizer.count(f"{text}\n\n") + count_system("", terms.tokenizer)


def _forced(measured: Measured) -> frozenset[int]:
    """Return the turns that trimming passes over; an answer before all questions is in none."""
    seen = measured.seen
    marked = {
        each for each, action in seen.marks.items() if action in ALWAYS
    } - seen.statuses.keys()
    if not marked:
        return frozenset()
    places = (n for n, message in enumerate(measured.path) if message.id in marked)
    turns = {bisect_right(measured.turns, measured.number_at(place)) - 1 for place in places}
    return frozenset(turns - {-1, len(measured.turns) - 1})


def _fallen_to(measured: Measured, terms: Terms) -> int:
    """Return the turn that trimming for this model and window fell to before."""
    cuts = (cut for cut in reversed(measured.seen.cuts) if cut.model == terms.model)
    upto = next((cut.upto for cut in cuts if cut.window == terms.budget.window), None)
    if upto is None:
        return 0
    place = next(n for n, message in enumerate(measured.path) if message.id == upto)
    return bisect_right(measured.turns, measured.number_at(place))


def _cut(measured: Measured, first: int, terms: Terms) -> TrimCut | None:
    """Return the record of where trimming has fallen to, of no use where nothing limits."""
    place = measured.origins[measured.turns[first]] - 1
    if terms.budget.window is None or place < 0:
        return None
    return TrimCut(measured.path[place].id, terms.model, terms.budget.window)


def _messages(measured: Measured, turns: Sequence[int]) -> tuple[Message, ...]:
    if not turns:
        return ()
    starts = (*measured.turns, len(measured.messages))
    if turns[-1] - turns[0] + 1 == len(turns):
        return measured.messages[starts[turns[0]] : starts[turns[-1] + 1]]
    return tuple(
        message for turn in turns for message in measured.messages[starts[turn] : starts[turn + 1]]
    )


def _size_of(measured: Measured, turns: Iterable[int]) -> int:
    return sum(turn_tokens(measured, turn) for turn in turns)


def _refusal(terms: Terms, costs: Costs, full: int, forced: int) -> ContextOverflow | None:
    """Return what to raise for what cannot be left out, or must not be."""
    pieces = {
        "prompt": costs.prompt,
        "system": costs.system,
        "marked": forced,
        "tools": costs.tools,
        "retrieved": costs.retrieved,
        "summary": costs.summary,
    }
    return refusal(terms.budget, pieces, full, terms.model)
