"""A thread as a page: Markdown to read, a notebook to run again and to read back."""

import json
from dataclasses import replace
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import FilePart, Message, ReasoningPart, TextPart, text_of
from jan_magics.notebook.markdown import code_blocks
from jan_magics.notebook.pages import markdown_page, notebook_page, page_owner
from jan_magics.notebook.reading import read_notebook
from jan_magics.notebook.render import MIME
from tests.storage.samples import START, make_message, make_thread

THREAD = make_thread("t" * 32, "过拟合")
ASKED = make_message("q" * 32, "what is {{ x }}?", parent=None)
SAID = replace(
    make_message("a" * 32, "```python\nx = 1"), role="assistant", parent_id=ASKED.id,
    metadata={"jan_magics": {"model": "offline:echo", "finish": "stop"}},
)  # fmt: skip
AGAIN = make_message("b" * 32, "and in a fence?\n```", parent=SAID.id)


def said(message: Message) -> tuple[str, str, str]:
    return message.id, message.role, text_of(message)


def test_markdown_closes_the_fences_that_a_message_leaves_open() -> None:
    page = markdown_page(THREAD, [ASKED, SAID, AGAIN])
    assert page.startswith(f"<!-- jan_magics thread {THREAD.id} -->\n\n# 过拟合\n\n## You\n")
    assert "## offline:echo" in page
    assert next(block.code for block in code_blocks(page)) == "x = 1"
    assert page.count("\n## ") == 3
    outside = page
    for block in code_blocks(page):
        outside = outside.replace(block.code, "", 1) if block.code else outside
    assert outside.count("\n## ") == 3
    assert page_owner(page, ".md") == THREAD.id


def test_markdown_names_what_it_cannot_show_and_leaves_out_reasoning() -> None:
    parts = (ReasoningPart("secret"), FilePart("image/png", b"x", name="a.png"), TextPart("see"))
    page = markdown_page(THREAD, [replace(SAID, parts=parts), replace(SAID, parts=())])
    assert "*file: a.png*\n\nsee" in page
    assert "secret" not in page
    assert page.count("\n## ") == 1  # an answer that says nothing is none


def test_a_notebook_is_valid_runs_again_and_comes_back() -> None:
    text = notebook_page(THREAD, [ASKED, SAID, AGAIN])
    nbformat.validate(nbformat.reads(text, as_version=4))
    book = json.loads(text)
    assert [cell["source"] for cell in book["cells"]] == [
        "%load_ext jan_magics", "%%chat --literal\nwhat is {{ x }}?",
        "%%chat\nand in a fence?\n```",
    ]  # fmt: skip
    assert set(book["cells"][1]["outputs"][0]["data"]) == {
        MIME, "text/markdown", "text/html", "text/plain",
    }  # fmt: skip
    assert page_owner(text, ".ipynb") == THREAD.id
    thread, messages = read_notebook(text, "x.ipynb", START)
    assert (thread.id, thread.title) == (THREAD.id, "过拟合")
    assert list(map(said, messages)) == list(map(said, [ASKED, SAID, AGAIN]))
    assert [message.parent_id for message in messages] == [None, ASKED.id, SAID.id]
    assert messages[1].created_at == SAID.created_at
    assert messages[1].metadata == SAID.metadata


def test_what_is_no_turn_stands_by_itself() -> None:
    system = replace(ASKED, id="s", role="system", parts=(TextPart("be brief"),))
    text = notebook_page(THREAD, [system, replace(SAID, parts=(TextPart("hello"),))])
    nbformat.validate(nbformat.reads(text, as_version=4))
    _, messages = read_notebook(text, "x.ipynb", START)
    assert [(m.role, text_of(m)) for m in messages] == [("system", "be brief"),
                                                       ("assistant", "hello")]  # fmt: skip


def plain(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def code(source: object, *data: dict[str, Any]) -> dict[str, Any]:
    outputs = [{"output_type": "display_data", "data": each} for each in data]
    return {"cell_type": "code", "source": source, "outputs": outputs}


def test_any_notebook_with_chat_cells_is_a_thread() -> None:
    text = plain(
        {"cell_type": "markdown", "source": "# mine"},
        code("x = 1"),
        code(["%%chat -m a:b\n", "one \\{{ x }}"], {"text/markdown": ["an", "swer"]}),
        code("%chat ask two", {MIME: {"prompt": "two", "text": "yes", "message": "m" * 32,
                                      "model": "a:b", "finish": "stop"}}),
        code("%%chat\nthree"),
    )  # fmt: skip
    thread, messages = read_notebook(text, "work.ipynb", START)
    assert thread.title == "work"
    assert [(m.role, text_of(m)) for m in messages] == [
        ("user", "one {{ x }}"), ("assistant", "answer"), ("user", "two"), ("assistant", "yes"),
        ("user", "three"),
    ]  # fmt: skip
    assert messages[3].id == "m" * 32
    later = read_notebook(text, "work.ipynb", START.replace(year=2030))
    assert [m.id for m in later[1]] == [m.id for m in messages]
    assert later[0].id == thread.id


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{", "not JSON"), ("[]", "no notebook"), ("{}", "no notebook"), (plain(), "no chat cell"),
     (plain(code("x = 1", {"text/plain": "1"})), "no chat cell"),
     ('{"cells": [1, {"cell_type": "code", "source": 3, "outputs": 4}]}', "no chat cell")],
)  # fmt: skip
def test_a_notebook_without_a_chat_says_so(text: str, reason: str) -> None:
    with pytest.raises(StoreError, match=reason):
        read_notebook(text, "x.ipynb", START)


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1), max_size=4))
def test_words_come_back_as_they_were(words: list[str]) -> None:
    path = [
        replace(make_message(f"m{n}", f"x{word}"), role="assistant" if n % 2 else "user")
        for n, word in enumerate(words)
    ]
    if path:
        _, messages = read_notebook(notebook_page(THREAD, path), "x.ipynb", START)
        assert [text_of(m).split() for m in messages] == [text_of(m).split() for m in path]
    assert page_owner(markdown_page(THREAD, path), ".md") == THREAD.id
