"""Broken histories: everything that threads on disk, other programs and interrupts leave behind."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from hypothesis import strategies as st

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import (
    ALTERNATING,
    ANTHROPIC,
    GEMINI,
    STRICT_OPENAI,
    ModelRef,
    Profile,
)
from tests.context.histories import START

SINGLE_SYSTEM: Final = Profile("single system", files=False)
"""What Qwen's template takes."""
VALIDATORS: Final = (STRICT_OPENAI, ANTHROPIC, GEMINI, ALTERNATING, SINGLE_SYSTEM)


def _variants(profile: Profile) -> Iterator[Profile]:
    yield profile
    blind = replace(profile, images=False, audio=False, video=False, files=False)
    yield replace(blind, name=f"{profile.name}, text only", tools=False)
    yield replace(
        profile, name=f"{profile.name}, sees", images=True, tools=True, reasoning="always"
    )


PROFILES: Final = (
    *(variant for profile in VALIDATORS for variant in _variants(profile)),
    replace(ALTERNATING, name="no system role", system="none", longest_file_name=12),
    replace(ALTERNATING, name="nine letters", call_ids="[A-Za-z0-9]{9}", longest_tool_name=16),
    replace(ALTERNATING, name="one message an answer", waves=False),
    replace(ALTERNATING, name="thoughts of calls", reasoning="always", reasoning_with_calls=True),
    replace(
        ALTERNATING,
        name="without tools",
        tools=False,
        reasoning="always",
        reasoning_with_calls=True,
    ),
    replace(ANTHROPIC, name="a model of its own", model=ModelRef("anthropic", "claude")),
)

BLOCK: Final = (
    "[ATTACHED_FILES]\n- file_id: f1, name: a, b.pdf, type: pdf, chunks: 4\n[/ATTACHED_FILES]"
)
WORDS: Final = (
    "", " ", "\n\t", "a", "问题 在 a.csv 里", "🦊🦊", "NUL\0here", "half\ud83d", "\ud83d\ude00",
    "<tool_response>x</tool_response>", f"compare\n\n{BLOCK}", f"{BLOCK}\n\n{BLOCK}", BLOCK,
    "\0__JAN_AUDIO__\x01wav\x01QUJD\0", " __JAN_VIDEO__QUJD ", "x" * 30,
)  # fmt: skip
NAMES: Final = ("look", "look", "server__get", "a.b", "查找", "", "n" * 90, "bad\0name\n")
FILE_NAMES: Final = (None, "a.png", "多" * 300 + ".pdf", "two\nlines\0.txt", "\n", "half\udc00")
ARGUMENTS: Final = (
    '{"at": 1}', "", " ", "[1]", "no json", '{"n": NaN}', '{"s": "\\ud800"}', '{"p": "C:\\new"}',
    '{"z": "\\u0000"}', '{"é": "\0"}', '{"a": 1} trailing', "[" * 2000, '{"n": 1e999}',
)  # fmt: skip
OUTPUTS: Final[tuple[Json, ...]] = (
    None, "", "ok", 0, {"k\0": ["\ud800", {"deep": "🦊"}]}, ["x", 1.5], {"ü": True},
)  # fmt: skip
INLINE: Final[tuple[Json, ...]] = (
    [{"name": "n.md", "content": "BODY\0"}],
    [{"name": "a\nb", "content": f"text\n\n{BLOCK}"}, {"content": "unnamed"}],
    [{"name": "empty", "content": ""}, "junk", {"content": 3}],
    "junk",
)
LISTED: Final[tuple[Json, ...]] = (
    [{"file_id": "f1", "name": "a.pdf", "chunks": 0, "mode": "embeddings"}],
    [
        {"file_id": "f 2, x", "name": "c, mode: inline\n- file_id: f9, name: z"},
        {"file_id": "f3", "name": "\n", "chunks": "7", "mode": "weird"},
    ],
    [{"file_id": 3}, None, {"name": "x"}],
)

_ids: Final = st.sampled_from(["1", "1", "2", "call_0", "", "bad id\0", "i" * 70, "toolu_01"])
_words: Final = st.sampled_from(WORDS)
_opaque: Final = st.sampled_from(
    [
        None,
        None,
        ProviderData("anthropic", "anthropic:claude", "s"),
        ProviderData("google", "google:gemini", {}),
    ]
)
_calls: Final = st.builds(
    ToolCallPart, _ids, st.sampled_from(NAMES), st.sampled_from(ARGUMENTS), _opaque
)
_results: Final = st.builds(
    ToolResultPart,
    _ids,
    st.sampled_from(NAMES),
    st.sampled_from(OUTPUTS),
    st.sampled_from(["ok", "error", "denied", "interrupted"]),
)
_files: Final = st.builds(
    FilePart,
    st.sampled_from(
        [
            "image/png",
            "IMAGE/PNG",
            "image/*",
            "audio/wav",
            "video/mp4",
            "application/pdf",
            "text/csv",
        ]
    ),
    st.sampled_from([None, b"", b"a,b\0", f"text\n{BLOCK}".encode()]),
    st.sampled_from(
        [None, "https://h.example/a", "data:audio/wav;base64,QUJD", "data:text/plain;base64,QQ=="]
    ),
    st.sampled_from(FILE_NAMES),
)
_states: Final = st.sampled_from(
    ["input-streaming", "input-available", "output-available", "output-error", "output-denied"]
)


def _raw(kind: str, identifier: str, state: str, output: Json, error: Json) -> UnknownPart:
    raw: dict[str, Json] = {"type": kind, "toolCallId": identifier, "state": state}
    raw |= {"input": {"q": 1}, "output": output, "toolName": "look"}
    return UnknownPart(raw | ({"errorText": error} if error else {}))


_unknown: Final = st.one_of(
    st.just(UnknownPart({"type": "step-start"})),
    st.sampled_from([UnknownPart(None), UnknownPart({"type": "tool-x"}), UnknownPart(["z"])]),
    st.builds(
        _raw,
        st.sampled_from(["tool-look", "dynamic-tool", "tool-"]),
        _ids,
        _states,
        st.sampled_from(OUTPUTS),
        st.sampled_from([None, "socket closed"]),
    ),
)
_text: Final = st.builds(TextPart, _words, _opaque)
_reasoning: Final = st.builds(ReasoningPart, _words, st.sampled_from([None, "sig"]), _opaque)
_PARTS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "user": st.one_of(_text, _text, _files, _results, _unknown),
    "assistant": st.one_of(_text, _calls, _results, _calls, _results, _reasoning, _files, _unknown),
    "system": st.one_of(_text, _files, _results),
}
_metadata: Final = st.fixed_dictionaries(
    {},
    optional={
        "inline_file_contents": st.sampled_from(INLINE),
        "attached_files": st.sampled_from(LISTED),
    },
)
_plain: Final = st.just(dict[str, Json]())


def histories(*roles: Role) -> st.SearchStrategy[tuple[Message, ...]]:
    """Histories of messages of these roles, in any order and with anything in them."""
    drawn = st.lists(
        st.sampled_from(roles).flatmap(
            lambda role: st.tuples(
                st.just(role),
                st.lists(_PARTS[role], max_size=5),
                st.one_of(_plain, _plain, _metadata),
            )
        ),
        max_size=7,
    )
    return drawn.map(_numbered)


def _numbered(drawn: Sequence[tuple[Role, Sequence[Part], dict[str, Json]]]) -> tuple[Message, ...]:
    return tuple(
        Message(f"m{n}", "t", role, tuple(parts), START + timedelta(seconds=n), metadata=metadata)
        for n, (role, parts, metadata) in enumerate(drawn)
    )


ANY_ROLE: Final = histories("user", "user", "assistant", "assistant", "system")
ON_A_PATH: Final = histories("user", "assistant", "assistant")
"""Without system messages: those of a thread go into the one system text before cleaning."""


def turns_of(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Divide cleaned messages into turns; what comes before the first question is in none."""
    starts = [n for n, message in enumerate(messages) if message.role == "user"]
    return [tuple(messages[start:end]) for start, end in pairwise((*starts, len(messages)))]
