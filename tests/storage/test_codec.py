"""The codec: every value comes back as it was, and Jan's own JSON through and back."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import (
    UNLINKED,
    FilePart,
    Json,
    Message,
    Parent,
    Part,
    ReasoningPart,
    TextPart,
    Thread,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.storage.codec import (
    EPOCH,
    canonical,
    decode_message,
    decode_thread,
    encode_message,
    encode_thread,
)
from tests.storage.samples import json_values, make_message, messages, threads


@given(messages)
@settings(max_examples=150, deadline=None)
def test_a_message_survives_the_disk(message: Message) -> None:
    line = canonical(encode_message(message)).encode()
    assert decode_message(json.loads(line)) == message
    assert b"\n" not in line


@given(threads)
@settings(deadline=None)
def test_a_thread_survives_the_disk(thread: Thread) -> None:
    assert decode_thread(json.loads(canonical(encode_thread(thread)).encode())) == thread


@given(json_values, json_values, json_values)
@settings(deadline=None)
def test_any_json_under_known_keys_is_read_and_written_back(
    first: Json, second: Json, third: Json
) -> None:
    raw: Json = {
        "id": "m",
        "role": first,
        "content": [first, {"type": "text", "text": second}, {"type": second, "jan": third}],
        "created_at": second,
        "metadata": third,
        "thread_id": first,
    }
    assert encode_message(decode_message(raw)) == raw
    # True equals 1 to Python, so the texts are compared too.
    assert json.loads(canonical(encode_message(decode_message(raw)))) == raw


def text(value: str, **more: Json) -> Json:
    return {"type": "text", "text": {"value": value, "annotations": []}, **more}


JAN: list[tuple[str, list[Json], tuple[Part, ...]]] = [
    ("text", [text("hi")], (TextPart("hi"),)),
    (
        "reasoning first",
        [{"type": "reasoning", "text": {"value": "why", "annotations": []}}, text("so")],
        (ReasoningPart("why"), TextPart("so")),
    ),
    ("legacy think block is not touched", [text("<think>x")], (TextPart("<think>x"),)),
    (
        "no annotations",
        [{"type": "text", "text": {"value": "x"}}],
        (TextPart("x"),),
    ),
    (
        "annotations",
        [{"type": "text", "text": {"value": "x", "annotations": [{"n": 1}]}}],
        (TextPart("x"),),
    ),
    (
        "image inside",
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}],
        (FilePart("image/png", b"ABC"),),
    ),
    (
        "image elsewhere",
        [{"type": "image_url", "image_url": {"url": "https://x.test/a", "detail": "auto"}}],
        (FilePart("image/*", url="https://x.test/a"),),
    ),
    (
        "audio",
        [{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}}],
        (FilePart("audio/mpeg", b"ABC"),),
    ),
    (
        "video",
        [{"type": "input_video", "input_video": {"data": "QUJD"}}],
        (FilePart("video/mp4", b"ABC"),),
    ),
    (
        "broken base64",
        [{"type": "input_audio", "input_audio": {"data": "!", "format": "wav"}}],
        (
            UnknownPart(
                {"type": "input_audio", "input_audio": {"data": "!", "format": "wav"}}
            ),
        ),
    ),
    (
        "tool pending",
        [{"type": "tool_call", "tool_call_id": "1", "tool_name": "w", "input": {}}],
        (ToolCallPart("1", "w", "{}"),),
    ),
    (
        "tool answered with nothing",
        [
            {
                "type": "tool_call",
                "tool_call_id": "1",
                "tool_name": "w",
                "input": {},
                "output": None,
            }
        ],
        (ToolCallPart("1", "w", "{}"),),
    ),
    (
        "tool answered with a falsy value",
        [{"type": "tool_call", "tool_call_id": "1", "tool_name": "w", "input": {"a": 1},
          "output": 0}],
        (ToolCallPart("1", "w", '{"a":1}'), ToolResultPart("1", "w", 0)),
    ),
    (
        "tool without input",
        [{"type": "tool_call", "tool_call_id": "1", "tool_name": "w", "server": "s"}],
        (ToolCallPart("1", "w", ""),),
    ),
    ("unknown item", [{"type": "canvas", "x": 1}], (UnknownPart({"type": "canvas", "x": 1}),)),
    ("no items at all", [], ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "parts"), [case[1:] for case in JAN], ids=[case[0] for case in JAN]
)
def test_content_of_jan(content: list[Json], parts: tuple[Part, ...]) -> None:
    raw: Json = {
        "id": "m",
        "object": "thread.message",
        "thread_id": "t",
        "role": "assistant",
        "content": content,
        "status": "ready",
        "created_at": 1_753_351_234_567,
        "completed_at": 1_753_351_234_999,
        "metadata": {"usage": {"totalTokens": 3}},
    }
    message = decode_message(raw)
    assert message.parts == parts
    assert message.extra["status"] == "ready"
    assert encode_message(message) == raw


LINKS: list[tuple[str, Json, Parent, str | None]] = [
    ("root", {"parentId": None}, None, None),
    ("child", {"parentId": "p", "activeChildId": "c"}, "p", "c"),
    ("unlinked", {"stopped": True}, UNLINKED, None),
    ("number", {"parentId": 5, "activeChildId": None}, UNLINKED, None),
    ("metadata is a list", [1], UNLINKED, None),
]


@pytest.mark.parametrize(
    ("metadata", "parent", "child"), [case[1:] for case in LINKS], ids=[case[0] for case in LINKS]
)
def test_links(metadata: Json, parent: Parent, child: str | None) -> None:
    raw: Json = {
        "id": "m", "thread_id": "t", "role": "user", "content": [], "created_at": 1,
        "metadata": metadata,
    }  # fmt: skip
    message = decode_message(raw)
    assert (message.parent_id, message.active_child_id) == (parent, child)
    assert encode_message(message) == raw


def test_a_line_with_an_id_alone_is_a_message() -> None:
    raw: Json = {"id": "m", "v": 2}
    message = decode_message(raw)
    assert (message.parts, message.created_at, message.extra["v"]) == ((), EPOCH, 2)
    assert encode_message(message) == raw


@pytest.mark.parametrize("raw", [None, [], "text", {}, {"id": None}, {"id": 3}, {"id": ""}])
def test_what_is_no_message_is_a_typed_error(raw: Json) -> None:
    with pytest.raises(StoreError, match="not a message"):
        decode_message(raw)
    with pytest.raises(StoreError, match="not a thread"):
        decode_thread(raw)


def test_calls_and_results_keep_their_order() -> None:
    parts: tuple[Part, ...] = (
        TextPart("let me look"),
        ToolCallPart("1", "search", '{"q": "x"}'),
        ToolCallPart("2", "fetch", "not json"),
        ToolResultPart("2", "fetch", "no", "denied"),
        ToolResultPart("1", "search", "", "error"),
        ToolResultPart("9", "search", None, "interrupted"),
        TextPart("found"),
    )
    message = replace(make_message("m"), parts=parts)
    raw = encode_message(message)
    assert isinstance(raw["content"], list)
    assert len(raw["content"]) == 5
    assert decode_message(raw) == message


def test_editing_a_message_of_jan_drops_only_what_no_longer_holds() -> None:
    annotated: Json = {"type": "text", "text": {"value": "old", "annotations": [1]}}
    raw: Json = {"id": "m", "content": [annotated, text("x")], "role": "tool"}
    message = decode_message(raw)
    edited = replace(message, parts=(message.parts[0], TextPart("new")), role="user")
    written = encode_message(edited)
    assert written["content"] == [annotated, text("new")]
    assert written["role"] == "user"


def test_a_thread_of_jan() -> None:
    raw: Json = {
        "id": "t",
        "object": "thread",
        "title": "a/b",
        "assistants": [{"id": "jan", "model": {"id": "m", "engine": "llamacpp"}}],
        "created": 1_753_351_234.567,
        "updated": 1_753_351_234_999,
        "metadata": {"order": 1, "is_favorite": None},
    }
    thread = decode_thread(raw)
    assert thread.updated_at - thread.created_at == (
        decode_message({"id": "m", "created_at": 432}).created_at - EPOCH
    )
    assert encode_thread(thread) == raw


def test_text_that_json_cannot_hold_is_written_all_the_same() -> None:
    odd = "\udc80 \x00 é"
    value: Json = {"x": [float("nan"), float("inf"), -float("inf")], "s": odd}
    line = canonical(value)
    assert json.loads(line.encode()) == {"x": ["NaN", "Infinity", "-Infinity"], "s": odd}
    assert "é" in line
