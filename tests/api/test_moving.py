"""`chat.export`, `jan.import_threads` and the conversion of a store, from Python."""

import json
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.api.moving import Exported, convert_store, converted_text
from jan_magics.api.opening import back_up
from jan_magics.domain.columns import COLUMNS
from jan_magics.domain.errors import JanError, SettingError, StoreError
from jan_magics.engine.undoing import delete_thread


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "jan.Chat":
    monkeypatch.chdir(tmp_path)
    chat = jan.current().use(model="offline:echo", thread="过拟合")
    chat.send("what is overfitting?")
    chat.send("什么是过拟合？")
    return chat


def elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on in a data folder with nothing in it."""
    monkeypatch.setenv("JAN_DATA_FOLDER", str(folder))
    jan.current()._host.reopen()


@pytest.mark.parametrize("name", ["a.json", "a.ipynb", "a folder"])
def test_what_is_exported_can_be_imported_elsewhere(
    chat: "jan.Chat", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = chat.export(name)
    assert path == tmp_path / name
    before = chat.messages(all=True)
    thread = jan.threads().thread.iloc[0]
    row = jan.import_threads(name)
    assert list(row.columns) == list(COLUMNS["imported"])
    assert next(iter(row.itertuples(index=False, name=None)))[:2] == (thread, "unchanged")
    elsewhere(tmp_path / "other", monkeypatch)
    assert list(jan.import_threads(path).status) == ["added"]
    assert list(jan.import_threads(path).status) == ["unchanged"]
    assert list(jan.threads().thread) == [thread]
    after = chat.messages(all=True)
    assert list(after.id) == list(before.id)
    assert list(after.text) == list(before.text)
    assert not jan.find("过拟合").empty


def test_an_export_is_written_again_but_nothing_else_is(chat: "jan.Chat", tmp_path: Path) -> None:
    for name in ("a.json", "a.md", "a.ipynb", "folder"):
        chat.export(name)
        chat.send("and more?")
        assert chat.export(name).exists()
    assert "and more?" in (tmp_path / "a.md").read_text(encoding="utf-8")
    chat.use(thread="another").send("hello")
    for name in ("a.json", "a.md", "a.ipynb"):
        with pytest.raises(SettingError, match="is no export of this thread"):
            chat.export(name)
    assert len(list((chat.export("folder") / "threads").iterdir())) == 2
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(SettingError, match="Choose another name"):
        chat.export("mine.md")
    assert (tmp_path / "mine.md").read_text() == "mine"


def test_folders_around_a_file_are_made_and_the_link_is_relative(
    chat: "jan.Chat", tmp_path: Path
) -> None:
    shown = Exported(chat.export("notes of mine/a.md"), tmp_path)
    assert repr(shown) == "exported to notes of mine/a.md"
    html = shown._repr_mimebundle_()["text/html"]
    assert html == 'exported to <a href="notes%20of%20mine/a.md">notes of mine/a.md</a>'


def test_errors_say_what_to_do(chat: "jan.Chat", tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"\.docx"):
        chat.export("a.docx")
    chat.export("a.md")
    with pytest.raises(SettingError, match="cannot be read back"):
        jan.import_threads("a.md")
    with pytest.raises(StoreError, match="there is no"):
        jan.import_threads("nowhere.json")
    with pytest.raises(StoreError, match="there is no"):
        jan.import_threads("nowhere.ipynb")
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(StoreError, match="is no thread"):
        jan.import_threads("x.json")
    with pytest.raises(SettingError, match="no thread to export yet"):
        jan.Chat("not there yet").export("b.json")


def test_every_version_is_in_the_file(chat: "jan.Chat", tmp_path: Path) -> None:
    chat.export("a.json")
    raw = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (raw["format"], raw["version"]) == ("jan_magics.thread", 1)
    assert [message["id"] for message in raw["messages"]] == list(chat.messages(all=True).id)


def test_the_store_is_copied_to_the_other_kind(
    chat: "jan.Chat", monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = list(chat.messages().id)
    chat.use(thread="gone").send("to be deleted")
    delete_thread(jan.current()._host.session(), "gone")
    chat.use(thread="过拟合")
    assert converted_text("jsonl", convert_store("jsonl")) == (
        "1 thread and 1 in the bin are in the jsonl store now; nothing was taken out of the other"
        " one\nuse it with: %config JanMagics.store = 'jsonl'"
    )
    monkeypatch.setenv("JAN_STORE", "jsonl")
    jan.current()._host.reopen()
    assert list(chat.messages().id) == ids
    assert len(jan.threads()) == 1
    chat.send("written as Jan does")
    made = convert_store("sqlite")
    assert [row.status for row in made.threads] == ["replaced"]
    monkeypatch.setenv("JAN_STORE", "sqlite")
    jan.current()._host.reopen()
    assert list(chat.messages().id)[: len(ids)] == ids
    assert len(chat.messages()) == len(ids) + 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("file/a.json", "a file is where its folder should be"),
        ("file/a/folder", "a file is where its folder should be"),
        ("x" * 300 + ".md", "File name too long"),
        ("x" * 300, "File name too long"),
        ("a\0b.md", "cannot be a path"),
    ],
    ids=["below a file", "folder below a file", "long name", "long folder", "no name"],
)
def test_a_place_where_nothing_can_be_written(
    chat: "jan.Chat", tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JanError, match=said) as refused:
        chat.export(name)
    with pytest.raises(JanError) as caught:
        back_up(chat._host, name)
    for error in (refused.value, caught.value):
        assert "data folder" not in str(error)
        assert error.next_step.startswith("Name ")


@pytest.mark.parametrize("name", ["a.json", "a.ipynb", "a.csv"])
def test_a_file_that_is_no_json(tmp_path: Path, chat: "jan.Chat", name: str) -> None:
    (tmp_path / name).write_text('{"cells": [', encoding="utf-8")
    with pytest.raises(StoreError, match=f"{name} is not JSON: .*line 1"):
        jan.import_threads(name)


def test_what_is_hidden_stays_hidden_in_a_notebook(
    chat: "jan.Chat", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for identifier in list(chat.messages().id)[1:3]:
        chat.drop(identifier)
    before = list(chat.messages().status)
    assert before == ["active", "truncated", "truncated", "truncated"]
    path = chat.export("a.ipynb")
    elsewhere(tmp_path / "other", monkeypatch)
    assert list(jan.import_threads(path).status) == ["added"]
    assert list(jan.import_threads(path).status) == ["unchanged"]
    assert list(chat.messages().status) == before


@pytest.mark.parametrize("name", ["nope.md", "nope.ipynb", "nope.json", "没有.md"])
def test_a_file_that_is_not_there_is_said_to_be_missing(chat: "jan.Chat", name: str) -> None:
    with pytest.raises(StoreError, match=f"there is no .*{name}"):
        jan.import_threads(name)
