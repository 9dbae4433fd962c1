"""Cassettes: the same lines for the same requests, read back whole, damage skipped and reported."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import ContextOverflow, RequestRejected, SettingError
from jan_magics.domain.events import (
    Finish,
    LeftOut,
    Prefill,
    ReasoningDelta,
    Seal,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, Timings, ToolSpec, Usage
from jan_magics.engine.cassette import (
    Entry,
    Header,
    ModelFacts,
    key_of,
    line_of,
    merged,
    read_cassette,
)
from jan_magics.engine.cassette_json import (
    event_json,
    event_of,
    failure_json,
    failure_of,
    request_json,
)
from jan_magics.engine.differences import told_difference
from jan_magics.engine.playing import load
from jan_magics.engine.recording import Recording, begin_recording

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=1), "CET"))
MODEL = ModelRef("lab", "m")
OPAQUE = ProviderData("lab", "m", {"sig": "ab"})
EVENTS: tuple[StreamEvent, ...] = (
    TextDelta("你好 🎉\u2028\ud800"),
    ReasoningDelta("hm"),
    ToolCallDelta(1, "c1", "stock", '{"a": 1}'),
    Seal(OPAQUE, "signed", 1, alone=True),
    LeftOut("seed", "it is not known there"),
    Prefill(3, 9, 1),
    Finish("stop", Usage(1, 2, None, 4), Timings(prefill=0.5)),
    Finish(None),
)


def message(*parts: Part, role: str = "user", key: str = "m1") -> Message:
    return Message(key, "t", role, parts, NOON)  # type: ignore[arg-type]  # a role by name


def request(*messages: Message, model: ModelRef = MODEL, **more: object) -> ChatRequest:
    return ChatRequest(model, messages or (message(TextPart("hi")),), **more)  # type: ignore[arg-type]


def key(asked: ChatRequest) -> str:
    return key_of("chat", request_json(asked))


def header(notebook: str = "a.ipynb") -> Header:
    return Header(NOON, notebook, "lab:m", {"lab:m": ModelFacts(8192, "the server", wire="openai")})


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_back(event: StreamEvent) -> None:
    line = json.loads(line_of(Entry("chat", "k", 1, {}, (event_json(event, 0.25),))))
    assert line["events"][0][0] == 0.25
    assert event_of(line["events"][0]) == event


def test_a_refusal_comes_back_without_the_address_of_its_server() -> None:
    refused = RequestRejected(
        "http://10.0.0.1:8080/v1 takes no tools", "See https://x.y/z", status=400
    )
    line = failure_json(refused, 0.1)
    assert "10.0.0.1" not in str(line)
    found = failure_of(line, "lab:m")
    assert isinstance(found, RequestRejected)
    assert (found.message, found.status) == ("the server takes no tools", 400)
    overflow = failure_of(failure_json(ContextOverflow(9, 8), 0), "lab:m")
    assert isinstance(overflow, ContextOverflow)
    assert (overflow.used, overflow.window) == (9, 8)


def test_ids_that_were_made_up_do_not_change_the_key() -> None:
    def asked(one: str, other: str) -> ChatRequest:
        called = message(ToolCallPart(one, "f", "{}"), ToolCallPart(other, "f", "{}"), key=one)
        return request(called, message(ToolResultPart(other, "f", 1), key=other))

    assert key(asked("x", "y")) == key(asked("7f", "x"))
    assert key(asked("x", "y")) != key(asked("x", "x"))


@pytest.mark.parametrize(
    "other",
    [
        request(model=ModelRef("lab", "n")),
        request(system="Be brief."),
        request(message(TextPart("hi!"))),
        request(message(TextPart("hi"), role="assistant")),
        request(message(ReasoningPart("hi"))),
        request(message(FilePart("image/png", b"1"))),
        request(tools=(ToolSpec("f", "", {}),)),
        request(options=ChatOptions(temperature=0.0)),
        request(options=ChatOptions(parameters={"top_k": 3})),
        request(window=4096),
    ],
)
def test_everything_that_is_sent_changes_the_key(other: ChatRequest) -> None:
    assert key(other) != key(request())


def test_where_and_how_long_is_no_part_of_a_request() -> None:
    there = request(
        model=ModelRef("lab", "m", "https://10.0.0.1/v1"),
        options=ChatOptions(timeout=3, parameters={"api_key": "sk-1", "extra_headers": {"a": "b"}}),
        stable=1,
    )
    assert key(there) == key(request())
    assert "10.0.0.1" not in str(request_json(there))
    assert "sk-1" not in str(request_json(there))


def test_files_are_kept_by_their_hash() -> None:
    signed = FilePart("image/png", url="https://x.y/z?token=sk-1", name="猫.png")
    found = str(request_json(request(message(FilePart("image/png", b"secret" * 99), signed))))
    assert "c2Vjc" not in found
    assert "sk-1" not in found
    assert "猫.png" in found


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_recorded_request_is_found_again(texts: list[str]) -> None:
    asked = request(*(message(TextPart(text), key=text) for text in texts))
    line = line_of(Entry("chat", key(asked), 1, request_json(asked), ()))
    assert key_of("chat", json.loads(line)["request"]) == key(asked)
    assert "\n" not in line


def test_a_header_comes_back(tmp_path: Path) -> None:
    facts = ModelFacts(
        None, "nobody", True, "google", False, ("vision",), ((400, 500),), {"name": "x"}
    )
    told = Header(NOON, "ü.ipynb", "a:b", {"a:b": facts, "a:a": ModelFacts()})
    (found,) = read_cassette(write(tmp_path / "x.jan.jsonl", line_of(told))).headers
    assert found == told
    assert found.time.tzname() == "CET"
    assert line_of(found) == line_of(told)


def test_damaged_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    good = line_of(Entry("chat", "k", 1, {}, ()))
    path = write(
        tmp_path / "x.jan.jsonl",
        line_of(header()), "<<<<<<< ours", good, "{", '{"kind": "chat"}', "[1]", good, "",
        '{"kind":"chat","key":"k","n":2,"request":{},"events":[7]}',
    )  # fmt: skip
    found = read_cassette(path)
    assert found.faults == (2, 4, 5, 6, 9)
    assert len(found.entries) == 1
    playing = load(path, "error", "")
    assert playing.faults == ("x.jan.jsonl: lines 2, 4, 5, 6, 9 are skipped, nobody can read that",)


def test_what_is_no_cassette_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"gone.*cannot be read.*\n.*%chat record"):
        load(tmp_path / "gone", "error", "")
    with pytest.raises(SettingError, match="no cassette"):
        load(write(tmp_path / "x.jan.jsonl", "{}"), "error", "")
    with pytest.raises(SettingError, match="version 2"):
        load(write(tmp_path / "y.jan.jsonl", '{"cassette":2}'), "error", "")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingError, match="holds no cassette"):
        load(tmp_path / "empty", "error", "")


def entry(text: str, answer: str, n: int = 1) -> Entry:
    asked = request_json(request(message(TextPart(text))))
    return Entry("chat", key_of("chat", asked), n, asked, ([0, "text", answer],))


def said(path: Path) -> list[tuple[str, int, object]]:
    """What a cassette holds: each question, its number, and the first event."""
    found: list[tuple[str, int, object]] = []
    for each in read_cassette(path).entries:
        asked: Any = each.request
        found.append((asked["messages"][0]["parts"][0]["text"], each.n, each.events[0]))
    return found


def test_a_folder_and_two_cassettes_in_one_file_are_one(tmp_path: Path) -> None:
    a, b, both = entry("a", "1"), entry("b", "2"), entry("both", "3")
    write(tmp_path / "a.jan.jsonl", line_of(header()), line_of(a), line_of(both))
    write(tmp_path / "b.jan.jsonl", line_of(header("b.ipynb")), line_of(b), line_of(both))
    playing = load(tmp_path, "error", "b.ipynb")
    assert playing.header.notebook == "b.ipynb"
    assert [playing.take("chat", each.request) for each in (a, b, both)] == [a, b, both]
    together = write(
        tmp_path / "c", *(each.read_text().strip() for each in sorted(tmp_path.glob("*.jsonl")))
    )
    assert len(read_cassette(together).entries) == 3
    assert merged(read_cassette(together).headers) == header()


def test_equal_requests_are_answered_in_order_then_as_last(tmp_path: Path) -> None:
    lines = [line_of(entry("a", text, n)) for n, text in ((2, "two"), (1, "one"))]
    playing = load(write(tmp_path / "x.jan.jsonl", line_of(header()), *lines), "error", "")
    asked = entry("a", "").request
    found = [playing.take("chat", asked) for _ in range(3)]
    assert [each and each.events[0] for each in found] == [
        [0, "text", "one"], [0, "text", "two"], [0, "text", "two"],
    ]  # fmt: skip
    assert not playing.unused()


def recording(path: Path) -> Recording:
    return begin_recording(path, lambda: datetime(2026, 1, 1, tzinfo=UTC), "a.ipynb")


def keep(tape: Recording, text: str, *events: list[object]) -> None:
    tape.add("chat", request_json(request(message(TextPart(text)))), list(events))  # type: ignore[arg-type]


def test_a_new_recording_replaces_what_it_asks_again_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "x.jan.jsonl"
    first = recording(path)
    for text, answer in (("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")):
        keep(first, text, [0, "text", answer])
    assert [each[:2] for each in said(path)] == [("a", 1), ("b", 1), ("a", 2), ("c", 1)]
    before = path.read_bytes()
    second = recording(path)
    assert path.read_bytes() == before
    keep(second, "a", [0, "text", "5"])
    keep(second, "d", [0, "text", "6"])
    assert said(path) == [
        ("a", 1, [0, "text", "5"]), ("b", 1, [0, "text", "2"]),
        ("c", 1, [0, "text", "4"]), ("d", 1, [0, "text", "6"]),
    ]  # fmt: skip


def test_an_answer_takes_the_place_of_a_failure(tmp_path: Path) -> None:
    tape = recording(tmp_path / "x.jan.jsonl")
    keep(tape, "a", [0, "failure", {"kind": "ServerFailed"}])
    keep(tape, "a", [0, "text", "yes"])
    assert said(tape.path) == [("a", 1, [0, "text", "yes"])]


def test_two_kernels_that_record_into_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jan.jsonl"
    one, other = recording(path), recording(path)
    for n in range(4):
        keep(one, f"one {n}", [0, "text", ""])
        keep(other, f"other {n}", [0, "text", ""])
    assert len(said(path)) == 8


def test_the_difference_is_told_against_the_nearest() -> None:
    recorded = [
        request_json(request(message(TextPart(text))))
        for text in ("why is it dark?", "你好", "x" * 90)
    ]
    asked = request_json(request(message(TextPart("why is it so dark?"))))
    assert told_difference(asked, recorded) == (
        "the last message: recorded 'why is it dark?', now 'why is it so dark?'"
    )
    warm = request_json(request(message(TextPart("你好")), options=ChatOptions(temperature=0.5)))
    assert told_difference(warm, recorded) == (
        "the parameters: recorded none, now '{\"temperature\": 0.5}'"
    )
    longer = request_json(request(message(TextPart("你好")), message(TextPart("再见"))))
    assert "recorded with 1 message, now 2" in told_difference(longer, recorded)
    assert told_difference(asked, []) == ""
