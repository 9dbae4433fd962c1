"""Which thread is a notebook's own: every case of the decision, and where headless calls go."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.overlays import CellLink, Change, Hidden, Overlay
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.cells import (
    MOST_MARKS,
    Here,
    Known,
    NotebookFile,
    Verdict,
    asked_by,
    decide,
    is_elsewhere,
    marks_of,
    remembered,
    spot_of_run,
    travelling,
)
from jan_magics.engine.copies import copy_path
from jan_magics.engine.spots import HEAD, Spot

A, B, C = "0a1b2c3d", "4e5f6a7b", "8c9d0e1f"
OLD, NEW = "/n/old.ipynb", "/n/new.ipynb"
UNTOLD = NotebookFile()
GONE: Mapping[str, NotebookFile] = {}


def file(*cells: str) -> NotebookFile:
    return NotebookFile(frozenset[str]().union(*(marks_of(cell, "%%chat\nhi") for cell in cells)))


def here(path: str, cell: str = "", code: str = "%%chat\nhi") -> Here:
    return Here(path, marks_of(cell, code))


def known(identifier: str, path: str, *cells: str) -> Known:
    return Known(identifier, path, file(*cells).marks or frozenset())


@dataclass
class Disk:
    """Notebooks by path; `read` counts how often one was looked at."""

    files: Mapping[str, NotebookFile]
    read: list[str] = field(default_factory=list)

    def at(self, path: str) -> NotebookFile | None:
        self.read.append(path)
        return self.files.get(path)

    def beside(self, path: str) -> Iterable[NotebookFile]:
        return [found for name, found in self.files.items() if name != path]

    def renamed(self, path: str, marks: frozenset[str]) -> str | None:
        return None  # here every call tells where its notebook lies


T = known("t", OLD, A)
MOVED = Known("t", NEW, marks_of(A, ""), (OLD,))
CASES = [
    # the same path
    ("the running cell is known", here(OLD, A), [T], {OLD: file(B)}, Verdict("continued", "t")),
    ("the file holds a known cell", here(OLD, B), [T], {OLD: file(A)}, Verdict("continued", "t")),
    ("the notebook was made anew", here(OLD, B), [T], {OLD: file(B)}, Verdict("new")),
    ("a new empty notebook", here(OLD, B), [T], {OLD: file()}, Verdict("new")),
    ("not saved yet", here(OLD, B), [T], GONE, Verdict("new")),
    ("cells of an old format", here(OLD, B), [T], {OLD: UNTOLD}, Verdict("continued", "t")),
    ("asked from Python only", here(OLD, B), [known("t", OLD)], {OLD: file(B)},
     Verdict("continued", "t")),
    ("the newest that knows a cell", here(OLD, A), [known("n", OLD, A), T], {OLD: file(A)},
     Verdict("continued", "n")),
    ("a cell id of VS Code", here(OLD, "vscode#W0sZg%3D"), [known("t", OLD, "vscode#W0sZg%3D")],
     {OLD: file(B)}, Verdict("continued", "t")),
    # the kernel knows the notebook by a former name
    ("renamed, known cell", here(OLD, A), [T], {NEW: file(A)}, Verdict("continued", "t")),
    ("renamed, new cell", here(OLD, B), [T], {NEW: file(A, B)}, Verdict("continued", "t")),
    ("renamed, reopened, old kernel", here(OLD, A), [known("t", NEW, A)], {NEW: file(A)},
     Verdict("continued", "t")),
    ("renamed, reopened, old kernel, new cell", here(OLD, B), [MOVED],
     {NEW: file(A)}, Verdict("continued", "t")),
    ("a new notebook at a former path", here(OLD, B), [MOVED],
     {NEW: file(A), OLD: file(B)}, Verdict("new")),
    # another path
    ("moved", here(NEW, A), [T], {NEW: file(A)}, Verdict("moved", "t")),
    ("moved, new cell", here(NEW, B), [T], {NEW: file(A, B)}, Verdict("moved", "t")),
    ("moved, another lies there now", here(NEW, A), [T], {NEW: file(A), OLD: file(C)},
     Verdict("moved", "t")),
    ("copied", here(NEW, A), [T], {NEW: file(A), OLD: file(A)}, Verdict("copied", "t")),
    ("copied, the original unreadable", here(NEW, A), [T], {NEW: file(A), OLD: UNTOLD},
     Verdict("copied", "t")),
    ("moved rather than copied", here(NEW, A), [known("n", "/n/other.ipynb", A), T],
     {NEW: file(A), "/n/other.ipynb": file(A)}, Verdict("moved", "t")),
    ("unrelated", here(NEW, B), [T], {NEW: file(B), OLD: file(A)}, Verdict("new")),
    ("a path of its own comes first", here(NEW, A), [T, known("n", NEW, A)],
     {NEW: file(A), OLD: file(A)}, Verdict("continued", "n")),
    # ids that many notebooks have
    ("the same plain id and code", here(NEW, "c1"), [known("t", OLD, "c1")], {NEW: file("c1")},
     Verdict("moved", "t")),
    ("the same plain id, other flags", here(NEW, "c1", "%%chat -m a:b\nhi"),
     [known("t", OLD, "c1")], {NEW: file()}, Verdict("moved", "t")),
    ("the same plain id, changed and not saved yet", here(NEW, "c1", "%%chat\nho"),
     [known("t", OLD, "c1")], {NEW: file("c1")}, Verdict("moved", "t")),
    ("the same plain id and code, in both notebooks", here(NEW, "c1"), [known("t", OLD, "c1")],
     {NEW: file("c1"), OLD: file("c1")}, Verdict("copied", "t")),
    ("ids that people count are plain", here(NEW, "00000001", "x"), [known("t", OLD, "00000001")],
     {NEW: file()}, Verdict("new")),
    ("the same plain id, other code", here(NEW, "c1", "x"), [known("t", OLD, "c1")],
     {NEW: NotebookFile(marks_of("c1", "x"))}, Verdict("new")),
    ("VS Code's ids do not travel", here(NEW, "vscode#W0sZg%3D"),
     [known("t", OLD, "vscode#W0sZg%3D")], {NEW: file(B)}, Verdict("new")),
    # no cell ids
    ("headless", here(OLD), [T], {OLD: file(A)}, Verdict("continued", "t", root=True)),
    ("headless, generated anew", here(OLD), [T], {OLD: file(B)}, Verdict("continued", "t", True)),
    ("headless, for the first time", here(OLD), [], {OLD: file(A)}, Verdict("new")),
    ("headless, moved", here(NEW), [T], {NEW: file(A)}, Verdict("moved", "t", root=True)),
    ("headless, an output beside it", here(NEW), [T], {NEW: file(A), OLD: file(A)}, Verdict("new")),
    ("not even the notebook", here(""), [T], {OLD: file(A)}, Verdict("own")),
    ("a cell, but no notebook", here("", A), [T], {OLD: file(A)}, Verdict("own")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "threads", "files", "verdict"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_verdict(
    call: Here, threads: list[Known], files: Mapping[str, NotebookFile], verdict: Verdict
) -> None:
    assert decide(call, threads, Disk(files)) == verdict


def test_few_files_are_read_among_many_threads() -> None:
    threads = [known(f"t{n}", f"/n/{n}.ipynb", f"{n:08x}") for n in range(10_000)]
    disk = Disk({NEW: file("00000007"), "/n/7.ipynb": file("00000007")})
    assert decide(here(NEW, "00000007"), threads, disk) == Verdict("copied", "t7")
    assert disk.read == [NEW, "/n/7.ipynb"]


def test_marks() -> None:
    assert marks_of("", "x") == frozenset()
    assert marks_of(A, "x") == {A}
    assert len(marks_of("cell-1", "x")) == 2
    assert marks_of("cell-1", "%%chat -q\nhi  there\n") == marks_of("cell-1", "%%jan\nhi there")
    assert marks_of("cell-1", "%%chat\n\n") != marks_of("cell-1", "%%jan\n\n")
    assert marks_of("cell-1", "x\n") == marks_of("cell-1", "x") != marks_of("cell-1", "y")
    assert travelling(marks_of("vscode#W0sZg%3D", "x")) == frozenset()


def test_a_cell_that_no_file_names_is_remembered_with_the_cells_of_its_file() -> None:
    disk = Disk({OLD: file(A)})
    assert asked_by(here(OLD, B), disk) == {B}
    assert asked_by(here(OLD), disk) == {A}
    assert asked_by(here(OLD, "vscode#W0sZg%3D"), disk) > {A, "vscode#W0sZg%3D"}
    assert asked_by(here(""), disk) == frozenset()


def test_a_plain_id_is_remembered_with_what_it_asks_in_the_file_too() -> None:
    disk = Disk({OLD: NotebookFile(marks_of("c1", "saved") | marks_of("c2", "other"))})
    assert asked_by(here(OLD, "c1", "run"), disk) == marks_of("c1", "run") | marks_of("c1", "saved")


def test_marks_of_a_thread_are_bounded_and_keep_the_newest() -> None:
    many = remembered([str(n) for n in range(MOST_MARKS)], frozenset({A}))
    assert len(many) == MOST_MARKS
    assert many[-1] == A
    assert remembered([A], frozenset({A})) == [A]


def test_two_notebooks_may_share_a_thread_with_a_name() -> None:
    assert is_elsewhere(OLD, A, Disk({OLD: file(A)}))
    assert not is_elsewhere(OLD, A, Disk({OLD: file(B)}))
    assert not is_elsewhere(OLD, A, Disk(GONE))
    assert not is_elsewhere("", A, Disk(GONE))
    assert is_elsewhere(OLD, "vscode#W0sZg%3D", Disk(GONE))


def message(identifier: str, parent: str | None, minute: int) -> Message:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    return Message(identifier, "t", "user", (TextPart(identifier),), at, parent)


def test_a_run_without_cell_ids_keeps_to_its_branch() -> None:
    former, mine, other = message("f", None, 0), message("m", None, 1), message("o", None, 2)
    assert spot_of_run(TreeIndex(), None, begins=True) == HEAD
    assert spot_of_run(TreeIndex([former]), None, begins=True) == Spot("root")
    both = TreeIndex([former, mine], active_root_id="m")
    assert spot_of_run(both, "m", begins=False) == HEAD
    three = TreeIndex([former, mine, other], active_root_id="o")
    assert spot_of_run(three, "m", begins=False) == Spot("after", "m")
    gone_back = TreeIndex([former, mine, other], active_root_id="f")
    assert spot_of_run(gone_back, "m", begins=False) == HEAD


def test_a_copy_has_ids_of_its_own_and_knows_its_cells() -> None:
    path = [message("q", None, 0), message("r", "q", 1)]
    records: list[Overlay] = [
        CellLink(OLD, A, 0, "q"),
        CellLink(OLD, B, 0, "elsewhere"),
        Hidden("r"),
        Change("c", "branch", {"head": "r"}, path[0].created_at),
    ]
    ids = iter("12")
    copied = copy_path(path, records, thread="u", notebook=NEW, new_id=lambda: next(ids))
    assert [(m.id, m.parent_id, m.thread_id) for m in copied.messages] == [
        ("1", None, "u"),
        ("2", "1", "u"),
    ]
    assert copied.overlays == (CellLink(NEW, A, 0, "1"), Hidden("2"))
    assert [m.parts for m in copied.messages] == [m.parts for m in path]
