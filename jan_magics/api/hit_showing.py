"""Tables of hits and of sources as cards."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from jan_magics.domain.counting import counted
from jan_magics.notebook.hit_cards import Asked, Bar, Card, HitCards
from jan_magics.notebook.wording import worded
from jan_magics.rag.marking import marks

if TYPE_CHECKING:
    import pandas as pd

STAGES: Final = (("score", None), ("vector", "vector_rank"), ("bm25", "bm25_rank"),
                 ("rerank", None))  # fmt: skip
"""The scores that are shown, each with the rank that it gave; a cosine fills its bar at 1."""
HOW: Final = ("mode", "embedder", "weight", "threshold", "rerank")


def hit_cards(frame: "pd.DataFrame", language: str = "") -> HitCards:
    """Return a table with `score`, `source` and `text` as cards, its questions in their order.

    Columns that are not there are left out, and words are marked where the question is known.
    """
    rows = frame.to_dict("records")
    about = frame.attrs.get("jan", {})
    searches = about.get("searches", (about,))
    told = {str(each.get("question", "")): each for each in searches}
    alone = next(iter(told), "")
    by_question: dict[str, list[Mapping[Any, Any]]] = {}
    for row in rows:
        by_question.setdefault(str(row.get("question", alone)), []).append(row)
    return HitCards(
        tuple(
            _asked(question, each, told.get(question, {}), language)
            for question, each in by_question.items()
        ),
        language,
    )


def _asked(
    question: str, rows: list[Mapping[Any, Any]], about: Mapping[str, Any], language: str
) -> Asked:
    largest = {name: max((_number(row.get(name)) or 0 for row in rows), default=0)
               for name, _ in STAGES}  # fmt: skip
    how = tuple(f"{name} {about[name]}" for name in HOW if about.get(name) is not None)
    said = partial(worded, language=language)
    cards = tuple(_card(question, row, largest, said) for row in rows)
    return Asked(question, how, cards, language)


def _card(
    question: str, row: Mapping[Any, Any], largest: Mapping[str, float], said: Callable[[str], str]
) -> Card:
    used, text = bool(_known(row.get("used", True))), str(_known(row["text"]) or "")
    dropped = _known(row.get("dropped_by"))
    state = "used" if used else f"not used: dropped by {dropped}"
    n, rank = _known(row.get("n")), _known(row.get("rank"))
    if n is not None:
        state = "cited" if _known(row.get("cited")) else "sent, not cited"
    number = f"[{n}]" if n is not None else f"rank {rank}" if rank is not None else "hit"
    return Card(
        said(number), said(state), used, str(row["source"]), text, tuple(_bars(row, largest)),
        tuple(_facts(row, said)), tuple(marks(question, text)),
    )  # fmt: skip


def _facts(row: Mapping[Any, Any], said: Callable[[str], str]) -> Iterator[str]:
    known = {name: _known(row.get(name)) for name in ("headings", "page", "tokens", "start", "end")}
    if known["headings"]:
        yield str(known["headings"])
    if known["page"] is not None:
        yield said(f"page {known['page']}")
    if known["tokens"] is not None:
        yield said(counted(int(known["tokens"]), "token"))
    if known["start"] is not None and known["end"] is not None:
        yield said(f"characters {int(known['start']):,}–{int(known['end']):,}")
    if chunk := _known(row.get("chunk")):
        yield said(f"chunk {chunk}")


def _bars(row: Mapping[Any, Any], largest: Mapping[str, float]) -> Iterator[Bar]:
    for name, ranked in STAGES:
        value = _number(row.get(name))
        if value is not None:
            full = 1.0 if name == "vector" else largest[name]
            rank = _known(row.get(ranked)) if ranked else None
            yield Bar(name, value, full, rank)


def _number(value: Any) -> float | None:
    known = _known(value)
    return float(known) if known is not None and isfinite(known) else None


def _known(value: Any) -> Any:
    """Return a value, None for what a table does not know."""
    import pandas as pd

    return None if pd.isna(value) else value
