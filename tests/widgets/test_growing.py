"""A growing answer on the wire: what a page makes of it is the answer, and it costs little."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.notebook import html, mathml
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.growing import OVERHEAD, Growing
from jan_magics.widgets.thread_rows import safe_html
from tests.notebook.hostile import hostile
from tests.notebook.test_html import ATTRIBUTES, Reader
from tests.widgets.pages import check_message

WORDS = (
    "Some words of an answer, 一些回答的文字, with `code` and **weight**.\n\n- a list\n- of it\n\n"
)
CODE = "```python\n" + "x = compute(1, 2, 3)  # 计算\n" * 200 + "```\n\nThat was it."


class Page:
    """What the page's code does with deltas, in text: blocks that are over, and the last one."""

    def __init__(self) -> None:
        self.settled = self.tail = ""
        self.bytes = 0

    def take(self, message: dict[str, object] | None) -> None:
        if message is None:
            return
        check_message("thread", "toPage", message)
        self.bytes += OVERHEAD + len(json.dumps(message).encode())
        if message["fresh"]:
            self.settled = ""
        self.settled += str(message["settled"])
        self.tail = (self.tail if message["how"] == "add" else "") + str(message["tail"])


def stream(text: str, tokens: int, pause: float) -> Page:
    """Stream a text in so many pieces; the follower looks ten times a second."""
    now, page, size = 0.0, Page(), max(1, len(text) // tokens)
    growing = Growing(lambda: now)
    for end in range(size, len(text) + size, size):
        until = now + pause
        while now < until:
            page.take(growing.update(text[:end], ""))
            now += min(pause, 0.1)
    for _ in range(30):
        page.take(growing.update(text, ""))
        now += 0.1
    return page


@pytest.mark.parametrize("pause", [0.005, 0.05, 0.3])
@pytest.mark.parametrize("text", [WORDS * 55, CODE * 2], ids=["words", "code"])
def test_fifteen_hundred_tokens_cost_at_most_200_kb(text: str, pause: float) -> None:
    page = stream(text[:6_500], 1_500, pause)
    assert page.bytes <= 200_000
    assert "answer" in page.settled or "compute" in page.settled + page.tail


def test_what_is_settled_and_the_tail_are_the_answer() -> None:
    page = stream(WORDS * 3, 100, 0.05)
    assert page.settled + page.tail == safe_html(WORDS * 3)
    page = stream(CODE, 100, 0.05)
    assert page.settled == safe_html(CODE.removesuffix("That was it."))


def test_an_answer_that_begins_anew_takes_the_old_one_away() -> None:
    now, page = 0.0, Page()
    growing = Growing(lambda: now)
    for text in ("one\n\ntwo\n\nthr", "other"):
        now += 1
        page.take(growing.update(text, ""))
    assert (page.settled, page.tail) == ("", "<p>other</p>\n")


def test_a_page_that_comes_late_gets_all_so_far() -> None:
    growing = Growing(lambda: 1.0)
    growing.update("one\n\ntwo\n\nthr", "thinking")
    whole = growing.whole()
    check_message("thread", "toPage", whole)
    assert str(whole["settled"]) + str(whole["tail"]) == safe_html("one\n\ntwo\n\nthr")
    assert whole["note"] == "thinking"


@given(hostile, st.lists(st.integers(0, 200), max_size=4))
def test_no_piece_holds_more_than_harmless_tags(text: str, cuts: list[int]) -> None:
    now = 0.0
    growing = Growing(lambda: now)
    for cut in [*sorted(cuts), len(text)]:
        now += 10
        message = growing.update(text[:cut], "")
        if message and message["how"] == "html":
            reader = Reader(html.TAGS | mathml.TAGS, ATTRIBUTES | mathml.ATTRIBUTES)
            reader.feed(str(message["settled"]) + str(message["tail"]))
            reader.close()
            assert reader.found == []
    assert growing.sent == legible(text)
