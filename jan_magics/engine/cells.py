"""Which thread is a notebook's own: decided from its path and from its cells. Pure.

A cell is known by marks: its id, and where another notebook may well have the same id ("cell-1"),
the id with a digest of what it asks. Only marks that no other notebook has by chance count when a
thread is looked for that another path made.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.spots import HEAD, Spot

Marks: TypeAlias = frozenset[str]
Kind: TypeAlias = Literal["own", "new", "continued", "moved", "copied"]

NO_MARKS: Final[Marks] = frozenset()
MOST_MARKS: Final = 200
MOST_FORMER: Final = 5
_HEX: Final = re.compile(r"[0-9a-f-]{8,64}")
_WITH_WORDS: Final = re.compile(r"[\w-]{1,64}:[0-9a-f]{8}")
_ASKS: Final = re.compile(r"%%(?:chat|jan)\b[^\n]*\n(?=.*\S)", re.DOTALL)
_IN_FILES: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Here:
    """Where a call comes from: a notebook's path, "" when unknown, and the running cell's marks.

    Without marks the front end sends no cell ids: nbclient, papermill. `told` is the path that the
    kernel was given, where the notebook was renamed since.
    """

    notebook: str = ""
    marks: Marks = NO_MARKS
    told: str = ""

    @property
    def given(self) -> str:
        """Return the path that the kernel was given, which stays while it lives."""
        return self.told or self.notebook

    @property
    def headless(self) -> bool:
        """Tell whether a known notebook runs without cell ids."""
        return bool(self.notebook) and not self.marks


@dataclass(frozen=True, slots=True)
class NotebookFile:
    """A file at a notebook's path; `marks` None: its cells have no ids, or cannot be read."""

    marks: Marks | None = None


class Files(Protocol):
    """The notebooks of this machine."""

    def at(self, path: str) -> NotebookFile | None:
        """Return the file at a path, None where there is none."""
        ...

    def beside(self, path: str) -> Iterable[NotebookFile]:
        """Return the other notebooks of its folder, the newest first."""
        ...

    def renamed(self, path: str, marks: Marks) -> str | None:
        """Return where the one notebook with that cell lies beside a path that is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """A notebook's own thread: which notebook wrote it last, and the cells that asked there.

    `former` are paths that the notebook had before.
    """

    id: str
    notebook: str
    marks: Marks = NO_MARKS
    former: tuple[str, ...] = ()

    def lay_at(self, path: str) -> bool:
        """Tell whether the notebook lies there, or did."""
        return path == self.notebook or path in self.former


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which thread is the notebook's own.

    own: the notebook is not known, this kernel has a thread of its own · new: a thread is made ·
    continued, moved: it is `thread` · copied: a copy of `thread` is made. `root`: this kernel
    begins a new branch at the root, so that no run sees a former run.
    """

    kind: Kind
    thread: str = ""
    root: bool = False


def decide(here: Here, threads: Sequence[Known], files: Files) -> Verdict:
    """Return which of the threads, the newest first, a notebook goes on with."""
    if not here.notebook:
        return Verdict("own")
    file = files.at(here.notebook)
    # A kernel goes on with the path that it was given: where nothing lies, a former one counts.
    gone = file is None
    near = [t for t in threads if t.notebook == here.notebook or (gone and t.lay_at(here.notebook))]
    found = _at_its_path(here, file, near) or _renamed(here, file, near, files)
    if found:
        return Verdict("continued", found.id, here.headless)
    marks = travelling(here.marks | marks_in(file))
    far = [
        thread
        for thread in threads
        if thread.notebook != here.notebook and not marks.isdisjoint(thread.marks)
    ]
    left = next((t for t in far if not holds(files.at(t.notebook), t.marks)), None)
    if left:
        return Verdict("moved", left.id, here.headless)
    if not far or here.headless:
        return Verdict("new")
    # A copy is a file; a kernel whose file is gone only knows its notebook by a former name.
    return Verdict("copied" if file else "continued", far[0].id)


def marks_of(cell: str, code: str) -> Marks:
    """Return what a cell is known by."""
    if not cell:
        return NO_MARKS
    if _is_random(cell):
        return frozenset({cell})
    # What is asked, and not with which flags: those change without the question.
    words = " ".join(_ASKS.sub("", code.strip(), count=1).split())
    digest = hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()
    return frozenset({cell, f"{cell}:{digest[:8]}"})


def travelling(marks: Iterable[str]) -> Marks:
    """Return the marks that no other notebook has by chance."""
    return frozenset(mark for mark in marks if _is_random(mark) or _WITH_WORDS.fullmatch(mark))


def marks_in(file: NotebookFile | None) -> Marks:
    """Return the marks of a file's cells as far as they are known."""
    return (file.marks if file else None) or NO_MARKS


def holds(file: NotebookFile | None, marks: Marks) -> bool:
    """Tell whether cells with such marks still lie in a file; one that cannot be read has them."""
    return file is not None and (file.marks is None or not file.marks.isdisjoint(marks))


def asked_by(here: Here, files: Files) -> Marks:
    """Return what a thread remembers of the cell that asks.

    Where its id is no file's own (VS Code), or none is sent, the cells of the file stand for it.
    An id that other notebooks have too is known with what it asks here and with what it asks in
    the file: a cell may be run before it is saved, or never saved as it was run.
    """
    if not here.notebook or any(map(_is_random, here.marks)):
        return here.marks
    saved = marks_in(files.at(here.notebook))
    if travelling(here.marks):
        saved = frozenset(mark for mark in saved if mark.partition(":")[0] in here.marks)
    return here.marks | saved


def remembered(known: Iterable[str], marks: Marks) -> list[str]:
    """Return the marks of a thread with new ones behind; too many lose the oldest."""
    return list(dict.fromkeys((*known, *sorted(marks))))[-MOST_MARKS:]


def is_elsewhere(notebook: str, cell: str, files: Files) -> bool:
    """Tell whether a cell of that id is another notebook's: it lies there still."""
    if not _IN_FILES.fullmatch(cell):
        return True
    return bool(notebook) and holds(files.at(notebook), frozenset({cell}))


def spot_of_run(index: TreeIndex, last: str | None, *, begins: bool) -> Spot:
    """Return where a call without a cell id goes; `last` is this kernel's newest message.

    The first call of a kernel `begins` a root branch. A later one goes below the former, also
    when another kernel has begun a branch since, or where stored answers are shown again.
    """
    head = index.head()
    if head is None:
        return HEAD
    if begins:
        return Spot("root")
    if last is None or last not in index or last == head.id:
        return HEAD
    on_path = any(message.id == last for message in index.path())
    return Spot("after", last) if on_path or head.created_at > index[last].created_at else HEAD


def _at_its_path(here: Here, file: NotebookFile | None, near: Sequence[Known]) -> Known | None:
    marks = here.marks | marks_in(file)
    for thread in near:
        if not marks.isdisjoint(thread.marks):
            return thread
    untold = file is not None and file.marks is None
    if here.headless or untold:  # there is nothing but the path
        return next(iter(near), None)
    return next((thread for thread in near if not thread.marks), None)


def _renamed(
    here: Here, file: NotebookFile | None, near: Sequence[Known], files: Files
) -> Known | None:
    """Find the thread of a notebook that was renamed in its folder while its kernel ran."""
    if file is not None or not near:
        return None
    beside = frozenset[str]().union(*(marks_in(other) for other in files.beside(here.notebook)))
    return next((thread for thread in near if not beside.isdisjoint(thread.marks)), None)


def known_thread(identifier: str, ours: Mapping[str, object]) -> Known | None:
    """Return a notebook's own thread from what we keep of it; None for one with a name."""
    notebook, cells, former = (ours.get(key) for key in ("notebook", "cells", "former"))
    if not isinstance(notebook, str) or not isinstance(cells, list):
        return None
    paths = filter(_is_text, former) if isinstance(former, list) else ()
    return Known(identifier, notebook, frozenset(filter(_is_text, cells)), tuple(paths))


def formerly(ours: Mapping[str, object], notebook: str) -> list[str]:
    """Return the paths that a thread's notebook had before it lay at this one, the newest last."""
    known = known_thread("", ours)
    paths = (*known.former, known.notebook) if known else ()
    return [path for path in dict.fromkeys(paths) if path != notebook][-MOST_FORMER:]


def _is_random(identifier: str) -> bool:
    """Tell whether an id is one of nbformat's or a UUID; "00000001" is one that people count."""
    letters = set(identifier)
    mixed = not letters.isdisjoint("abcdef") and not letters.isdisjoint("0123456789")
    return mixed and len(letters) > 3 and _HEX.fullmatch(identifier) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str)
