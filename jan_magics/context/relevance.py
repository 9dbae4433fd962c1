"""Which old turns are worth their tokens for this prompt: rules the user gave, and like words."""

import math
import re
from collections import Counter
from collections.abc import Set
from typing import Final

from jan_magics.context.measure import Measured
from jan_magics.context.trim import turn_tokens
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


def relevant_turns(measured: Measured, forced: Set[int], limit: int) -> tuple[int, dict[int, str]]:
    """Choose old turns that fit into `limit` tokens together with the forced ones.

    Returns the first turn of those that are kept for being new, and a reason for each other one.
    Order: the newest two, turns whose question gives a rule, then by the words shared with the
    prompt, each weighted by ln(1 + turns / turns that have it).
    """
    last = len(measured.turns) - 1
    left = limit - sum(turn_tokens(measured, turn) for turn in forced)
    first, chosen = last, dict[int, str]()
    while first and last - first < RECENT:
        cost = 0 if first - 1 in forced else turn_tokens(measured, first - 1)
        if cost > left:
            break
        first, left = first - 1, left - cost
    words = [index_words(_text(measured, turn)) for turn in range(last + 1)]
    scores = _scores(words[:last], set(words[last]))
    rules = [turn for turn in range(first) if CONSTRAINT.search(_question(measured, turn))]
    ranked = sorted(range(first), key=lambda turn: (-scores[turn], -turn))
    reasons = [(turn, "states a rule") for turn in reversed(rules)]
    reasons += [(turn, f"near the prompt ({scores[turn]:.2f})") for turn in ranked if scores[turn]]
    for turn, reason in reasons:
        cost = turn_tokens(measured, turn)
        if turn not in chosen and turn not in forced and cost <= left:
            chosen[turn] = reason
            left -= cost
    return first, chosen


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
