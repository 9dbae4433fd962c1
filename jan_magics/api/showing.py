"""Tables as something to read: pandas cuts texts at 50 characters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.hit_showing import hit_cards
from jan_magics.api.host import language_of
from jan_magics.api.opening import current_host
from jan_magics.domain.errors import SettingError
from jan_magics.notebook.chunk_map import Block, ChunkMap
from jan_magics.notebook.hit_cards import HitCards

if TYPE_CHECKING:
    import pandas as pd

CHUNKS: Final = frozenset(("recipe", "n", "start", "end", "tokens", "text"))
HITS: Final = frozenset(("score", "source", "text"))


def show(frame: "pd.DataFrame") -> ChunkMap | HitCards:
    """Return a table to read in full: of chunks the text, with what each chunk covers.

    Of hits and of an answer's sources: each with its scores and the question's words marked.

    Raises:
        SettingError: when it is no such table.
    """
    columns = set(getattr(frame, "columns", ()))
    if columns >= CHUNKS:
        return _chunk_map(frame)
    if columns >= HITS:
        return hit_cards(frame, language_of(current_host()))
    raise SettingError(
        f"there is nothing to read in a {type(frame).__name__} without a text",
        "Show chunks or hits: jan.show(jan.chunks(text)), jan.show(collection.search(text))",
    )


def _chunk_map(frame: "pd.DataFrame") -> ChunkMap:
    about = frame.attrs.get("jan", {})
    # Rows may have been sorted or left out; a map goes along the text.
    rows = frame.sort_values("start", kind="stable").to_dict("records")
    source, language = str(about.get("source", "text")), language_of(current_host())
    return ChunkMap(source, tuple(map(_block, rows)), language)


def _block(row: Mapping[Any, Any]) -> Block:
    return Block(
        row["recipe"], int(row["n"]), int(row["start"]), int(row["end"]), int(row["tokens"]),
        row["text"], _known(row.get("headings")) or "", _known(row.get("page")),
        _known(row.get("warning")) or "",
    )  # fmt: skip


def _known(value: Any) -> Any:
    """Return a value, None for what a table does not know."""
    import pandas as pd

    return None if pd.isna(value) else value
