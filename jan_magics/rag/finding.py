"""Find the files that paths, folders and patterns mean, always in the same order."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

from jan_magics.rag.limits import USUAL, Limits, Unreadable


@dataclass(frozen=True, slots=True)
class _Match:
    """A file that is meant: `mark` is what it is in the end, `own` that no link leads to it."""

    path: Path
    mark: str
    own: bool


def found(paths: Iterable[str | Path], limits: Limits = USUAL) -> Iterator[Path | Unreadable]:
    """Yield each file once, those of a folder by name, then what is in its folders.

    A file that is meant by its own name and by a link is named by its own. Hidden folders and files
    are skipped, and folders that a link leads back to. What is not there is a value with its
    reason.
    """
    matches = list(_matches(paths, limits))
    own = {each.mark for each in matches if isinstance(each, _Match) and each.own}
    seen: set[str] = set()
    for each in matches:
        if isinstance(each, Unreadable):
            yield each
        elif each.mark not in seen and (each.own or each.mark not in own):
            seen.add(each.mark)
            yield each.path


def _matches(paths: Iterable[str | Path], limits: Limits) -> Iterator[_Match | Unreadable]:
    """Yield what is meant, until it is too much."""
    seen: set[str] = set()
    for given in paths:
        for each in _meant(given):
            if isinstance(each, _Match) and each.mark not in seen:
                seen.add(each.mark)
                if len(seen) > limits.files:
                    yield Unreadable(str(given), f"it has more than {limits.files:,} files")
                    return
            yield each


def source_of(path: Path, base: Path | None) -> str:
    """Return what names a file: its path from `base` on where it is below it, else all of it."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - a link stays what it is called
    if base is not None and whole.is_relative_to(base):
        return whole.relative_to(base).as_posix()
    return whole.as_posix()


def _meant(given: str | Path) -> Iterator[_Match | Unreadable]:
    try:
        path = Path(given).expanduser()
        if path.is_dir():
            yield from _marked(path, _below(path, _above(path)))
        elif path.exists() or not has_magic(str(given)):
            # One that is missing says so when it is read.
            yield from _marked(path.parent, [path])
        else:
            root, parts = _fixed(path)
            yield from _marked(root, _matching(str(path), root, parts))
    except (OSError, RuntimeError, ValueError) as fault:
        yield Unreadable(str(given), str(fault))


def _marked(root: Path, files: Iterable[Path | Unreadable]) -> Iterator[_Match | Unreadable]:
    """Tell of files below a folder, itself perhaps behind a link, what they are in the end."""
    real = _mark(root)
    for each in files:
        if isinstance(each, Unreadable):
            yield each
        else:
            mark = _mark(each)
            yield _Match(each, mark, mark == os.path.normpath(Path(real, each.relative_to(root))))


def _fixed(pattern: Path) -> tuple[Path, tuple[str, ...]]:
    """Return the folder before the first part of a pattern that is one, and the other parts."""
    parts = pattern.parts
    first = next(n for n, part in enumerate(parts) if has_magic(part))
    return Path(*parts[:first]), parts[first:]


def _matching(pattern: str, root: Path, parts: tuple[str, ...]) -> Iterator[Path | Unreadable]:
    # What is hidden is found only by a pattern that says so.
    hidden = any(part.startswith(".") and part not in (".", "..") for part in Path(pattern).parts)
    files = sorted(set(_expanded(root, parts, _above(root), hidden=hidden)))
    yield from files
    if not files:
        yield Unreadable(pattern, "no file matches")


def _expanded(
    folder: Path, parts: tuple[str, ...], above: frozenset[str], *, hidden: bool
) -> Iterator[Path]:
    """Yield the files below a folder that parts of a pattern match; no link is followed back."""
    mark = _mark(folder)
    part, rest = parts[0], parts[1:]
    deep = part == "**"
    if mark in above and deep:
        return
    inside = above | {mark}
    if deep:
        yield from _expanded(folder, rest or ("*",), above, hidden=hidden)
    named = [folder / part] if not has_magic(part) else _entries(folder, hidden=hidden)
    for each in named:
        if deep:
            if each.is_dir():
                yield from _expanded(each, parts, inside, hidden=hidden)
        elif not has_magic(part) or fnmatchcase(each.name, part):
            if not rest and each.is_file():
                yield each
            elif rest and each.is_dir() and _mark(each) not in inside:
                yield from _expanded(each, rest, inside, hidden=hidden)


def _entries(folder: Path, *, hidden: bool) -> list[Path]:
    """Return what is in a folder, by name; nothing where it may not be read."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [each for each in entries if hidden or not each.name.startswith(".")]


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


def _above(folder: Path) -> frozenset[str]:
    """Return the folders that a folder is in: a link to one of them leads back."""
    return frozenset(str(each) for each in Path(_mark(folder)).parents)


def _mark(path: Path) -> str:
    return os.path.realpath(path)
