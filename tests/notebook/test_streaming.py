"""Turns that pages follow: the kernel writes the logs that the extension's own tests read."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.notebook.streaming import Streams

FILE = Path(__file__).parents[1] / "streams" / "pages" / "turns.json"
LOGS = json.loads(FILE.read_text(encoding="utf-8"))


def told(updates: list[Any]) -> list[dict[str, Any]]:
    """Return what pages are told of a turn that stands so, one time after the other."""
    events: list[dict[str, Any]] = []
    streams = Streams(lambda event: events.append(dict(event)), lambda: True)
    stream = streams.begin("c1")
    for markdown, note in updates:
        streams.tell(stream, markdown, note)
    streams.end(stream)
    return [{**event, "turn": "t1"} for event in events]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log["name"])
def test_the_kernel_sends_what_is_in_the_logs(log: dict[str, Any]) -> None:
    assert told(log["updates"]) == log["events"]


@given(st.lists(st.text(max_size=8), max_size=5))
def test_pieces_make_the_whole(texts: list[str]) -> None:
    shown = b""
    for event in told([(text, "") for text in texts])[:-1]:
        units = event["text"].encode("utf-16-le", "surrogatepass")
        shown = shown[: 2 * event["at"]] + units
    assert shown.decode("utf-16-le", "surrogatepass") == (texts[-1] if texts else "")


def test_a_turn_that_ended_is_ended_once() -> None:
    events: list[object] = []
    streams = Streams(events.append, lambda: True)
    stream = streams.begin("c1")
    streams.end(stream)
    streams.end(stream)
    assert len(events) == 1
    assert not streams.stop(stream.id)
