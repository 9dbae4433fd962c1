"""Several writers at once, and writers that are killed: the same for every Store."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import pytest

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import text_of
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import TreeIndex
from jan_magics.storage.upkeep import Upkeep
from tests.storage.samples import ids, make_message, make_thread, row
from tests.storage.writer import open_store, states

WRITER = Path(__file__).with_name("writer.py")
ROOT = Path(__file__).parents[2]
ROUNDS = int(os.environ.get("JAN_SOAK", "50"))
"""How often a writer is killed, for each store."""
MIXED, PATIENCE = ("2000", 1500) if "JAN_SOAK" in os.environ else ("500", 100)
"""What each of four writers does to one thread, and the seconds that it may take."""


def test_two_threads_write(store: Store) -> None:
    failures: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for index in range(40):
                store.create(make_message(f"{name}{index}", parent=None))
                store.save(make_message(f"{name}{index}", "saved", parent=None))
        except StoreError as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(name,)) for name in "xy"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store.close()
    found = store.messages("t")
    assert failures == []
    assert sorted(ids(found)) == sorted(f"{name}{index}" for name in "xy" for index in range(40))
    assert {text_of(message) for message in found} == {"saved"}
    assert row(store).branches == 80


def start(kind: str, path: Path, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WRITER), kind, str(path), *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_a_title_is_claimed_once(store: Store) -> None:
    first = make_thread("u", "笔记")
    assert store.claim_thread(first) == first
    assert store.claim_thread(make_thread("v", "笔记")) == first
    assert {each.thread.id for each in store.threads()} == {"t", "u"}
    store.delete_thread("u")
    assert store.claim_thread(make_thread("v", "笔记")).id == "v"


def test_processes_that_claim_a_title_get_one_thread(
    kind: str, store: Store, tmp_path: Path
) -> None:
    callers = [start(kind, tmp_path, "claim", name, "40") for name in "xyz"]
    for each in callers:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    for each in callers:
        assert each.stdin
        each.stdin.write("go\n")
        each.stdin.flush()
    claimed = [each.communicate(timeout=60) for each in callers]
    assert [err for _, err in claimed] == ["", "", ""]
    assert len({out for out, _ in claimed}) == 1
    titles = [each.thread.title for each in store.threads()]
    assert sorted(titles) == sorted({*titles})
    assert len(titles) == 41


def test_four_processes_mix_operations(kind: str, store: Store, tmp_path: Path) -> None:
    writers = [
        start(kind, tmp_path, "mix", name, MIXED, str(seed)) for seed, name in enumerate("wxyz")
    ]
    expected: dict[str, str] = {}
    for writer in writers:
        out, err = writer.communicate(timeout=PATIENCE)
        assert (writer.returncode, err) == (0, "")
        expected |= dict(line.split(" ", 1) for line in out.splitlines())
    found = store.messages("t")
    assert {message.id: text_of(message) for message in found} == expected
    assert len(found) == len(expected) > 400
    assert row(store).messages == len(expected)
    assert faults(store) == []
    # Nothing is doubled in the file either, and what was deleted is out of it.
    store.close()
    for log in tmp_path.rglob("messages.jsonl"):
        assert log.read_bytes().count(b"\n") == len(expected)


def faults(store: Store) -> list[str]:
    """Return what a doctor says, except that half a line of the killed writer was set aside."""
    assert isinstance(store, Upkeep)
    return [line for line in store.check() if "damaged lines were moved" not in line]


def expect_alive(kind: str, path: Path, thread: str, name: str, done: int) -> None:
    """Compare the store with what a writer must have left that was killed after so many steps."""
    store = open_store(kind, path)
    found = store.messages(thread)
    mine = {message.id: text_of(message) for message in found if message.id.startswith(f"{name}-")}
    *_, before, after = states(thread, name, done + 1)
    assert mine in (before, after)
    links = [each for each in store.overlays(thread) if isinstance(each, CellLink)]
    asked = {key for key in before if "-q" in key}
    assert asked <= {link.message for link in links if link.cell == name}
    index = TreeIndex(found, tombstones=store.tombstones(thread))
    assert len(ids(found)) == len(set(ids(found))) == len(index)
    assert not found or index.path()
    store.close()
    assert store.messages(thread) == found


def kill_after(heard: IO[str], steps: int, rest: float) -> int:
    """Kill the writer a little after so many steps; return how many it said it had done."""
    writer, done, said = 0, 0, ""
    while said != "over":
        said = heard.readline().strip()
        if said.startswith("pid"):
            writer = int(said.split()[1])
        elif said != "over":
            done = int(said)
        if writer > 0 and done >= steps:
            time.sleep(rest)
            os.kill(writer, signal.SIGKILL)
            writer = -1
    return done


@pytest.mark.timeout(60 + ROUNDS)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="starting so many programs takes too long")
def test_what_was_written_survives_every_kill(kind: str, store: Store, tmp_path: Path) -> None:
    pause = random.Random(ROUNDS)  # noqa: S311 (a test's dice)
    home = start(kind, tmp_path, "nursery")
    assert home.stdin is not None
    assert home.stdout is not None
    total = 0
    for number in range(ROUNDS):
        thread, name = f"t{number // 10}", f"k{number}"
        store.create_thread(make_thread(thread))
        home.stdin.write(f"{thread} {name}\n")
        home.stdin.flush()
        # Counted in steps, so that a busy machine is as good as an idle one.
        steps, rest = pause.randrange(13), pause.uniform(0.0, 0.004)
        done = kill_after(home.stdout, steps, rest)
        expect_alive(kind, tmp_path, thread, name, done)
        total += done
        if number % 10 == 9:
            assert faults(store) == []
    _, err = home.communicate(timeout=20)
    assert (home.returncode, err, faults(store)) == (0, "", [])
    assert total > ROUNDS


def test_a_program_of_its_own_is_killed(kind: str, store: Store, tmp_path: Path) -> None:
    for number in range(3):
        writer = start(kind, tmp_path, "talk", "t", f"k{number}")
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.02 * number)
        writer.kill()
        # `communicate` would not see what `readline` has read ahead.
        done = 1 + len(writer.stdout.read().splitlines())
        _, err = writer.communicate(timeout=20)
        assert err == ""
        expect_alive(kind, tmp_path, "t", f"k{number}", done)
    store.create(make_message("after"))
    assert ids(store.messages("t"))[-1] == "after"
    assert faults(store) == []
