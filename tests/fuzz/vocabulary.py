"""Words that each target knows, so that what is tried comes further than its first sign."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.magics.commands import ASKING, VERBS
from tests.providers.wires import WIRES
from tests.rag.texts import PIECES

_FLAGS: Final = tuple(name for flag in ASKING for name in flag.names)
_WORDS: Final = tuple(
    name for verb in VERBS for flag in verb.flags for name in flag.names if name not in _FLAGS
)


def _bytes(*words: str) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in words)


def _streams() -> tuple[bytes, ...]:
    whole = [wire.body(*frames) for wire in WIRES.values() for frames in wire.streams.values()]
    keys = [f'"{key}":' for wire in WIRES.values() for key in wire.keys]
    signs = ("data: ", "event: ", "\n\n", "\r\n", "[DONE]", "{", "}", "[", "]", ",", "null", '"')
    return (*whole, *_bytes(*keys, *signs))


VOCABULARY: Final[Mapping[str, tuple[bytes, ...]]] = MappingProxyType({
    "magic_line": _bytes(
        *_FLAGS, *_WORDS, " ", " ", " ", "'", '"', "\\", "=", "{{", "}}", "{", "}", '["a", 1]',
        "0.5", "-1", "a:b", "中文", "🎉", "--", "-", ",", "sk-abcdef0123456789abcdef0123456789",
    ),
    "codec": _bytes(
        '{"id":"a"', '"id":"b"', ',"thread_id":"t"', ',"role":"user"', ',"role":1', "}\n", "{",
        ',"content":[{"type":"text","text":{"value":"x","annotations":[]}}]', ',"content":"x"',
        ',"content":[{"type":"tool_call","tool_call_id":"c","input":{},"output":', "}]", "1}]",
        ',"created_at":1', ',"created_at":1e400', ',"created_at":-9e99', ',"created_at":NaN',
        ',"metadata":{"parentId":null}', ',"metadata":{"parentId":3,"activeChildId":[]}', "\n",
        ',"title":"t"', ',"created":1', ',"updated":"x"', "[" * 50, '"\\ud800"', "null", "\x00",
        ',"metadata":{"jan_magics":{"parts":[', ',"extra":{}', "中文", "🎉",
    ),
    "full_text_query": _bytes(
        '"', "“", "”", "AND", "OR", "NOT", "NEAR(", "NEAR/2", "*", "^", ":", "-", "+", "(", ")",
        "{", "}", "'", "text:", "word", "Wörter", "学习", "学", "한국어", "กรุงเทพ", "🎉", "\x00",
        "\n", " ", "the", "́", "²", "ﬁ", "İ", "ß",
    ),
    "filters": _bytes(
        "year", "source", " and ", " or ", " not ", "(", ")", "=", "!=", "<", "<=", ">", ">=", "~",
        " in ", "2024", "'a'", '"b', "\\", ",", "[", "]", "null", "true", "1e999", "-", "中文", " ",
    ),
    "chunks": _bytes(*PIECES),
    "citations": _bytes(
        "[1]", "[2]", "[7]", "【3】", "[1, 2]", "[1-900]", "[^1]", "a b", "。", ". ", "\n", "`",
        "```\n", "~~~\n", "> ", "- ", "| ", "# ", "(", ")", "中文", "🌉", "\\", "!", ":", " ", "[",
        "]", "[1](http://a)", "<a>", "$", "§1§", "&#91;1]",
    ),
    "answers": _streams(),
    "documents": (
        b"PK\x03\x04", b"%PDF-1.4\n", b"<html><body>", b"<table><tr><td>", b"</td>", b"<!--",
        b"-->", b"<script>", b"&#xD800;", b"&amp;", b"a,b\n", b'"', b'{"cells": [', b"]}", b"[1, 2",
        b"\xff\xfe", b"\xef\xbb\xbf", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<meta charset=gb2312>",
        b"\x81\x40",
        *_bytes(*PIECES),
    ),
})  # fmt: skip
