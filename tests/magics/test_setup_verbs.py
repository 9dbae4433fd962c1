"""The setup verbs in a real kernel: keys, folders, settings."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel
from tests.providers.loopback import http
from tests.providers.serving import serving_here

SECRET = "sk-test-0123456789abcdefghij"  # noqa: S105 - what must never be seen again


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path, JAN_CONFIG_FOLDER=str(tmp_path / "config")) as running:
        running.ok("%load_ext jan_magics")
        yield running


def test_a_key_is_typed_unseen_and_kept_for_its_owner_only(kernel: Kernel, tmp_path: Path) -> None:
    ran = kernel.ok("%chat key openai", typed=SECRET)
    assert "keys.toml" in ran.result
    path = tmp_path / "config" / "keys.toml"
    assert SECRET in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    config = kernel.ok("%chat config").results[-1]
    assert "key openai" in config["text/html"]
    assert "keys.toml" in config["text/html"]
    seen = str(ran) + str(config) + str(kernel.ok("%chat doctor").results) + str(kernel.ok("%chat"))
    assert SECRET not in seen


def test_config_tells_what_use_made_stick(kernel: Kernel) -> None:
    kernel.ok("%chat use -m offline:echo -t 笔记 -a default --temperature 0.5 -s brief -P top_k=4")
    kernel.ok("%chat use --window 9000 --overflow compact")
    kernel.ok("table = %chat config")
    said = "[(r.setting, r.value) for r in table.itertuples() if r.source == '%chat use']"
    assert kernel.ok(said).result.replace("\n", "") == str([
        ("model", "offline:echo"), ("thread", "笔记"), ("assistant", "default"),
        ("overflow", "compact"), ("window", "9000"), ("system", "brief"),
        ("temperature", "0.5"), ("top_k", "4"),
    ])  # fmt: skip
    kernel.ok("__import__('jan_magics').current().use(model=None)")
    kernel.ok("table = %chat config")
    source = "table[table.setting == 'model'].source.iloc[0]"
    assert kernel.ok(source).result == "'environment JAN_MODEL'"


def test_counts_are_told_in_the_right_number(kernel: Kernel) -> None:
    kernel.ok("%%chat\nhi")
    kernel.ok("table = %chat doctor")
    assert kernel.ok("table[table.check == 'threads'].detail.iloc[0]").result == "'1 thread'"
    kernel.run("%%chat -t other -m http://127.0.0.1:1/v1#m\nhi")
    assert "other, 1 message\n" in kernel.ok("%chat use other").result


def test_a_key_leaves_thread_head_and_use_as_they_are(kernel: Kernel) -> None:
    kernel.ok("%%chat\none")
    kernel.ok("%%chat\ntwo")
    kernel.ok("%chat use --temperature 0.5 -s 'be brief'")
    first = kernel.ok("%chat show").result
    assert "KeyRefused" in str(kernel.run("%%chat --no-history -m openai:gpt-4\nhi").error)
    kernel.ok("%chat key openai", typed=SECRET)
    assert kernel.ok("%chat show").result == first
    plan = kernel.ok("%%chat --dry-run -m openai:gpt-4\nhi").result
    assert "4 messages before this one" in plan
    assert "temperature=0.5" in plan
    shown = kernel.ok("%%chat\nthree").displays[-1]["text/plain"]
    assert "continued" not in shown
    assert "(new)" not in shown
    assert kernel.ok("len(__import__('jan_magics').current().messages())").result == "6"
    assert kernel.ok("len(__import__('jan_magics').threads())").result == "1"


def test_the_next_turn_uses_the_new_key(kernel: Kernel) -> None:
    with serving_here(http(b"{}", status=401, kind="application/json")) as server:
        origin = server.address.removesuffix("/v1")
        ask = f"%%chat -m {server.address}#m\nhi"
        for key in ("first-key", "second-key"):
            kernel.ok(f"%chat key {origin}", typed=key)
            assert kernel.run(ask).error[0] == "AuthenticationFailed"  # type: ignore[index]
        assert [f"Bearer {key}" in head for key, head in zip(
            ("first-key", "second-key"), server.heads, strict=True
        )] == [True, True]  # fmt: skip


def test_an_unknown_provider_is_refused_before_a_key_is_typed(kernel: Kernel) -> None:
    ran = kernel.run("%chat key opnai")  # nobody types: it would fail of that instead
    assert ran.error is not None
    assert ran.error[0] == "SettingError"
    assert "closest: 'openai'" in ran.error[2][0]


@pytest.mark.parametrize(
    ("name", "step"), [("groq", "GROQ_API_KEY"), ("https://host.example", "keys.toml")]
)
def test_a_key_where_nobody_can_type(kernel: Kernel, name: str, step: str) -> None:
    ran = kernel.run(f"%chat key {name}")
    assert ran.error is not None
    assert ran.error[0] == "KeyRefused"
    assert "nobody is there" in ran.error[2][0]
    assert step in ran.error[2][1]


def test_a_key_file_that_others_can_read_is_refused(kernel: Kernel, tmp_path: Path) -> None:
    kernel.ok("%chat key openai", typed=SECRET)
    (tmp_path / "config" / "keys.toml").chmod(0o644)
    ran = kernel.run("%%chat -m openai:gpt-4\nhi")
    assert ran.error is not None
    assert ran.error[0] == "KeyRefused"
    assert "chmod" in ran.error[2][1] or "600" in "".join(ran.error[2])


def test_a_project_gets_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAN_DATA_FOLDER")
    user = str(tmp_path / "user")
    with running_kernel(tmp_path, XDG_DATA_HOME=user, HOME=user) as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel.ok("%%chat -t before\nhi")
        kernel.ok("%chat use --temperature 0.5")
        said = kernel.ok("%chat store --init").result
        assert str(tmp_path / ".jan") in said
        assert "stay in " + user in said
        assert "temperature=0.5" in kernel.ok("%chat").result
        kernel.ok("%%chat -t after\nhi")
        assert (tmp_path / ".jan" / "jan.db").exists()
        titles = kernel.ok("list(__import__('jan_magics').threads().title)").result
        assert titles == "['after']"
    (tmp_path / "deeper").mkdir()
    with running_kernel(tmp_path / "deeper", XDG_DATA_HOME=user, HOME=user) as kernel:
        kernel.ok("%load_ext jan_magics")
        assert "after, 2 messages" in kernel.ok("%chat use after").result


def test_a_thread_in_use_is_a_new_one_of_that_name_in_the_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAN_DATA_FOLDER")
    with running_kernel(tmp_path, XDG_DATA_HOME=str(tmp_path / "user")) as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel.ok("%chat use 笔记")
        kernel.ok("%%chat\nhi")
        kernel.ok("%%chat --background -P delay=30\nhi")
        assert "%chat stop" in str(kernel.run("%chat store --init").error)
        kernel.ok("%chat stop")
        kernel.ok("%chat store --init")
        assert "笔记 (new)" in kernel.ok("%%chat\nhi").displays[-1]["text/plain"]
        # Twice is as once: what is open stays open.
        assert "stay in" not in kernel.ok("%chat store --init").result
        assert "笔记, 2 messages" in kernel.ok("%chat").result


def test_init_says_when_a_setting_would_win(kernel: Kernel) -> None:
    ran = kernel.run("%chat store --init")
    assert ran.error is not None
    assert ran.error[0] == "SettingError"
    assert "JAN_DATA_FOLDER" in ran.error[2][0]


def test_doctor_sees_what_is_wrong(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.jan_magics]\ndata_folder = '/x'\n")
    kernel.ok("import pandas as pd; pd.set_option('display.max_colwidth', None)")
    table = kernel.ok("%chat doctor").results[-1]["text/html"]
    assert "data_folder is ignored" in table
    assert os.environ["JAN_DATA_FOLDER"] in table


def test_the_bin_is_emptied_for_good_and_a_backup_holds_all(kernel: Kernel, tmp_path: Path) -> None:
    kernel.ok("%%chat -t first\nhi")
    kernel.ok("%%chat -t second\nhi")
    assert "copy.db" in kernel.ok("%chat store --backup copy.db").result
    assert (tmp_path / "copy.db").stat().st_size > 0
    assert kernel.run("%chat store --backup copy.db").error[0] == "StoreError"  # type: ignore[index]
    kernel.ok("%chat delete first")
    assert "1 thread gone" in kernel.ok("%chat store --vacuum").result
    assert kernel.ok("list(__import__('jan_magics').threads().title)").result == "['second']"


def test_the_bin_of_collections_is_emptied_too(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "笔记.md").write_text("# 标题\n\n熊猫吃竹子。", encoding="utf-8")
    kernel.ok("%rag add 笔记.md -c animals --embedder hash")
    kernel.ok("%rag delete animals")
    said = kernel.ok("%chat store --vacuum").result
    assert said == "the bin is empty: 0 threads, 1 collection gone for good"
    folder = Path(os.environ["JAN_DATA_FOLDER"]) / "collections"
    assert [*folder.rglob("*.db*")] == []


def test_doctor_fix_writes_links_and_undo_takes_them_back(tmp_path: Path) -> None:
    threads = tmp_path / "data" / "threads" / "t1"
    threads.mkdir(parents=True)
    thread = {"id": "t1", "title": "foreign", "created": 1, "updated": 1, "metadata": {}}
    (threads / "thread.json").write_text(json.dumps(thread), encoding="utf-8")
    lines = [
        _line("a", "user", 1, {"parentId": None}),
        _line("b", "assistant", 2, {"parentId": "a"}),
        _line("c", "user", 3, {"parentId": "gone"}),
    ]
    (threads / "messages.jsonl").write_text("".join(lines), encoding="utf-8")
    environment = {"JAN_DATA_FOLDER": str(tmp_path / "data"), "JAN_STORE": "jsonl"}
    parent = "m = jan.current().messages(all=True); m[m.id == 'c'].parent.iloc[0]"
    fixed = "table = %chat doctor --fix\nprint(table.detail.iloc[-1])"
    with running_kernel(tmp_path, **environment) as kernel:
        kernel.ok("%load_ext jan_magics\nimport jan_magics as jan")
        kernel.ok("%chat use foreign")
        assert "wrote 1 link" in kernel.ok(fixed).out
        assert kernel.ok(parent).result == "'b'"
        assert "doctor --fix" in kernel.ok("%chat undo").result
        assert kernel.ok(parent).result == "'b'"  # read with that place, as before
        assert "wrote 1 link" in kernel.ok(fixed).out


def _line(name: str, role: str, time: int, metadata: dict[str, object]) -> str:
    text = {"type": "text", "text": {"value": name, "annotations": []}}
    message = {
        "id": name, "object": "thread.message", "thread_id": "t1", "role": role,
        "content": [text], "status": "ready", "created_at": time, "completed_at": time,
        "metadata": metadata,
    }  # fmt: skip
    return json.dumps(message) + "\n"


@pytest.mark.parametrize(
    ("kind", "said"), [("sqlite", "as sqlite: one file, jan.db"), ("jsonl", "as jsonl: Jan's own")]
)
def test_store_says_how_threads_are_kept(tmp_path: Path, kind: str, said: str) -> None:
    with running_kernel(tmp_path, JAN_STORE=kind) as kernel:
        kernel.ok("%load_ext jan_magics")
        assert said in kernel.ok("%chat store").result


def test_an_empty_table_says_how_it_gets_rows(kernel: Kernel) -> None:
    assert "no tools yet · mark a function with @jan.tool" in kernel.ok("%chat tools").out
    assert "ask something" in kernel.ok("%chat threads").out
    kernel.ok("%%chat -m offline:echo\n熊猫")
    assert "no threads" not in kernel.ok("%chat threads").out
    assert "nothing found" in kernel.ok("%chat find 竹子").out
