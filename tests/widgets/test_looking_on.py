"""Views of a thread that is answered elsewhere: in another view, in a cell, in a thread."""

import pytest

from tests.kernel import Kernel
from tests.widgets.pages import Page
from tests.widgets.test_thread_view import ECHO, asks, opened, over


def second(kernel: Kernel) -> Page:
    """Show the thread in another cell, too."""
    page = Page(kernel, kernel.ok("%chat show --live", cell_id="second"), "thread")
    page.ask("thread", kind="ready")
    return page


PARAGRAPHS = "\n\n".join(f"paragraph {n} 你好 🐼" for n in range(100))


def test_a_second_view_streams_and_can_stop_it(kernel: Kernel) -> None:
    page, other = opened(kernel, f"{ECHO} -P pace=0.05"), second(kernel)
    page.say(kind="send", text=PARAGRAPHS)
    while "paragraph 3 你好 🐼" not in str(other.said[-1]):
        other.wait("delta")
    state = [each for each in other.said if each["kind"] == "thread"][-1]
    assert state["busy"] == {"what": "answering", "prompt": "", "stop": True}
    assert [row["role"] for row in state["rows"]] == ["user"]
    question = state["rows"][0]["message"]
    for asked in (
        {"kind": "send", "text": "another"},
        {"kind": "clear"},
        {"kind": "version", "message": question, "step": -1},
    ):
        assert other.ask("failed", **asked)["message"] == "answering goes on"
    late = Page(kernel, kernel.ok("%chat show --live", cell_id="late"), "thread")
    assert [row["role"] for row in late.ask("thread", kind="ready")["rows"]] == ["user"]
    assert "paragraph 0 你好 🐼" in str(late.wait("delta"))
    other.say(kind="stop")
    rows = over(other)["rows"]
    assert isinstance(rows, list)
    assert [row["cut"] for row in rows] == [False, True]


@pytest.mark.parametrize("aim", ["%%chat", "%%chat -t 另一个"])
def test_a_view_streams_what_a_cell_asks(kernel: Kernel, aim: str) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.02")
    asks(page, kind="send", text="one")
    before = len(page.said)
    page.hear(kernel.ok(f"{aim}\n" + " ".join(f"word{n}" for n in range(60)), cell_id="c"))
    told = page.said[before:]
    if aim != "%%chat":  # another thread
        assert "word" not in str(told)
        return
    busy = [each["busy"] for each in told if each["kind"] == "thread"]
    assert {"what": "answering", "prompt": "", "stop": False} in busy
    assert len([each for each in told if each["kind"] == "delta"]) > 3
    (asked, *_) = [each for each in told if each["kind"] == "thread" and len(each["rows"]) == 3]
    assert asked["rows"][-1]["role"] == "user"
    assert over(page)["total"] == 4


def test_a_view_streams_an_answer_that_is_given_again(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.02")
    asks(page, kind="send", text=PARAGRAPHS[:400])
    kernel.ok("import jan_magics as jan, threading", cell_id="i")
    kernel.ok("threading.Thread(target=lambda: jan.current().retry()).start()", cell_id="r")
    while "paragraph 3" not in str(page.wait("delta")):
        pass
    rows = over(page)["rows"]
    assert isinstance(rows, list)
    assert (rows[1]["version"], rows[1]["versions"]) == (2, 2)


def test_a_closed_view_looks_on_no_more(kernel: Kernel) -> None:
    page = opened(kernel, f"{ECHO} -P pace=0.02")
    kernel.ok("1", cell_id="view")  # another run of its cell
    ran = kernel.ok("%%chat\n" + "word " * 20, cell_id="c")
    before = len(page.said)
    page.hear(ran)
    assert len(page.said) == before
