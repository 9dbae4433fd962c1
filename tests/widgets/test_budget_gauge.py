"""`%chat budget --live` in a real kernel: the table, and a bar that follows what is typed."""

from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.api.context import planned
from jan_magics.widgets.budget_gauge import marks_of
from tests.kernel import Kernel
from tests.widgets.pages import WIDGET, Page


def tokens(state: dict[str, object], piece: str) -> float:
    pieces = state["pieces"]
    assert isinstance(pieces, list)
    found: float = next(each["tokens"] for each in pieces if each["piece"] == piece)
    return found


def test_the_bar_follows_what_is_typed(kernel: Kernel) -> None:
    ran = kernel.ok("%chat budget --live")
    assert "<table" in ran.results[-1]["text/html"]
    assert WIDGET in ran.results[-1]
    page = Page(kernel, ran, "budget")
    assert page.state["first"]["kind"] == "budget"
    empty = page.ask("budget", kind="ready")
    for text in ("你好", "你好 🦊", "你好 🦊 " + "words " * 50):
        page.say(kind="text", text=text)
    newest = page.wait("budget")
    while newest["n"] < 4:
        newest = page.wait("budget")
    assert tokens(newest, "prompt") > 50
    assert sum(each["tokens"] for each in newest["pieces"]) == newest["window"]
    page.say(kind="text", text="  \n")
    assert tokens(page.wait("budget"), "prompt") == tokens(empty, "prompt")
    assert kernel.ok("len(__import__('jan_magics').threads())").result == "0"


def test_it_follows_the_thread(kernel: Kernel) -> None:
    page = Page(kernel, kernel.ok("%chat budget --live", cell_id="b"), "budget")
    assert tokens(page.ask("budget", kind="ready"), "history") == 0
    ran = kernel.ok("%%chat -m offline:echo\na question of some words", cell_id="q")
    page.hear(ran)
    after = page.said[-1] if tokens(page.said[-1], "history") else page.wait("budget")
    assert tokens(after, "history") > 0


def test_what_cannot_be_sent_is_said(kernel: Kernel) -> None:
    kernel.ok("%chat use --window 60")
    page = Page(kernel, kernel.ok("%chat budget --live"), "budget")
    page.ask("budget", kind="ready")
    page.say(kind="text", text="many words " * 100)
    shown = page.wait("budget")
    assert any("this would not be sent" in each for each in shown["notices"])


def test_under_replay_it_is_the_table(kernel: Kernel) -> None:
    kernel.ok("%chat record tape\n_ = %chat ask hello\n%chat record --off")
    kernel.ok("%chat replay tape")
    ran = kernel.ok("%chat budget --live")
    assert WIDGET not in ran.results[-1]
    assert "<table" in ran.results[-1]["text/html"]
    assert not [kind for kind, _ in ran.comms if kind == "comm_open"]
    assert "window: " in ran.out


@pytest.mark.parametrize(
    ("overflow", "name", "share"), [("trim", "trim", 1.0), ("compact", "compact", 0.8)]
)
def test_marks_stand_where_something_begins(
    tmp_path: Path, overflow: str, name: str, share: float
) -> None:
    with jan.Chat("t", model="offline:echo", data_folder=str(tmp_path)) as chat:
        chat.use(overflow=overflow, window=2000)
        plan = planned(chat._host, "a prompt").plan
        history, others = plan.costs.history, plan.budget.input - plan.costs.history
        assert marks_of(plan) == [
            {"name": "warn", "tokens": others + int(0.6 * history)},
            {"name": name, "tokens": others + int(share * history)},
        ]
        chat.use(window=0)
        assert marks_of(planned(chat._host, "").plan) == []
