"""Find the files that paths, folders and patterns mean, always in the same order."""

import os
from collections.abc import Iterable, Iterator
from glob import has_magic
from pathlib import Path

from jan_magics.rag.limits import USUAL, Limits, Unreadable


def found(paths: Iterable[str | Path], limits: Limits = USUAL) -> Iterator[Path | Unreadable]:
    """Yield each file once, those of a folder by name, then what is in its folders.

    Hidden folders and files are skipped, and folders that a link leads back to. What is not there
    is a value with its reason.
    """
    seen: set[str] = set()
    count = 0
    for given in paths:
        for each in _meant(given):
            if isinstance(each, Unreadable):
                yield each
                continue
            if (mark := _mark(each)) in seen:
                continue
            seen.add(mark)
            count += 1
            if count > limits.files:
                yield Unreadable(str(given), f"it has more than {limits.files:,} files")
                return
            yield each


def source_of(path: Path, base: Path | None) -> str:
    """Return what names a file: its path from `base` on where it is below it, else all of it."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - a link stays what it is called
    if base is not None and whole.is_relative_to(base):
        return whole.relative_to(base).as_posix()
    return whole.as_posix()


def _meant(given: str | Path) -> Iterator[Path | Unreadable]:
    try:
        path = Path(given).expanduser()
        if path.is_dir():
            yield from _below(path, frozenset())
        elif path.exists() or not has_magic(str(given)):
            yield path  # one that is missing says so when it is read
        else:
            yield from _matching(str(path))
    except (OSError, RuntimeError, ValueError) as fault:
        yield Unreadable(str(given), str(fault))


def _matching(pattern: str) -> Iterator[Path | Unreadable]:
    anchor = Path(pattern).anchor
    # What is hidden is found only by a pattern that says so.
    hidden = any(part.startswith(".") and part not in (".", "..") for part in Path(pattern).parts)
    matches = sorted(Path(anchor or ".").glob(str(Path(pattern).relative_to(anchor or "."))))
    files = [each for each in matches if each.is_file() and (hidden or not _is_hidden(each))]
    yield from files
    if not files:
        yield Unreadable(pattern, "no file matches")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in path.parts)


def _below(folder: Path, above: frozenset[str]) -> Iterator[Path | Unreadable]:
    """Yield the files of a folder; `above` are the folders that it is in."""
    waiting: list[tuple[Path, frozenset[str]]] = [(folder, above)]
    while waiting:
        current, inside = waiting.pop()
        mark = _mark(current)
        if mark in inside:
            continue  # a link that leads back
        try:
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as fault:
            yield Unreadable(current.as_posix(), fault.strerror or str(fault))
            continue
        visible = [entry for entry in entries if not entry.name.startswith(".")]
        yield from (Path(entry.path) for entry in visible if not entry.is_dir())
        deeper = inside | {mark}
        folders = [Path(entry.path) for entry in visible if entry.is_dir()]
        waiting.extend((each, deeper) for each in reversed(folders))


def _mark(path: Path) -> str:
    return os.path.realpath(path)
