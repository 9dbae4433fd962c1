"""`%chat leaks` in a real kernel, `jan.leaks` and `jan-magics leaks`: places, masks, scrubbing."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

import jan_magics as jan
from jan_magics.cli import main
from jan_magics.domain.errors import SettingError
from jan_magics.storage.convert import open_kind
from tests.kernel import Kernel, homes, running_kernel
from tests.leaky import ANTHROPIC, AWS, BLOCK, BODY, DATABASE, GITHUB, OPENAI

PNG = base64.b64encode(f"/{AWS} is no key in here/".encode()).decode()


def notebook(path: Path) -> Path:
    """A notebook with a secret in every place that can hold one."""
    v4 = nbformat.v4
    first = v4.new_code_cell(f"key = '{ANTHROPIC}'\nprint(key) # 你好 🐈", id="c1")
    first.outputs = [
        v4.new_output("stream", text=f"{BLOCK}\ndone\n"),
        v4.new_output("display_data", {"image/png": PNG, "text/html": f"<b>{GITHUB}</b>"}),
    ]
    first.metadata["note"] = f"mail ada@analytical.org, {AWS}"
    second = v4.new_markdown_cell("nothing here", id="c2")
    made = v4.new_notebook(cells=[first, second])
    made.metadata["widgets"] = {"state": {"m1": {"value": OPENAI}}}
    made.metadata["origin"] = DATABASE
    nbformat.write(made, path)
    return path


def rows(found: Any) -> list[tuple[str, str]]:
    return list(zip(found.place, found.kind, strict=True))


def test_every_place_of_a_notebook(tmp_path: Path) -> None:
    path = notebook(tmp_path / "课程.ipynb")
    (tmp_path / "课程.jan.jsonl").write_text(
        '{"jan_cassette": 1}\n' + json.dumps({"request": {"messages": [BLOCK]}}) + "\n{broken\n",
        "utf-8",
    )
    found = jan.leaks(path)
    assert list(found.columns) == ["place", "kind", "sample"]
    assert sorted(rows(found)) == sorted([
        ("课程.ipynb: cell 1, source", "Anthropic key"),
        ("课程.ipynb: cell 1, outputs", "private key"),
        ("课程.ipynb: cell 1, outputs", "GitHub token"),
        ("课程.ipynb: cell 1, metadata", "e-mail"),
        ("课程.ipynb: cell 1, metadata", "AWS key"),
        ("课程.ipynb: widget state", "OpenAI key"),
        ("课程.ipynb: metadata", "password"),
        ("课程.jan.jsonl: line 2", "private key"),
    ])  # fmt: skip
    assert BODY not in found.to_string()
    assert "Tr0ub4dor" not in found.to_string()


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_threads_on_all_branches(tmp_path: Path, store: Any) -> None:
    kept = {"data_folder": str(tmp_path), "store": store, "model": "offline:echo"}
    with jan.Chat(f"my {GITHUB}", **kept) as chat:
        first = chat.send(f"my key is {OPENAI}")
        chat.edit(chat.messages().id.iloc[0], "my key is a secret")
        assert first.text
    found = jan.leaks(tmp_path)
    assert [kind for _, kind in rows(found)].count("OpenAI key") == 2
    assert "thread my [GitHub token removed], its own record" in list(found.place)
    assert BODY not in found.to_string()


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_rows_beside_a_thread_and_deleted_threads_are_searched(tmp_path: Path, store: Any) -> None:
    kept = {"data_folder": str(tmp_path), "store": store, "model": "offline:echo"}
    with jan.Chat("table 表", **kept) as chat:
        chat.map([f"a {OPENAI}"], "{{row}}")
    with jan.Chat("gone", **kept) as chat:
        chat.send(f"a {GITHUB}")
    with closing(open_kind(store, tmp_path, lambda: datetime(2026, 1, 1, tzinfo=UTC))) as there:
        there.delete_thread(next(r.thread.id for r in there.threads() if r.thread.title == "gone"))
    told = [(place.partition(", message")[0], kind) for place, kind in rows(jan.leaks(tmp_path))]
    assert told.count(("thread table 表", "OpenAI key")) == 2
    assert told.count(("thread gone in the bin", "GitHub token")) == 2
    assert all("SideTurn" not in place for place in jan.leaks(tmp_path).place)


def test_collections_are_searched_those_in_the_bin_too(tmp_path: Path) -> None:
    (tmp_path / "笔记.md").write_text(f"# Keys\n\n{GITHUB} 🔑\n", "utf-8")
    (tmp_path / "class").mkdir()
    (tmp_path / "other.db").write_text("no database at all", "utf-8")
    jan.Collection(str(tmp_path / "class" / "texts.db")).add(str(tmp_path / "笔记.md"))
    old = jan.Collection("old", data_folder=str(tmp_path / "data"))
    old.add(str(tmp_path / "笔记.md"))
    old.delete()
    assert rows(jan.leaks(tmp_path / "class" / "texts.db")) == [
        ("collection texts, 笔记.md", "GitHub token")
    ]
    places = list(jan.leaks(tmp_path).place)
    assert "collection texts, 笔记.md" in places
    assert "collection old in the bin, 笔记.md" in places


def test_a_folder_is_searched_to_its_end(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / ".env").write_text(f"one\nAPI={GITHUB}\n", "utf-8")
    (deep / "image.bin").write_bytes(b"\0" + GITHUB.encode())
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(GITHUB, "utf-8")
    with jan.Chat("t", data_folder=str(deep / ".jan"), model="offline:echo") as chat:
        chat.send(f"a {OPENAI}")
    places = list(jan.leaks(tmp_path).place)
    assert places[0] == "a/b/.env: line 2"
    assert [place.partition(",")[0] for place in places[1:]] == ["thread t", "thread t"]


def test_nothing_there() -> None:
    with pytest.raises(SettingError, match="does not exist"):
        jan.leaks("nowhere.ipynb")


def test_scrubbing_keeps_all_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(tmp_path / "lesson.ipynb")
    path.chmod(0o600)
    before = nbformat.read(path, as_version=4)
    saved = tmp_path / ".ipynb_checkpoints" / "lesson-checkpoint.ipynb"
    saved.parent.mkdir()
    saved.write_bytes(path.read_bytes())
    assert main(["leaks", str(path), "--scrub"]) == 0
    said = capsys.readouterr().out
    assert "lesson.ipynb: 12 secrets removed, no copy is kept; e-mail and phone stay (2)" in said
    assert "revoke it" in said
    assert BODY not in said
    after = nbformat.read(path, as_version=4)
    nbformat.validate(after)
    assert after.cells[0].source == "key = '[Anthropic key removed]'\nprint(key) # 你好 🐈"
    assert after.cells[0].outputs[0].text == "[private key removed]\ndone\n"
    assert after.cells[0].outputs[1].data["image/png"] == PNG
    assert after.metadata.widgets.state.m1.value == "[OpenAI key removed]"
    assert after.cells[1] == before.cells[1]
    assert path.stat().st_mode & 0o777 == 0o600
    assert set(jan.leaks(path).kind) == {"e-mail"}
    assert BODY not in saved.read_text("utf-8")
    once = path.read_bytes()
    assert main(["leaks", str(path), "--scrub"]) == 0
    assert "no secret found" in capsys.readouterr().out
    assert path.read_bytes() == once
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".ipynb_checkpoints", "lesson.ipynb",
    ]  # fmt: skip


def test_the_command_line_tells_whether_there_is_something(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.py").write_text(f"x = 1\nkey = {GITHUB!r}\n", "utf-8")
    assert main(["leaks", str(tmp_path)]) == 1
    assert "a.py: line 2 GitHub token ghp_… (40 characters)" in " ".join(
        capsys.readouterr().out.split()
    )
    (tmp_path / "a.py").unlink()
    assert main(["leaks", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "nothing found\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("leaks")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    told = {"JAN_MODEL": "offline:echo", "JAN_NOTEBOOK": str(notebook(folder / "open.ipynb"))}
    with running_kernel(folder, **homes(folder), **told) as running:
        running.ok("%load_ext jan_magics")
        yield running


def test_this_notebook_and_its_threads(kernel: Kernel) -> None:
    kernel.ok(f"%%chat\nmy key is {GITHUB}")
    kernel.ok("found = %chat leaks")
    places = kernel.ok("print(sorted({p.partition(', message')[0] for p in found.place}))").out
    assert "open.ipynb: cell 1, source" in places
    assert "'thread " in places
    assert BODY not in kernel.ok("found").result


def test_the_notebook_that_is_open_is_not_rewritten(kernel: Kernel, folder: Path) -> None:
    before = (folder / "open.ipynb").read_bytes()
    for line in ("%chat leaks --scrub", "%chat leaks open.ipynb --scrub"):
        ran = kernel.run(line)
        assert ran.error is not None
        assert "'open.ipynb' is open here" in ran.error[2][0]
        assert "jan-magics leaks --scrub open.ipynb" in ran.error[2][1]
    assert (folder / "open.ipynb").read_bytes() == before
    os.link(folder / "open.ipynb", folder / "same.ipynb")
    assert kernel.run("%chat leaks same.ipynb --scrub").status == "error"


def test_another_notebook_is_scrubbed_from_here(kernel: Kernel, folder: Path) -> None:
    notebook(folder / "other.ipynb")
    assert "secrets removed" in kernel.ok("%chat leaks other.ipynb --scrub").out
    assert ANTHROPIC not in (folder / "other.ipynb").read_text("utf-8")


def test_what_is_no_notebook_is_not_rewritten(kernel: Kernel, folder: Path) -> None:
    (folder / "notes.txt").write_text(GITHUB, "utf-8")
    ran = kernel.run("%chat leaks notes.txt --scrub")
    assert ran.error is not None
    assert "'notes.txt' is no notebook" in ran.error[2][0]
    assert (folder / "notes.txt").read_text("utf-8") == GITHUB


def test_a_cell_is_stopped_and_can_be_sent_all_the_same(kernel: Kernel) -> None:
    where = "-m https://far.invalid/v1#m --no-history"
    ran = kernel.run(f"%%chat {where}\nuse {ANTHROPIC}")
    assert ran.error is not None
    assert ran.error[0] == "LeakFound"
    assert ran.error[2][1] == "Take it out of the cell; or send it all the same: --send-anyway"
    assert BODY not in f"{ran.error} {ran.err} {ran.out}"
    ran = kernel.run(f"%%chat {where} --send-anyway\nuse {ANTHROPIC}")
    assert ran.error is not None
    assert ran.error[0] == "ModelNotReachable"
