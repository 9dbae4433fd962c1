"""Values for the storage tests: hypothesis strategies, and makers of plain messages."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import get_args

from hypothesis import strategies as st

from jan_magics.domain.messages import (
    UNLINKED,
    FilePart,
    Json,
    Message,
    Parent,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    Thread,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.overlays import (
    CellLink,
    Change,
    ChangeKind,
    Hidden,
    Mark,
    MarkAction,
    NextRoot,
    Overlay,
    SegmentCut,
    SideTurn,
    Summary,
    TrimCut,
    Undone,
)
from jan_magics.domain.protocols import Store, ThreadRow

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

# Two surrogates that form a pair are the same JSON text as the character they stand for.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", "\x00", "\ud83d lone", "\u2028", "日本語", "🦊", '{"a": 1}', "\r\n", "</script>"]
)
_KNOWN = frozenset(
    ["id", "thread_id", "role", "content", "created_at", "metadata", "title", "created",
     "updated", "parentId", "activeChildId", "jan_magics"]
)  # fmt: skip
keys = texts.filter(lambda key: key not in _KNOWN)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(keys, json_values, max_size=3)
opaques = st.none() | st.builds(ProviderData, texts, texts, json_values)
times = st.integers(-(10**12), 4 * 10**12).map(
    lambda milliseconds: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
)
media_types = st.sampled_from(
    ["image/png", "image/*", "image/a;b,c", "audio/wav", "audio/mpeg", "audio/mp3", "audio/ogg",
     "video/mp4", "video/webm", "application/pdf", "application/octet-stream", "text/plain", "",
     "image"]
)  # fmt: skip
urls = st.none() | texts | st.just("https://x.test/a.png") | st.just("data:image/png;base64,AAAA")
call_ids = st.sampled_from(["a", "b", "c", ""])
names = st.sampled_from(["search", "fetch", ""])
arguments = texts | st.sampled_from(
    ['{"q":"x"}', '{"q": "x"}', '{"q":', "[1]", "", "null", "NaN", "1e999", '{"a":1,"a":2}']
)
states = st.sampled_from(["ok", "error", "denied", "interrupted"])
outputs = json_values | st.sampled_from([0, "", False, None])
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, texts, opaques),
    st.builds(ReasoningPart, texts, st.none() | texts, opaques),
    st.builds(
        FilePart, media_types, st.none() | st.binary(max_size=9), urls, st.none() | texts, opaques
    ),
    st.builds(ToolCallPart, call_ids, names, arguments, opaques),
    st.builds(ToolResultPart, call_ids, names, outputs, states, opaques),
    st.builds(UnknownPart, json_values),
    st.builds(
        UnknownPart,
        st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "tool_call", "unknown", "file", "image_url"])},
            optional={
                "text": texts,
                "tool_call_id": texts,
                "tool_name": texts,
                "output": json_values,
                "jan_magics": st.dictionaries(
                    st.sampled_from(["unknown", "result", "opaque"]), json_values
                ),
            },
        ),
    ),
)
messages = st.builds(
    Message,
    id=texts.filter(bool),
    thread_id=texts,
    role=st.sampled_from(["user", "assistant", "system"]),
    parts=st.lists(parts, max_size=6).map(tuple),
    created_at=times,
    parent_id=st.just(UNLINKED) | st.none() | texts,
    active_child_id=st.none() | texts,
    metadata=mappings,
    extra=mappings,
)
threads = st.builds(
    Thread,
    id=texts.filter(bool),
    title=texts,
    created_at=times,
    updated_at=times,
    metadata=st.dictionaries(texts, json_values, max_size=3),
    extra=mappings,
)
overlays: st.SearchStrategy[Overlay] = st.one_of(
    st.builds(CellLink, texts, texts, st.integers(0, 9), texts),
    st.builds(SideTurn, messages, messages),
    st.builds(Hidden, texts, st.booleans()),
    st.builds(NextRoot, st.none() | texts, st.booleans()),
    st.builds(
        Change, texts, st.sampled_from(get_args(ChangeKind)),
        st.dictionaries(texts, json_values, max_size=3), times,
    ),
    st.builds(Undone, texts),
    st.builds(SegmentCut, texts, texts),
    st.builds(
        Summary, texts, texts,
        st.dictionaries(texts, st.lists(texts, max_size=3).map(tuple), max_size=3),
        st.lists(texts, max_size=3).map(tuple), texts,
    ),
    st.builds(Mark, texts, st.sampled_from(get_args(MarkAction)), texts, texts),
    st.builds(TrimCut, texts, texts, st.integers(1, 10**6)),
)  # fmt: skip


def make_thread(thread_id: str = "t", title: str = "a thread") -> Thread:
    return Thread(thread_id, title, START, START)


def make_message(
    message_id: str, text: str = "hello", *, thread_id: str = "t", parent: Parent = UNLINKED
) -> Message:
    return Message(message_id, thread_id, "user", (TextPart(text),), START, parent)


def ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]


def row(store: Store, thread_id: str = "t") -> ThreadRow:
    return next(row for row in store.threads() if row.thread.id == thread_id)
