"""`jan.find`: what was said once, in any thread."""

import pytest

import jan_magics as jan
from jan_magics.domain.columns import COLUMNS
from jan_magics.domain.errors import SettingError, ThreadNotFound


def test_what_was_said_is_found_in_every_thread() -> None:
    chat = jan.current()
    chat.send("what is overfitting?", model="offline:echo", thread="one")
    chat.send("什么是过拟合？", model="offline:echo", thread="two")
    found = jan.find("overfit")
    assert list(found.columns) == list(COLUMNS["found"])
    assert list(found.snippet) == ["what is «overfitting»?"] * 2
    assert set(found.role) == {"user", "assistant"}
    assert bool(found.on_path.all())
    assert str(found.created_at.dtype) == "datetime64[ns, UTC]"
    assert set(jan.find("过拟合").snippet) == {"什么是«过拟合»？"}
    assert jan.find("过拟合", thread="one").empty
    assert len(jan.find("过拟合", thread="two")) == 2


def test_it_sees_what_was_said_a_moment_ago() -> None:
    chat = jan.current().use(model="offline:echo")
    for word in ("first", "second", "third"):
        chat.send(word)
        assert len(jan.find(word)) == 2


def test_nothing_to_look_for_and_no_such_thread_are_errors() -> None:
    with pytest.raises(SettingError, match="nothing to look for"):
        jan.find("  ")
    with pytest.raises(ThreadNotFound):
        jan.find("word", thread="nowhere")
    assert jan.find("?!").empty
