"""Evaluate searches on known questions: a row a setting, or a row a question. Pure over a search.

Means are over the questions that can be judged; the others are counted and said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import fmean, median
from time import perf_counter
from typing import Final, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.looking import checked_rows
from jan_magics.domain.messages import Json
from jan_magics.domain.retrieval import Hit
from jan_magics.rag.judging import Judged, Question, judge
from jan_magics.rag.significance import interval, p_value

Setting: TypeAlias = Mapping[str, Json]
Search: TypeAlias = Callable[[str], Sequence[Hit]]
K: Final = 5
_NAMED: Final = 3
"""Sources that a note names; more are not read."""
_MEANS: Final = (
    "recall", "precision", "mrr", "ndcg", "span_recall", "span_precision", "iou",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a setting is worth: means over `n` questions, None where no question says anything.

    `ndcg_low` and `ndcg_high` bound the mean's 95 % bootstrap interval; `p_vs_first` is of nDCG,
    paired, None for the first setting; `ms` is the median time of a search, `tokens` the mean of
    its rows'.
    """

    setting: Setting
    n: int
    recall: float | None
    precision: float | None
    mrr: float | None
    ndcg: float | None
    span_recall: float | None
    span_precision: float | None
    iou: float | None
    ndcg_low: float | None
    ndcg_high: float | None
    p_vs_first: float | None
    ms: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation: its settings, each question under each of them, and what is to be told."""

    settings: tuple[Evaluated, ...]
    questions: tuple[tuple[Setting, Judged], ...]
    notes: tuple[str, ...] = ()


def settings_of(grid: Mapping[str, Sequence[Json]] | None) -> tuple[Setting, ...]:
    """Return every combination of a grid's values, the first key slowest; one without a grid.

    Raises:
        SettingError: for a key without values.
    """
    for key, values in (grid or {}).items():
        if isinstance(values, str) or not values:
            raise SettingError(
                f"the grid has no list of values for {key!r}", f"Name some: {key}=A,B"
            )
    keys = list(grid or {})
    return tuple(dict(zip(keys, values, strict=True)) for values in product(*(grid or {}).values()))


def evaluate(
    questions: Sequence[Question],
    settings: Sequence[Setting],
    searching: Callable[[Setting], Search],
    *,
    k: int = K,
    seed: int = 0,
) -> Report:
    """Search every question under every setting and judge what was found.

    `searching` gives the search of a setting. `k` is the rows that count where a setting names no
    `k` of its own. The same hits and seed give the same report, but for the times.

    Raises:
        SettingError: when there are no questions, or `k` is no number of rows.
        RetrievalError: as the search does.
    """
    judged = list(measured(questions, settings, searching, k=k))
    return report_of(questions, settings, judged, seed=seed)


def measured(
    questions: Sequence[Question],
    settings: Sequence[Setting],
    searching: Callable[[Setting], Search],
    *,
    k: int = K,
    tell: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Sequence[Judged]]:
    """Yield the questions as they are judged under each setting, in order. Raises as `evaluate`.

    `tell` hears how many settings and, of the next one, how many questions are done.
    """
    if not questions:
        raise SettingError(
            "there are no questions", "Make some from your documents: %rag questions"
        )
    rows_of = [checked_rows(setting.get("k", k)) for setting in settings]
    for number, (setting, most) in enumerate(zip(settings, rows_of, strict=True)):
        tell(number, 0)
        search = searching(setting)
        yield _judged(questions, search, most, partial(tell, number))


def report_of(
    questions: Sequence[Question],
    settings: Sequence[Setting],
    judged: Sequence[Sequence[Judged]],
    *,
    seed: int = 0,
) -> Report:
    """Return the report on those settings that were measured, the first ones."""
    first = judged[0] if judged else []
    rows = tuple(
        _evaluated(setting, each, None if each is first else first, seed)
        for setting, each in zip(settings, judged, strict=False)
    )
    pairs = tuple(
        (setting, one) for setting, each in zip(settings, judged, strict=False) for one in each
    )
    return Report(rows, pairs, (*_absent(questions), *_undefined(questions), *_lost(rows)))


def _judged(
    questions: Sequence[Question], search: Search, k: int, tell: Callable[[int], None]
) -> list[Judged]:
    found: list[Judged] = []
    for number, question in enumerate(questions):
        tell(number)
        began = perf_counter()
        hits = search(question.text) if question.text else ()
        asked = question if question.text else Question("")
        found.append(judge(asked, hits, k, perf_counter() - began))
    return found


def _evaluated(
    setting: Setting, judged: Sequence[Judged], first: Sequence[Judged] | None, seed: int
) -> Evaluated:
    known = [each for each in judged if each.ndcg is not None]
    values = [each.ndcg for each in known if each.ndcg is not None]
    low, high = interval(values, seed=seed) or (None, None)
    pairs = [
        (one.ndcg, other.ndcg)
        for one, other in zip(first or (), judged, strict=False)
        if one.ndcg is not None and other.ndcg is not None
    ]
    means = {name: _mean([getattr(each, name) for each in known]) for name in _MEANS}
    return Evaluated(
        setting=setting,
        n=len(known),
        ndcg_low=low,
        ndcg_high=high,
        p_vs_first=p_value(*zip(*pairs, strict=True), seed=seed) if pairs else None,
        ms=1000 * median(each.seconds for each in known) if known else None,
        tokens=_mean([each.tokens for each in known]),
        **means,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _undefined(questions: Sequence[Question]) -> list[str]:
    """Say how many questions no measure counts."""
    without = sum(1 for each in questions if not each.wanted and not each.absent)
    blank = sum(1 for each in questions if each.wanted and not each.text)
    whole = sum(1 for each in questions if each.text and each.wanted and not each.spans)
    notes = [(without, "no source: not counted"), (blank, "no text: not counted")]
    notes.append((whole, "no characters: not in span_recall, span_precision, iou"))
    return [f"{counted(count, 'question')} with {what}" for count, what in notes if count]


def _absent(questions: Sequence[Question]) -> Iterator[str]:
    """Say how many questions want what cannot be found here, and where it would be."""
    only = [each for each in questions if each.absent and not each.wanted]
    also = [each for each in questions if each.absent and each.wanted]
    for some, how, what in (
        (only, "only", "not counted"),
        (also, "also", "those answers are left out"),
    ):
        sources = list(dict.fromkeys(place.source for each in some for place in each.absent))
        named = ", ".join(map(repr, sources[:_NAMED])) + (", …" if sources[_NAMED:] else "")
        if some:
            yield (
                f"{counted(len(some), 'question')} answered {how} in sources that are not in the"
                f" collection ({named}): {what}"
            )


def _lost(rows: Sequence[Evaluated]) -> list[str]:
    """Say where hybrid is worse than its better side under settings that are else the same."""
    said: list[str] = []
    for row in rows:
        if row.setting.get("mode") != "hybrid" or row.ndcg is None:
            continue
        rest = {key: value for key, value in row.setting.items() if key not in _OF_HYBRID}
        for side in rows:
            others = {key: value for key, value in side.setting.items() if key not in _OF_HYBRID}
            better = side.ndcg is not None and side.ndcg > row.ndcg
            if side.setting.get("mode") in ("vector", "keyword") and others == rest and better:
                said.append(
                    f"hybrid loses against {side.setting['mode']}:"
                    f" nDCG {row.ndcg:.3f} < {side.ndcg:.3f}"
                )
    return list(dict.fromkeys(said))


_OF_HYBRID: Final = frozenset({"mode", "fusion", "weight"})
