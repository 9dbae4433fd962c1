"""One question and what a search found for it: what was wanted, what of it was found, how well."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Hit
from jan_magics.rag import metrics

NEEDED: Final = ("question", "source")


@dataclass(frozen=True, slots=True, order=True)
class Wanted:
    """A place that answers a question: characters of a source, or all of it."""

    source: str
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        return self.source if self.start is None else f"{self.source}[{self.start}:{self.end}]"

    def found_by(self, hit: Hit) -> bool:
        """Tell whether a chunk holds it: they share at least half of the shorter one."""
        if hit.source != self.source or self.start is None or self.end is None:
            return hit.source == self.source
        shared = min(hit.chunk.end, self.end) - max(hit.chunk.start, self.start)
        least = min(hit.chunk.end - hit.chunk.start, self.end - self.start)
        return shared > 0 and 2 * shared >= least


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the places that answer it; without any it cannot be judged.

    `absent` are places in sources that are not there to be found.
    """

    text: str
    wanted: tuple[Wanted, ...] = ()
    absent: tuple[Wanted, ...] = ()

    @property
    def spans(self) -> tuple[metrics.Span, ...]:
        """Return the places in characters, () where one of them is a whole source."""
        known = tuple(
            (each.source, each.start, each.end)
            for each in self.wanted
            if each.start is not None and each.end is not None
        )
        return known if len(known) == len(self.wanted) else ()


@dataclass(frozen=True, slots=True)
class Judged:
    """How well a question was answered; None: it says nothing about that.

    `first_rank` counts from 1, `tokens` are those of the rows, `seconds` what the search took.
    """

    question: str
    recall: float | None
    precision: float | None
    mrr: float | None
    ndcg: float | None
    span_recall: float | None
    span_precision: float | None
    iou: float | None
    first_rank: int | None
    found: tuple[str, ...]
    missed: tuple[str, ...]
    tokens: int
    seconds: float


def read_questions(rows: Iterable[Mapping[str, object]]) -> tuple[Question, ...]:
    """Read questions from rows `question, source, start, end`; equal ones share their answers.

    A source that is missing makes a question that cannot be judged; a start or end that is
    missing makes all of the source the answer.

    Raises:
        SettingError: when a column is missing, or a place is none; the row is named.
    """
    found: dict[str, list[Wanted]] = {}
    for number, row in enumerate(rows, 1):
        if missing := [name for name in NEEDED if name not in row]:
            raise SettingError(
                f"row {number} of the questions has no {missing[0]!r}",
                "Give the columns question, source, start and end, as %rag questions makes them",
            )
        text = _text(row["question"])
        places = found.setdefault(text, [])
        source = _text(row["source"])
        if source:
            places.append(Wanted(source, *_places(row, number)))
    return tuple(Question(text, tuple(dict.fromkeys(places))) for text, places in found.items())


def among(questions: Iterable[Question], sources: Collection[str]) -> tuple[Question, ...]:
    """Return questions that want only what can be found in these sources, the rest as absent."""
    return tuple(
        replace(
            question,
            wanted=tuple(each for each in question.wanted if each.source in sources),
            absent=tuple(each for each in question.wanted if each.source not in sources),
        )
        for question in questions
    )


def judge(question: Question, hits: Sequence[Hit], k: int, seconds: float = 0.0) -> Judged:
    """Judge the first k hits of a question.

    A place that several chunks hold counts once, at its first rank; so does a source where whole
    sources are wanted.
    """
    rows = [hit for hit in hits if hit.used][:k]
    ranking = _ranking(question, rows)
    gains = {str(each): 1.0 for each in question.wanted}
    spans = question.spans
    span_recall, span_precision, iou = metrics.span_scores(
        ((hit.source, hit.chunk.start, hit.chunk.end) for hit in rows), spans
    )
    return Judged(
        question.text,
        metrics.recall(ranking, gains, len(ranking)),
        metrics.precision(ranking, gains, k),
        metrics.reciprocal_rank(ranking, gains),
        metrics.ndcg(ranking, gains, k),
        span_recall,
        span_precision,
        iou,
        metrics.first_rank(ranking, gains),
        tuple(each for each in gains if each in ranking),
        (
            *(each for each in gains if each not in ranking),
            *(f"{each} (not in the collection)" for each in question.absent),
        ),
        sum(hit.chunk.tokens for hit in rows),
        seconds,
    )


def _ranking(question: Question, rows: Sequence[Hit]) -> list[str]:
    whole = all(each.start is None for each in question.wanted)
    ranking: list[str] = []
    for hit in rows:
        held = [str(each) for each in question.wanted if each.found_by(hit)]
        # No name of a place begins like this.
        ranking += held or [f"\0{hit.source if whole else hit.chunk.id}"]
    return metrics.collapsed(ranking)


def _places(row: Mapping[str, object], number: int) -> tuple[int | None, int | None]:
    start, end = (_place(row.get(name), name, number) for name in ("start", "end"))
    if start is None or end is None:
        return None, None
    if not 0 <= start < end:
        raise SettingError(
            f"row {number} of the questions has no place from {start} to {end}",
            "Give characters, from 0, the end behind the last one: source.text[start:end]",
        )
    return start, end


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _place(value: object, name: str, row: int) -> int | None:
    """Return a number of characters; None for none, and for the NaN that stands for none."""
    if value is None or (isinstance(value, float) and isnan(value)) or value == "":
        return None
    try:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            number = float(value)
            if number == int(number):
                return int(number)
    except (ValueError, OverflowError):
        pass
    raise SettingError(
        f"row {row} of the questions: {name} is {value!r}",
        "Give a number of characters, or leave start and end empty: all of the source answers",
    )
