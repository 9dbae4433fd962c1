"""Damage in a thread's files is told by the doctor, and keeps nobody out of the thread."""

import asyncio
from pathlib import Path

import pytest

from jan_magics.api.tables import threads_table
from jan_magics.domain.errors import StoreError
from jan_magics.engine.checks import Check, examine
from jan_magics.engine.naming import own
from tests.engine.threads import Kernel

LINES = ['{"role": "us', "[1, 2]", "不是 JSON 🦊"]


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return Kernel(tmp_path, "jsonl")


def folder(kernel: Kernel) -> Path:
    return kernel.folder / "threads" / kernel.session.engine.store.threads()[0].thread.id


def checked(kernel: Kernel, *, fix: bool = False) -> dict[str, Check]:
    rows = asyncio.run(examine(kernel.session, {}, fix=fix))
    return {row.name: row for row in rows}


@pytest.mark.parametrize("name", ["messages.jsonl", "jan_magics.jsonl"])
@pytest.mark.parametrize("line", LINES)
def test_a_damaged_line_keeps_nobody_out_of_the_thread(
    kernel: Kernel, line: str, name: str
) -> None:
    kernel.ask("one", thread="名字", cell="c1")
    with (folder(kernel) / name).open("a") as file:
        file.write(line)
    kernel.open()
    told = checked(kernel)["threads"]
    assert (told.status, told.detail.count(f"1 damaged line in {name}")) == ("warning", 1)
    assert threads_table(kernel.session.engine.store.threads()).title.tolist() == ["名字"]
    kernel.ask("two", thread="名字", cell="c2")
    kernel.ask("one", thread="名字", cell="c1")
    assert kernel.session.engine.store.threads()[0].messages == 5
    assert len(kernel.session.engine.store.threads()) == 1
    assert "were moved to" in checked(kernel)["threads"].detail
    checked(kernel, fix=True)
    assert checked(kernel)["threads"].status == "ok"


def test_a_damaged_line_leaves_the_notebook_its_thread(kernel: Kernel) -> None:
    kernel.ask("one", cell="c1")
    with (folder(kernel) / "messages.jsonl").open("a") as file:
        file.write(LINES[0])
    kernel.open()
    assert kernel.ask("one", cell="c1").version == 2
    assert len(kernel.session.engine.store.threads()) == 1


@pytest.mark.parametrize("left", ['{"id": "broken', None])
def test_a_rebuilt_thread_is_the_notebooks_again(kernel: Kernel, left: str | None) -> None:
    kernel.ask("one", cell="0a1b2c3d")
    record = folder(kernel) / "thread.json"
    record.unlink() if left is None else record.write_text(left)
    kernel.open()
    with pytest.raises(StoreError) as caught:
        kernel.ask("one", cell="0a1b2c3d")
    assert caught.value.next_step.endswith("%chat doctor --fix")
    checked(kernel, fix=True)
    assert kernel.ask("one", cell="0a1b2c3d").version == 2
    [row] = kernel.session.engine.store.threads()
    assert (row.messages, row.fault) == (3, None)
    known = own(row.thread)
    assert (known["cells"], known["model"]) == (["0a1b2c3d"], "offline:echo")


def test_a_damaged_assistant_is_told(kernel: Kernel) -> None:
    assert "assistants" not in checked(kernel)
    (kernel.folder / "assistants").mkdir()
    (kernel.folder / "assistants" / "broken.json").write_text('{"id":')
    told = checked(kernel)["assistants"]
    assert (told.status, "broken.json: it is not JSON" in told.detail) == ("warning", True)
    assert told.fix is not None
