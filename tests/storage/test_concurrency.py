"""Several writers at once, and writers that are killed: the same for every Store."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import text_of
from jan_magics.domain.protocols import Store
from tests.storage.samples import ids, make_message, row

WRITER = Path(__file__).with_name("writer.py")
ROOT = Path(__file__).parents[2]


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
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_two_processes_mix_400_operations(kind: str, store: Store, tmp_path: Path) -> None:
    writers = [
        start(kind, tmp_path, "mix", name, "200", str(seed)) for seed, name in enumerate("xy")
    ]
    expected: dict[str, str] = {}
    for writer in writers:
        out, err = writer.communicate(timeout=60)
        assert (writer.returncode, err) == (0, "")
        expected |= dict(line.split(" ", 1) for line in out.splitlines())
    found = store.messages("t")
    assert {message.id: text_of(message) for message in found} == expected
    assert len(found) == len(expected) > 50
    assert row(store).messages == len(expected)
    assert row(store).fault is None


def test_what_was_written_survives_a_kill(kind: str, store: Store, tmp_path: Path) -> None:
    pause = random.Random(7)  # noqa: S311 (a test's dice)
    acknowledged: list[str] = []
    for number in range(10):
        writer = start(kind, tmp_path, "append", f"k{number}", "100000")
        assert writer.stdout is not None
        acknowledged.append(writer.stdout.readline().strip())
        time.sleep(pause.uniform(0.0, 0.06))
        writer.kill()
        out, err = writer.communicate(timeout=20)
        assert err == ""
        acknowledged += out.splitlines()
        found = {message.id: text_of(message) for message in store.messages("t")}
        for line in acknowledged:
            identity = line.removeprefix("saved ")
            assert found[identity] in ({"again"} if identity != line else {"again", "x" * 300})
    store.create(make_message("after"))
    assert ids(store.messages("t"))[-1] == "after"
    assert (
        row(store).messages
        == len(store.messages("t"))
        >= len([line for line in acknowledged if not line.startswith("saved")])
    )
