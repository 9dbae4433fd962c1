"""What views and pages say is written down, and their code is small and asks no other server."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jan_magics.widgets.page import STATIC, page_of
from jan_magics.widgets.thread_acts import ACTS
from tests.widgets.pages import PROTOCOL

KINDS = {"score": "scores", "budget": "budget", "tree": "tree", "thread": "thread"}


def kinds(view: str, direction: str) -> set[str]:
    """Return the kinds of messages that a view's side may be told."""
    found = set[str]()
    for each in PROTOCOL["views"][view][direction]["oneOf"]:
        kind = PROTOCOL["$defs"][each["$ref"].rpartition("/")[2]]["properties"]["kind"]
        found |= {kind["const"]} if "const" in kind else set(kind["enum"])
    return found


def code(view: str) -> str:
    return (STATIC / f"{view}.js").read_text(encoding="utf-8")


def test_the_protocol_is_a_schema() -> None:
    for name, schema in PROTOCOL["$defs"].items():
        Draft202012Validator.check_schema(schema)
        assert name
    assert PROTOCOL["views"].keys() == KINDS.keys()


def test_a_thread_hears_what_is_written_down() -> None:
    assert set(ACTS) == kinds("thread", "toKernel")


@pytest.mark.parametrize("view", KINDS)
def test_a_page_takes_and_says_what_is_written_down(view: str) -> None:
    taken = set(re.findall(r"message\.kind [!=]== '(\w+)'", code(view)))
    assert taken | {"failed"} == kinds(view, "toPage")
    said = set(re.findall(r"(?:kind: |act\()'(\w+)'", code(view)))
    assert said | {"ready"} == kinds(view, "toKernel")


@pytest.mark.parametrize("view", KINDS)
def test_code_is_small_and_comes_from_here(view: str) -> None:
    page: Any = page_of(view, {}, "")
    try:
        assert len(page._esm.encode()) < 20_000
        assert len(json.dumps(page.get_state(), default=str)) < 50_000
        words = re.sub(r"/\^\(https\?.*|ADDRESS.*", "", page._esm) + page._css
        assert "://" not in words
        assert not re.search(r"\bimport\b|innerHTML|outerHTML|insertAdjacent|\beval\b", words)
    finally:
        page.close()


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_text_of_the_code_goes_over_a_line(path: Path) -> None:
    # It is sent without its indentation, which would be missing from such a text.
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.count("`") % 2] == []


@pytest.mark.parametrize("view", KINDS)
def test_every_word_is_there_in_chinese(view: str) -> None:
    known = set(re.findall(r"^  (?:'((?:[^'\\]|\\.)+)'|(\w+)):\s", code(view), re.M))
    listed = {one or other for one, other in known}
    used = set(re.findall(r"\bt\(\s*'((?:[^'\\]|\\.)+)'", code(view)))
    assert used <= listed
    assert Path(STATIC / "views.css").exists()
