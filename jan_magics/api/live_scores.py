"""A search as a view: all candidates, whatever a threshold or k leaves of them."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.collection import Collection
from jan_magics.api.hit_showing import hit_cards
from jan_magics.api.shelf import Shelf
from jan_magics.notebook.hit_cards import Asked
from jan_magics.widgets.score_view import Place, ScoreView

if TYPE_CHECKING:
    import pandas as pd

AGAIN: Final = (
    "a second look sees only what passes the threshold: for the order under another, search again"
)
_BY_CUT: Final = frozenset(("k", "threshold"))
"""What a page decides anew when the threshold moves."""


def score_view(name: str | None, text: str, how: Mapping[str, Any]) -> ScoreView:
    """Search without a threshold, and return all candidates with the threshold that was asked for.

    `name` is the collection's, `how` are options of a search.
    """
    found = Collection(name).search(text, **{**how, "threshold": None, "all": True})
    about, shelf = found.attrs["jan"], Shelf(None, name)
    cards = hit_cards(found).asked
    return ScoreView(
        cards[0] if cards else Asked(text, (), ()),
        tuple(_places(found)),
        int(about.get("k") or how.get("k") or 5),
        how.get("threshold"),
        lambda source: shelf.open().document(source).text,
        AGAIN if how.get("rerank") else "",
    )


def _places(found: "pd.DataFrame") -> Iterator[Place]:
    for row in found.to_dict("records"):
        dropped = row["dropped_by"] if isinstance(row["dropped_by"], str) else ""
        cosine = row["vector"]
        yield Place(
            str(row["chunk"]), str(row["source"]), int(row["start"]), int(row["end"]),
            cosine if isinstance(cosine, float) and isfinite(cosine) else None,
            "" if dropped in _BY_CUT else dropped,
        )  # fmt: skip
