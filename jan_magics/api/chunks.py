"""How a text would be cut, as a table, before anything is embedded or stored."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.fetching import document_at
from jan_magics.api.opening import current_host
from jan_magics.domain.errors import RetrievalError, SettingError
from jan_magics.domain.retrieval import Document, Recipe
from jan_magics.engine.fetching import is_address
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import Counter, counter_here
from jan_magics.rag.decoding import clean
from jan_magics.rag.documents import read
from jan_magics.rag.limits import MEGABYTE, USUAL, Limits, Unreadable
from jan_magics.rag.recipes import recipes_of

if TYPE_CHECKING:
    import pandas as pd

TEXT: Final = "text"
"""The source of a text that is in no file."""
_LIKE_A_PATH: Final = re.compile(r"(?:\S*[/\\])?\S+\.[A-Za-z][A-Za-z0-9]{0,9}|\S*[/\\]\S*")


def chunks(
    text_or_path: str | Path,
    *,
    size: int | str | None = 200,
    overlap: int | str | None = 40,
    splitter: str = "recursive",
    grid: Mapping[str, Sequence[Any]] | None = None,
) -> "pd.DataFrame":
    """Return how a text, file or address would be cut; nothing is embedded or stored.

    Sizes are tokens, or characters with a `c` ("512c") and for the splitter chars; None is what is
    usual for the splitter: recursive, chars, markdown, code or tokens. A text is read as Markdown.
    `grid` maps size, overlap and splitter to lists: all combinations are tried, and each row says
    by its recipe which one it is of. The overlap with the chunk before is in tokens.

    Raises:
        SettingError: when a size, overlap or splitter cannot be used, or something else was given.
        RetrievalError: when there is no such file, or it cannot be read.
    """
    from jan_magics.frames import frame

    document, counter = _document(_checked(text_or_path)), counter_here()
    recipes = list(recipes_of(counter, grid, size=size, overlap=overlap, splitter=splitter))
    rows = [row for recipe in recipes for row in _rows(document, recipe, counter)]
    made = frame("chunks", rows)
    made.attrs["jan"] |= {
        "source": document.source, "recipe": "; ".join(map(str, recipes)),
        "exact": all(recipe.exact for recipe in recipes), "warning": document.warning,
    }  # fmt: skip
    return made


def _checked(given: object) -> str | Path:
    """Return a text or path as it is. Raises SettingError for anything else."""
    from jan_magics.frames import is_frame

    if isinstance(given, str | Path):
        return given
    if is_frame(given):
        raise SettingError(
            f"a {type(given).__name__} is many texts, and one is cut here",
            "Look at one row: jan.chunks(frame['text'].iloc[0])   or add all of them:"
            " jan.Collection('name').add(frame, text='text')",
        )
    raise SettingError(
        f"{type(given).__name__} is nothing that can be cut",
        "Pass a text, or the path of a file: jan.chunks('notes.md')",
    )


def _document(given: str | Path) -> Document:
    if isinstance(given, str) and is_address(given):
        found = document_at(current_host(), given, limits_here())
    elif path := _path(given):
        found = read(path, limits_here())
    else:
        cleaned = clean(str(given))
        return Document(TEXT, cleaned.text, "markdown", warning=cleaned.warning)
    if isinstance(found, Unreadable):
        raise RetrievalError(
            f"{found.source!r} cannot be cut: {found.reason}",
            "Name a file that has text, or pass the text itself: jan.chunks(text)",
        )
    return found


def limits_here() -> Limits:
    """Return how large a file may be here. Raises SettingError when the setting cannot be used."""
    known = current_host().opening.settings().get("rag.max_file_mb").value
    return replace(USUAL, file_bytes=int(known) * MEGABYTE) if known else USUAL


def _path(given: str | Path) -> Path | None:
    """Return the file that is meant, None where a text is."""
    if isinstance(given, Path):
        return given.expanduser()
    if len(given) > 1024 or "\n" in given or "\0" in given or not given.strip():
        return None
    path = Path(given)
    try:
        path = path.expanduser()
        there = path.exists()
    except (OSError, RuntimeError):
        # Too long for a name, or the home of nobody.
        there = False
    return path if there or _LIKE_A_PATH.fullmatch(given.strip()) else None


def _rows(document: Document, recipe: Recipe, counter: Counter) -> Iterator[Mapping[str, Any]]:
    before, said = None, document.warning
    for chunk in cut(document, recipe, counter):
        shared = document.text[chunk.start : before.end] if before else ""
        yield {
            "recipe": str(recipe),
            "n": chunk.index + 1,
            "start": chunk.start,
            "end": chunk.end,
            "tokens": chunk.tokens,
            "overlap_prev": counter.count(shared) if shared else 0,
            "headings": " › ".join(chunk.headings) or None,
            "page": chunk.page,
            # What had to be guessed or replaced in the whole text stands in its first row.
            "warning": "; ".join(filter(None, (said, chunk.warning))) or None,
            "text": document.text[chunk.start : chunk.end],
        }
        before, said = chunk, None
