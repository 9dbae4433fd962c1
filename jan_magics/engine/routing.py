"""Which of many tools a turn offers: those that the question is about.

On a branch the set only grows: tools stand before everything else in a prompt, and a tool that goes
away would spoil the prefix cache of all that follows.
"""

import asyncio
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from jan_magics.context.counting import count_tools
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.segmentation import index_words
from jan_magics.engine.asks import Ask
from jan_magics.engine.judging_tools import Judged, Router, asked, near
from jan_magics.engine.records import offered_of
from jan_magics.engine.tool_servers import BETWEEN
from jan_magics.engine.tools import Tool
from jan_magics.engine.turn import place

SHARE: Final = 0.1
"""The share of the input that schemas may take before tools are chosen."""
MOST: Final = 12
"""Tools that are chosen at most for one question, beside those of the branch."""
WORDS: Final = "by words of the prompt"
ALL: Final = "*"
"""What is remembered where every tool was offered."""
SHORTEST: Final = 3
"""Letters from which on words with the same beginning count as one, and how many may follow."""
LONGEST: Final = 8000
"""Characters of a question that are read for its words: half from either end."""
_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"parameters": 1.0, "description": 2.0, "name": 4.0}
)
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")
_COMMON: Final = frozenset(index_words(
    "a an and any are as at be by can do for from get give has have how i if in is it its let list"
    " me my of on or our please show so tell that the their them then there this to us use want was"
    " we were what when where which who will with would you your 什么 怎么 可以 一个"
))  # fmt: skip
"""Words that say nothing of what is wanted."""


@dataclass(frozen=True, slots=True)
class Routed:
    """The tools that are offered, the names of those that are not, and who has chosen."""

    tools: tuple[Tool, ...]
    left_out: tuple[str, ...] = ()
    by: str = WORDS


async def routed(ask: Ask, router: Router) -> Ask:
    """Return a turn that offers the tools its question is about; a note says which are not.

    Where nobody can say which these are, all are offered. Raises NotRecorded.
    """
    tools, budget = ask.bench.offered, ask.fit.budget.input
    if router.how == "off" or not is_much(tools, budget):
        return ask
    placed = place(router.engine, ask)
    before = [*(placed.before if ask.history else ()), *([ask.partial] if ask.partial else [])]
    kept = {name for each in before for name in offered_of(each)}
    judged = Judged(None)
    if ALL not in kept:
        judged = await _judged(ask, router, _read(text_of(placed.question)))
    found = chosen(tools, judged, kept, budget)
    names = tuple(tool.name for tool in found.tools) if found.left_out else (ALL,)
    bench = replace(ask.bench, offered=found.tools, routed=names)
    failed = f"{judged.note}: all {len(tools)} are offered" if judged.note else ""
    lines = (told(found) if found.left_out else "", failed)
    return replace(ask, bench=bench, notes=(*ask.notes, *filter(None, lines)))


def is_much(tools: Sequence[Tool], budget: int) -> bool:
    """Tell whether tools have to be chosen; `budget` is the input in tokens."""
    servers = {tool.name.partition(BETWEEN)[0] for tool in tools if tool.kind == "mcp"}
    return len(servers) > 1 or _size(tools) > SHARE * budget


async def _judged(ask: Ask, router: Router, text: str) -> Judged:
    tools = ask.bench.offered
    if router.how == "model":
        return await asked(router, ask, tools, text, MOST)
    words = by_words(tools, text)
    if router.how == "embedder":
        # A worker thread: the first time it is loaded.
        return await asyncio.to_thread(near, router, tools, text, words.scores or ())
    return words


def by_words(tools: Sequence[Tool], text: str) -> Judged:
    """Judge tools by the words that they have in common with a question."""
    return Judged(_scores([tool.spec for tool in tools], _read(text)), WORDS)


def chosen(tools: Sequence[Tool], judged: Judged, kept: Collection[str], budget: int) -> Routed:
    """Choose the best tools; where none is about the question, all of them are offered.

    Those of the branch, `kept`, stay. The order is that of all tools.
    """
    scores = judged.scores or [0.0] * len(tools)
    best = sorted(range(len(tools)), key=lambda n: (-scores[n], n))
    fitting = [n for n in best if scores[n] > 0][:MOST]
    if not fitting:
        return Routed(tuple(tools))
    taken = {n for n, tool in enumerate(tools) if tool.name in kept}
    for n in fitting:
        # The best one is offered however long its schema is.
        if n == fitting[0] or _size([tools[m] for m in {*taken, n}]) <= SHARE * budget:
            taken.add(n)
    return Routed(
        tuple(tools[n] for n in sorted(taken)),
        tuple(tool.name for n, tool in enumerate(tools) if n not in taken),
        judged.by,
    )


def told(found: Routed) -> str:
    """Say which tools are offered and which are not."""
    names = ", ".join(tool.name for tool in found.tools)
    count = len(found.tools) + len(found.left_out)
    listed = ", ".join(found.left_out[:MOST])
    more = f" and {len(found.left_out) - MOST} more" if len(found.left_out) > MOST else ""
    return (
        f"{len(found.tools)} of {count} tools are offered, {found.by}: {names}"
        f" · left out: {listed}{more} · all: %config JanMagics.tool_router = 'off'"
    )


def words_of(text: str) -> list[str]:
    """Return the words of a text that say something; names in humps and snakes are cut apart."""
    found = index_words(" ".join(_HUMPS.split(text)))
    return [word for word in found if word not in _COMMON]


def _read(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"


def _size(tools: Sequence[Tool]) -> int:
    return count_tools([tool.spec for tool in tools], CharsTokenizer())


def _scores(specs: Sequence[ToolSpec], text: str) -> list[float]:
    """Return how much each tool has in common with a text: rare words count for more."""
    tables = [_weighed(spec) for spec in specs]
    beginnings: dict[str, set[str]] = {}
    for word in (word for table in tables for word in table):
        beginnings.setdefault(word[:SHORTEST], set()).add(word)
    scores = [0.0] * len(specs)
    for word in set(words_of(text)):
        forms = [each for each in beginnings.get(word[:SHORTEST], ()) if _is_form(each, word)]
        weights = [max((table.get(form, 0.0) for form in forms), default=0.0) for table in tables]
        if having := sum(weight > 0 for weight in weights):
            rare = math.log(1 + len(specs) / having)
            scores = [score + rare * w for score, w in zip(scores, weights, strict=True)]
    return scores


def _weighed(spec: ToolSpec) -> Mapping[str, float]:
    found: dict[str, float] = {}
    # The name comes last: a word counts where it counts for most.
    texts = (" ".join(_told(spec.parameters)), spec.description, spec.name)
    for text, weight in zip(texts, _WEIGHTS.values(), strict=True):
        found |= dict.fromkeys(words_of(text), weight)
    return found


def _told(schema: Mapping[str, Any]) -> Iterable[str]:
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        yield name
        if isinstance(each, dict) and isinstance(each.get("description"), str):
            yield str(each["description"])


def _is_form(word: str, asked: str) -> bool:
    """Tell whether two words are one: a plural, or a verb, has the same beginning."""
    if word == asked:
        return True
    short, long = sorted((word, asked), key=len)
    return (
        word.isascii()
        and len(short) >= SHORTEST
        and len(long) - len(short) <= SHORTEST
        and long.startswith(short)
    )
