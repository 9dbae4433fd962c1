"""Values of another type than a call takes: typed errors that say what it takes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jan_magics as jan
from jan_magics.domain.errors import JanError, SettingError, ThreadError

WRONG: dict[str, Callable[[Any], object]] = {
    "plan": lambda chat: chat.plan(None),
    "budget": lambda chat: chat.budget(3),
    "compact 1.5": lambda chat: chat.compact(keep=1.5),
    "compact text": lambda chat: chat.compact(keep="2"),
    "compact bool": lambda chat: chat.compact(keep=True, dry_run=True),
    "apply None": lambda chat: chat.apply(None),
    "apply 3": lambda chat: chat.apply(3),
    "grid of nothing": lambda chat: chat.grid("x", window=[], overflow=["trim"]),
    "empty needle": lambda chat: chat.grid("x", needle=" ", window=[500]),
    "needle 3": lambda chat: chat.grid("x", needle=3, window=[500]),
    "new": lambda chat: chat.new(3),
    "export": lambda chat: chat.export(3),
    "import": lambda chat: jan.import_threads(3),  # type: ignore[arg-type]
    "find": lambda chat: jan.find(3),  # type: ignore[arg-type]
    "find in": lambda chat: jan.find("x", thread=3),  # type: ignore[arg-type]
    "assistant": lambda chat: jan.save_assistant(3),  # type: ignore[arg-type]
    "instructions": lambda chat: jan.save_assistant("x", instructions=3),  # type: ignore[arg-type]
    "parameters": lambda chat: jan.save_assistant("x", parameters=3),  # type: ignore[arg-type]
    "Chat": lambda chat: jan.Chat(3),  # type: ignore[arg-type]
    "Chat model": lambda chat: jan.Chat(model=3),  # type: ignore[arg-type]
    "Chat system": lambda chat: jan.Chat(system=b"x"),  # type: ignore[arg-type]
    "Chat store": lambda chat: jan.Chat(store="mongo"),
    "Chat folder": lambda chat: jan.Chat(data_folder=3),  # type: ignore[arg-type]
    "Chat key": lambda chat: jan.Chat(api_key=3),  # type: ignore[arg-type]
}
NO_IDS: dict[str, Callable[[Any], object]] = {
    "drop": lambda chat: chat.drop(3),
    "drop None": lambda chat: chat.drop(None),
    "show": lambda chat: chat.show(3),
    "retry": lambda chat: chat.retry(3),
    "resume": lambda chat: chat.resume(3),
    "edit": lambda chat: chat.edit(3, "x"),
    "at": lambda chat: chat.send("x", at=3),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_value_of_another_type_is_a_setting_error(call: Callable[[Any], object]) -> None:
    with jan.Chat(model="offline:echo") as chat:
        chat.send("你好")
        with pytest.raises(SettingError) as caught:
            call(chat)
        assert caught.value.next_step
        assert len(chat.messages(all=True)) == 2


@pytest.mark.parametrize("call", NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_id_is_a_thread_error(call: Callable[[Any], object]) -> None:
    with jan.Chat(model="offline:echo") as chat:
        chat.send("hello")
        with pytest.raises(ThreadError, match="is no id of a message"):
            call(chat)
        assert len(chat.messages(all=True)) == 2


def test_a_mark_that_would_change_nothing_is_refused() -> None:
    with jan.Chat(model="offline:echo") as chat:
        first = chat.send("one")
        second = chat.send("two")
        chat.drop(second.message)
        with pytest.raises(ThreadError, match="is hidden"):
            chat.mark(second.message, "keep")
        chat.undo().clear()
        with pytest.raises(ThreadError, match="is archived"):
            chat.mark([first.message], "keep")
        chat.mark([first.message], "pin")
        chat.undo().clear(off=True)
        chat.edit(chat.messages().id[0], "另一个")
        with pytest.raises(ThreadError, match="on another branch"):
            chat.mark(first.message, "drop")


def test_a_chat_tells_its_thread_and_opens_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with jan.Chat("b", model="offline:echo", data_folder=str(folder)) as chat:
        assert repr(chat) == "<Chat 'b': offline:echo>"
        assert not folder.exists()
        chat.send("one")
        assert repr(chat) == "<Chat 'b': 2 messages, offline:echo>"
        chat.new()
        assert repr(chat) == "<Chat 'unnamed': 0 messages, offline:echo>"
    with jan.Chat() as chat:
        assert repr(chat) == "<Chat: the notebook's own thread>"


def test_a_chat_whose_store_cannot_be_read_still_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "jan.db").write_bytes(b"this is a letter, not a database" * 100)
    with jan.Chat("b", data_folder=os.fspath(tmp_path)) as chat:
        with pytest.raises(JanError):
            chat.messages()
        assert repr(chat) == "<Chat 'b'>"
