"""Stored messages and threads as Jan keeps and reads them, in both of our stores."""

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.errors import MessageNotFound, StoreError, ThreadNotFound
from jan_magics.domain.legacy import read_parts, says_nothing
from jan_magics.domain.messages import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    Thread,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.protocols import Store
from jan_magics.storage.codec import decode_message, decode_thread, encode_message, encode_thread
from jan_magics.storage.content import write_content
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas
from tests.storage.samples import START
from tests.storage.writer import open_store

# ----------------------------------------------------------------------------------------- convert


def part_of(part: Mapping[str, Any]) -> Part:
    kind = {"text": TextPart, "reasoning": ReasoningPart}[part["type"]]
    made: Part = kind(part["text"])
    return made


def ui_of(message: Message) -> list[dict[str, Any]]:
    results = {part.call_id for part in message.parts if isinstance(part, ToolResultPart)}
    shown: list[dict[str, Any]] = []
    for part in read_parts(message):
        match part:
            case TextPart(text):
                shown.append({"type": "text", "text": text})
            case ReasoningPart(text):
                shown.append({"type": "reasoning", "text": text})
            case ToolCallPart(call_id, name):
                state = "output-available" if call_id in results else "input-available"
                raw = encode_message(message)["content"]
                assert isinstance(raw, list)
                call = next(item for item in raw if isinstance(item, dict) and "input" in item)
                shown.append({"type": f"tool-{name}", "toolCallId": call_id,
                              "input": call["input"], "state": state})  # fmt: skip
            case _:
                raise AssertionError(part)
    return shown


def run_thread_to_ui(given: Any) -> object:
    message = decode_message(given["message"])
    return {"role": message.role, "parts": ui_of(message) or [{"type": "text", "text": ""}]}


def run_ui_to_stored(given: Any) -> object:
    return write_content([part_of(part) for part in given["parts"]] or [TextPart("")])


def run_is_empty(given: Any) -> object:
    return says_nothing(decode_message(given["message"]))


# ----------------------------------------------------------------------------------------- storage


def in_both_stores(run: Callable[[Store, Path], object]) -> object:
    made = []
    for kind in ("jsonl", "sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(kind, folder)
            made.append(run(store, Path(folder)))
            store.close()
    assert made[0] == made[1]
    return made[0]


def failed(kind: str) -> dict[str, str]:
    return {"$error": kind}


def run_messages(given: Any) -> object:
    def run(store: Store, folder: Path) -> object:
        store.create_thread(Thread("T", "", START, START))
        if given["initial_log"] is not None:
            lines = given["initial_log"]
            if (folder / "threads").exists():
                (folder / "threads" / "T" / "messages.jsonl").write_text(lines)
            else:  # a log has no other way into a database than through the layout
                for line in filter(None, lines.splitlines()):
                    store.create(decode_message(json.loads(line)))
        results = [operate(store, *op) for op in given["ops"]]
        return {"results": results, "final": listed(store)}

    return in_both_stores(run)


def operate(store: Store, name: str, raw: Any = None) -> object:
    if name == "list":
        return listed(store)
    try:
        message = decode_message(raw)
        (store.create if name == "create" else store.save)(message)
    except ThreadNotFound:
        return failed("missing_thread_id")
    except StoreError:
        return failed("missing_message_id")
    return encode_message(message)


def listed(store: Store) -> list[dict[str, Any]]:
    return [encode_message(message) for message in store.messages("T")]


def run_threads(given: Any) -> object:
    thread = given.get("thread")
    if thread is None:
        return in_both_stores(lambda store, _: delete_of_missing(store))
    if "assistants" in thread:
        known = decode_thread({"id": "T", **thread}).extra["assistants"]
        assert isinstance(known, list)
        return known[0] if known else failed("assistant_not_found")
    return in_both_stores(lambda store, _: created(store, thread))


def delete_of_missing(store: Store) -> object:
    try:
        store.delete("T", "m")
    except (ThreadNotFound, MessageNotFound) as error:
        return failed(type(error).__name__)
    return None


def created(store: Store, raw: Any) -> object:
    try:
        thread = decode_thread(raw)
    except StoreError:
        return failed("missing_thread_id")
    store.create_thread(thread)
    return encode_thread(store.thread(thread.id))


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "convert.thread_to_ui": run_thread_to_ui,
        "convert.ui_to_stored_content": run_ui_to_stored,
        "convert.thread_message_is_empty": run_is_empty,
        "storage.messages": run_messages,
        "storage.threads": run_threads,
    }
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "storage.messages/blank_line_is_corrupt": Ours(
            {
                "results": [[{"id": "a", "thread_id": "T"}]],
                "final": [{"id": "a", "thread_id": "T"}],
            },
            "a torn or foreign line is quarantined and reported, a blank one is no damage",
        ),
        "storage.threads/create_overrides_id": Ours(
            {"id": "mine", "title": "x"}, "an id is written once; the Engine makes it"
        ),
        "storage.threads/delete_message_in_missing_thread": Ours(
            {"$error": "ThreadNotFound"}, "a message of a deleted thread is an error that says so"
        ),
    }
)

VECTORS: Final[tuple[Vector, ...]] = tuple(case.values[0] for case in of_areas(ADAPTERS))


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_stored(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    assert OURS.keys() <= {vector.id for vector in VECTORS}
