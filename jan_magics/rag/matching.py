"""Which documents of a collection a path, a folder or a pattern means, there or no longer."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path, PurePosixPath

from jan_magics.domain.errors import RetrievalError
from jan_magics.rag.finding import source_of

_PATIENCE = 5_000
"""Sources that are looked at for a near name."""


def place_of(source: str, base: Path | None) -> Path | None:
    """Return the file that a source names, None where it names none; `base` as in `source_of`.

    >>> place_of("a.md", Path("/notes")), place_of("a.md", None), place_of("https://a/b", None)
    (PosixPath('/notes/a.md'), None, None)
    """
    if "://" in source:
        return None
    path = Path(source)
    return path if path.is_absolute() else None if base is None else base / path


def meant(given: str | Path, sources: Sequence[str], base: Path | None) -> list[str]:
    """Return the sources that are meant: the one of that name, all below it, or all that match.

    Paths are read as they are when files are added: `~`, relative to the working folder, absolute.
    """
    text = str(given)
    if text in sources:
        return [text]
    whole = _whole(text)
    places = {each: place.as_posix() for each in sources if (place := place_of(each, base))}
    named = [each for each in sources if places.get(each) == whole]
    if named:
        return named
    # What is no file is named as it stands: `title/` are all rows of a table.
    loose = [each for each in sources if not each.startswith("/")]
    below = [each for each in sources if _is_below(places.get(each, ""), whole)]
    below = below or [each for each in loose if _is_below(each, text)]
    if below or not has_magic(text):
        return below
    as_named = {each for each in loose if matches(each, text)}
    return [each for each in sources if each in as_named or matches(places.get(each, ""), whole)]


def gone(given: Iterable[str | Path], sources: Sequence[str], base: Path | None) -> Iterator[str]:
    """Yield the sources among what is meant whose files are no longer there, each once."""
    wanted = dict.fromkeys(source for each in given for source in meant(each, sources, base))
    yield from missing(wanted, base)


def missing(sources: Iterable[str], base: Path | None) -> Iterator[str]:
    """Yield the sources that name files which are no longer there."""
    for source in sources:
        place = place_of(source, base)
        if place is not None and not os.path.lexists(place):
            yield source


def matches(path: str, pattern: str) -> bool:
    """Tell whether a pattern matches a whole path; `**` stands for any folders.

    >>> matches("/notes/a/b.md", "/notes/**/*.md"), matches("/notes/a/b.md", "/notes/*.md")
    (True, False)
    """
    return _fits(PurePosixPath(path).parts, PurePosixPath(pattern).parts)


def none_is(given: str | Path, sources: Sequence[str]) -> RetrievalError:
    """Return the error for a document that is not there, with the nearest name."""
    text = str(given)
    some = sources[:_PATIENCE]
    near = get_close_matches(text, some, 1)
    if not near:
        # Written with another folder, or without one.
        by_name = {PurePosixPath(each).name: each for each in reversed(some)}
        near = [by_name[name] for name in get_close_matches(Path(text).name, by_name, 1)]
    closest = f", closest: {near[0]!r}" if near else ""
    return RetrievalError(f"no document {text!r}{closest}", "List them with: %rag documents")


def typed(source: str) -> str:
    """Return a source as it is typed on a line: quoted where it has to be."""
    return source if re.fullmatch(r"[^\s'\"\\]+", source) else repr(source)


def _whole(text: str) -> str:
    try:
        return source_of(Path(text).expanduser(), None)
    except (OSError, RuntimeError, ValueError):
        return text  # the home of nobody


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        rest = pattern[1:] or ("*",)
        return any(_fits(parts[at:], rest) for at in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])
