"""A thread that is held in memory is the thread on the disk, whoever wrote last."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from jan_magics.domain.messages import Message
from jan_magics.domain.overlays import Hidden, NextRoot, Overlay, Undone
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, Changes, TreeIndex
from jan_magics.engine.branches import drop, go
from jan_magics.engine.trees import KEPT, Trees
from jan_magics.engine.undoing import undo
from tests.engine.threads import Kernel, texts
from tests.kernel import ROOT
from tests.storage.samples import make_message, make_thread
from tests.storage.writer import open_store

OTHER = """
import sys
from itertools import pairwise
from jan_magics.domain.overlays import Hidden
from jan_magics.domain.tree import Changes
from tests.storage.samples import make_message
from tests.storage.writer import open_store
store = open_store(sys.argv[1], sys.argv[2])
for line in sys.stdin:
    match line.split():
        case ["create", name]:
            store.create(make_message(name, parent="a"))
        case ["change", name]:
            store.save(make_message(name, "by the other", parent=None))
        case ["hide", name]:
            store.apply("t", Changes(), [Hidden(name)])
        case ["root", name]:
            store.update_thread("t", metadata={"activeRootId": name})
        case ["delete", name]:
            store.delete("t", name)
    print("done", flush=True)
"""


@pytest.fixture(params=["sqlite", "jsonl"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path) -> Store:
    opened = open_store(kind, tmp_path)
    opened.create_thread(make_thread())
    opened.create(make_message("a", "one", parent=None))
    return opened


def fresh(store: Store) -> tuple[list[Message], list[Message], list[Overlay]]:
    root = store.thread("t").metadata.get(ACTIVE_ROOT_KEY)
    index = TreeIndex(
        store.messages("t"), active_root_id=root if isinstance(root, str) else None,
        tombstones=store.tombstones("t"),
    )  # fmt: skip
    return [*index.messages], [*index.path()], [*store.overlays("t")]


def held(trees: Trees) -> tuple[list[Message], list[Message], list[Overlay]]:
    found = trees.of("t")
    return [*found.index.messages], [*found.index.path()], [*found.records]


def test_what_another_process_writes_is_seen_at_once(
    store: Store, kind: str, tmp_path: Path
) -> None:
    trees = Trees(store)
    command = [sys.executable, "-c", OTHER, kind, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as other:
        assert other.stdin
        assert other.stdout
        seen = [held(trees)]
        for number, line in enumerate(
            ("create b", "change a", "hide a", "create r", "root b", "root a", "delete b")
        ):
            other.stdin.write(f"{line}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            assert held(trees) == fresh(store), line
            seen.append(held(trees))
            # Our own write between two of the other's is laid over what is held.
            trees.apply("t", Changes((make_message(f"m{number}", parent="a"),)))
            assert held(trees) == fresh(store), line
        other.stdin.close()
    assert all(one != another for one, another in pairwise(seen))


WRITES: list[tuple[Changes, list[Overlay]]] = [
    (Changes((make_message("b", parent="a"),)), []),
    (Changes((make_message("c", parent="a"), make_message("d", "more", parent="b"))), []),
    (Changes(active_root_id="a"), [NextRoot("x")]),
    (Changes(), [Hidden("b")]),
    (Changes((make_message("e", parent=None),), "e"), [NextRoot(pending=False)]),
    (Changes(deleted=("c",)), []),
    (Changes((make_message("c", "too late", parent="a"),)), []),
    (Changes((make_message("c", "back", parent="a"),)), [Undone("x")]),
    (Changes(active_root_id="a"), []),
]


def test_what_is_held_is_what_would_be_read(store: Store) -> None:
    trees = Trees(store)
    held(trees)
    for changes, overlays in WRITES:
        trees.apply("t", changes, overlays)
        assert held(trees) == fresh(store)
        trees.save(make_message("a", f"grown {len(changes.save)}", parent=None))
        assert held(trees) == fresh(store)


def test_a_thread_is_read_once(store: Store) -> None:
    trees = Trees(store)
    trees.of("t")  # a folder is folded by its first reader
    first = trees.of("t")
    assert trees.of("t") is first
    trees.apply("t", Changes((make_message("b", parent="a"),)), [Hidden("a")])
    second = trees.of("t")
    assert trees.of("t") is second is not first
    for number in range(KEPT):
        store.create_thread(make_thread(f"t{number}", f"thread {number}"))
        trees.of(f"t{number}")
    assert trees.of("t") is not second


def test_a_switch_shows_what_another_kernel_has_said(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask(aim="retry")
    view = go(kernel.session, 1)
    first = kernel.session
    kernel.open()
    kernel.ask("two")
    kernel.session, second = first, kernel.session
    assert kernel.path() == ["one", "one", "two", "two"]
    go(kernel.session, 2)
    kernel.session = second
    assert kernel.path() == ["one", "one"]
    assert texts(view.path()) == ["one", "one"]


def test_a_drop_and_its_undo_read_no_message_again(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    drop(kernel.session, kernel.id(0))
    before = kernel.session.view()
    undo(kernel.session)
    after = kernel.session.view()
    assert (len(before.hidden), len(after.hidden)) == (1, 0)
    assert all(a is b for a, b in zip(before.index.messages, after.index.messages, strict=True))
