"""Titles of threads that nobody named: when one is due, what is asked, what is made of it. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from jan_magics.domain.messages import Message, TextPart, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef
from jan_magics.engine.naming import own

EVERY: Final = 4
TURNS: Final = 8
LONGEST_TRANSCRIPT: Final = 1500
"""Characters; the beginning is kept."""
MOST_TOKENS: Final = 128
MOST_WORDS: Final = 10
LONGEST_TITLE: Final = 80
"""Characters: scripts without spaces have no words to count."""
SILENT: Final = frozenset({"offline", "mlx"})
"""Providers that are not asked: one is no model, the other cannot switch reasoning off."""
AUTO_TITLE: Final = "auto_title"
"""The title that we gave, among our own keys: another one is somebody's choice."""

_PROMPT: Final = (
    f"Write a title of at most {MOST_WORDS} words for the following chat, in its language. "
    "Answer with the title only: no quotes, no explanation.\n\n"
)
_KINDS: Final = "(?:think|thinking|thought|reasoning|analysis)"
_BLOCK: Final = re.compile(rf"<({_KINDS})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_OPENER: Final = re.compile(rf"<{_KINDS}\b[^>]*>", re.IGNORECASE)
_CLOSER: Final = re.compile(rf"</{_KINDS}\s*>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>")
_LABEL: Final = re.compile(r"\A\W*(title|titel|titre|título|标题|タイトル)\W*[:：]", re.IGNORECASE)
_WORD: Final = r"(?:title|titel|titre|título|heading|标题|题目|タイトル)"
_PREAMBLE: Final = re.compile(
    r"\A\W*(?:(?:sure|certainly|of course|absolutely|ok|okay|great|好的|当然|没问题)\W+)?"
    rf"(?=[^:：\n]*{_WORD})"
    rf"(?:(?:here\b|this is\b|(?:a|the|one|my)(?: [\w-]+){{0,2}}? {_WORD}\b[^:：\n]*"
    rf" (?:is|be)\b|(?:possible|suggested|proposed)\b|以下|这是|这里|一个)[^:：\n]*"
    rf"|{_WORD}[^:：\n]{{0,6}})[:：\n]",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\A\W*\d+[.)、]\s+")
_MUSING: Final = re.compile(
    r"\W*((ok|okay|alright|hmm|well|so|now|first)\b[\s,.:]+)*"
    r"(the user\b|let me\b|let's\b|let us\b|we (need|have|are asked|should|must)\b"
    r"|i (need|have|should|must|will|am asked|think)\b|i'(ll|m)\b|thinking process)"
    r"|\W*(好的[，,]|嗯[，,]|首先[，,]|我需要|我们需要|用户)",
    re.IGNORECASE,
)
_MOST_RAW_WORDS: Final = 2 * MOST_WORDS


def is_due(answers: int) -> bool:
    """Tell whether a title is due: after the first answer, then after every fourth."""
    return answers == 1 or (answers > 0 and answers % EVERY == 0)


def should_title(thread: Thread, answers: int, setting: str, *, stopped: bool) -> bool:
    """Tell whether a thread gets a title now; without the panel, only `auto` asks for one."""
    return setting == "auto" and not stopped and is_unnamed(thread) and is_due(answers)


def is_unnamed(thread: Thread) -> bool:
    """Tell whether nobody has named the thread: no title, or the one that we made."""
    by_us = thread.title in ("", own(thread).get(AUTO_TITLE))
    return by_us and not thread.metadata.get("titleSetManually")


def transcript(path: Sequence[Message], current: str) -> str:
    """Return the last turns of a path as text; the current title where nothing was said."""
    questions = [n for n, message in enumerate(path) if message.role == "user"]
    begin = questions[-TURNS] if len(questions) >= TURNS else 0
    lines = (
        f"{'Assistant' if message.role == 'assistant' else 'User'}: {said}"
        for message in path[begin:]
        if message.role != "system" and (said := _said(message))
    )
    return "\n\n".join(lines) or current


def title_request(model: ModelRef, text: str, identifier: str, now: datetime) -> ChatRequest:
    """Return the request for a title of a transcript; it belongs to no thread."""
    if len(text) > LONGEST_TRANSCRIPT:
        text = text[:LONGEST_TRANSCRIPT] + "..."
    message = Message(identifier, "", "user", (TextPart(_PROMPT + text),), now, None)
    options = ChatOptions(max_tokens=MOST_TOKENS, think=False)
    return ChatRequest(model, (message,), options=options, purpose="title")


def title_of(raw: str) -> str | None:
    """Return the title that a model wrote, None where it only thought aloud."""
    said = _without_reasoning(raw)
    said = None if said is None else _without_preamble(said)
    if said is None or _MUSING.match(said) or len(said.split()) > _MOST_RAW_WORDS:
        return None
    return clean_title(said)


def question_title(path: Sequence[Message]) -> str | None:
    """Return a title made of the first question, None where it has no words."""
    first = next((message for message in path if message.role == "user"), None)
    return clean_title(_said(first)) if first else None


def clean_title(raw: str) -> str | None:
    """Return at most ten words of letters and numbers; None where nothing usable is left.

    Words keep their hyphens, apostrophes and decimals.
    """
    said = _without_reasoning(raw)
    if said is None:
        return None
    text = _LABEL.sub("", _TAG.sub("", said), count=1)
    kept = "".join(_kept(text, n) for n in range(len(text)))
    title = " ".join(islice(kept.split(), MOST_WORDS))[:LONGEST_TITLE].rstrip(" -'’")
    return title if len(title) > 1 else None


def _without_reasoning(raw: str) -> str | None:
    """Take tagged reasoning out; None where all of it is."""
    text = _BLOCK.sub("", raw)
    if _OPENER.search(text):
        return None
    *_, last = _CLOSER.split(text)
    return last


def _without_preamble(said: str) -> str:
    """Take the sentence away that announces a title; of several titles the first is meant."""
    rest = _PREAMBLE.sub("", said, count=1).strip()
    if not rest or rest == said.strip():
        return said
    return _NUMBER.sub("", rest.splitlines()[0])


def _kept(text: str, n: int) -> str:
    """Return a character of a title, a space for whitespace, "" for what no title has."""
    c = text[n]
    if c.isspace():
        return " "
    if _is_word(c):
        return c
    before, after = text[n - 1 : n], text[n + 1 : n + 2]
    if c in "-'’‑" and _is_word(before) and _is_word(after):
        return c
    if c in ".," and before.isdigit() and after.isdigit():
        return c
    # A dash or slash between words parts them; "and/or" is no word.
    return " " if c in "-–—/|·_" else ""


def _is_word(c: str) -> bool:
    return bool(c) and unicodedata.category(c)[0] in "LNM"


def _said(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
