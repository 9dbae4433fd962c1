"""Which old turns are worth their tokens for this prompt: rules the user gave, and like words."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Set
from typing import Final

from jan_magics.context.measure import Measured
from jan_magics.context.trim import kept_from, sizes_of, turn_tokens
from jan_magics.domain.messages import text_of
from jan_magics.domain.segmentation import index_words

RECENT: Final = 2
"""The newest turns, which are kept first: a prompt leans on them whatever its words are."""

CONSTRAINT: Final = re.compile(
    r"\b(?:must|never|always|only|do not|don't|avoid|require[sd]?|constraint|at (?:most|least)"
    r"|no more than|under no circumstances|remember)\b"
    r"|必须|不要|不能|不得|禁止|务必|只能|始终|切勿|至少|至多|记住"
    r"|しないで|禁止|必ず|絶対に",
    re.IGNORECASE,
)
"""Words that a rule is given with, in English, Chinese and Japanese."""


def relevant_turns(
    measured: Measured, forced: Set[int], start: int, high: int, low: int
) -> tuple[int, dict[int, str]]:
    """Choose old turns that fit into `high` tokens together with the forced and the newest ones.

    Returns the first turn of those that are kept for being new, and a reason for each other one.
    The newest two go before all; then turns whose question gives a rule, then by the words shared
    with the prompt, each weighted by ln(1 + turns / turns that have it): together half of `low`,
    or the nearest alone. The room that is left is filled from the end, and falls from its high
    mark to its low one as it does without them: `start` is where it fell to before.
    """
    last = len(measured.turns) - 1
    size = sizes_of(measured, forced)
    newest = last
    while newest > max(0, last - RECENT) and size(newest - 1) <= high:
        newest -= 1
    rules, near = _ranked(measured, newest, forced)
    most = turn_tokens(measured, next(iter(near))) if near else 0
    reasons, share = near | rules, max(low // 2, most)
    order = [*rules, *(turn for turn in near if turn not in rules)]
    chosen = _fitting(measured, order, min(share, high - size(newest)))
    first = min(kept_from(measured, start, forced | chosen, high, low), newest)
    older = [turn for turn in order if turn < first]
    chosen = _fitting(measured, older, min(share, high - size(first)))
    return first, {turn: reasons[turn] for turn in sorted(chosen)}


def _ranked(
    measured: Measured, before: int, forced: Set[int]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the turns that state a rule, and those near the prompt, the best first, with why."""
    last = len(measured.turns) - 1
    words = [index_words(_text(measured, turn)) for turn in range(last + 1)]
    scores = _scores(words[:last], set(words[last]))
    turns = [turn for turn in reversed(range(before)) if turn not in forced]
    rules = [turn for turn in turns if CONSTRAINT.search(_question(measured, turn))]
    ranked = sorted((turn for turn in turns if scores[turn]), key=lambda turn: -scores[turn])
    return (
        dict.fromkeys(rules, "states a rule"),
        {turn: f"near the prompt ({scores[turn]:.2f})" for turn in ranked},
    )


def _fitting(measured: Measured, turns: Iterable[int], room: int) -> frozenset[int]:
    """Return as many turns as fit into `room` tokens, in their order."""
    chosen = set[int]()
    for turn in turns:
        cost = turn_tokens(measured, turn)
        if cost <= room:
            chosen.add(turn)
            room -= cost
    return frozenset(chosen)


def _scores(turns: list[list[str]], prompt: set[str]) -> list[float]:
    """Score turns by the prompt's words in them, 0 to 1 of what the prompt could give."""
    found = [prompt.intersection(words) for words in turns]
    held = Counter(word for words in found for word in words)
    weight = {word: math.log(1 + len(turns) / count) for word, count in held.items()}
    whole = sum(weight.values()) or 1.0
    return [sum(weight[word] for word in words) / whole for words in found]


def _text(measured: Measured, turn: int) -> str:
    turns = measured.turns
    end = turns[turn + 1] if turn + 1 < len(turns) else len(measured.messages)
    return "\n".join(text_of(message) for message in measured.messages[turns[turn] : end])


def _question(measured: Measured, turn: int) -> str:
    return text_of(measured.messages[measured.turns[turn]])
