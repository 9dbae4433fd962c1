"""Waves: an answer in steps becomes one message a step, speech, then calls, then their results.

What was said after a result is a message of its own on every wire; ids are `<id>_w0`, `<id>_w1`, …
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from jan_magics.domain.messages import Message, Part, TextPart, ToolResultPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages

UNFINISHED: Final = "(The answer was not finished.)"


def split_waves(messages: Sequence[Message], profile: Profile) -> Messages:
    """Cut answers behind the tool results of each step; one with a single step stays itself."""
    if not profile.waves:
        return tuple(messages)
    return tuple(wave for message in messages for wave in _waves(message))


def close_turns(messages: Sequence[Message], profile: Profile) -> Messages:
    """Put a word between a tool result and the next question, where roles strictly alternate."""
    if not profile.alternating:
        return tuple(messages)
    closed: list[Message] = []
    for message, following in pairwise((*messages, None)):
        if message is None:
            continue
        closed.append(message)
        if following is not None and (message.role, following.role) == ("assistant", "user"):
            _close(closed, profile)
    return tuple(closed)


def ends_in_result(message: Message) -> bool:
    """Tell whether the last that a message holds is a tool result."""
    return bool(message.parts) and isinstance(message.parts[-1], ToolResultPart)


def _waves(message: Message) -> Iterator[Message]:
    if message.role != "assistant":
        yield message
        return
    cuts = [n for n, pair in enumerate(pairwise(message.parts), 1) if _is_cut(*pair)]
    if not cuts:
        yield message
        return
    for n, (start, end) in enumerate(pairwise((0, *cuts, len(message.parts)))):
        yield replace(message, id=f"{message.id}_w{n}", parts=message.parts[start:end])


def _is_cut(part: Part, following: Part) -> bool:
    return isinstance(part, ToolResultPart) and not isinstance(following, ToolResultPart)


def _close(messages: list[Message], profile: Profile) -> None:
    last, word = messages[-1], TextPart(UNFINISHED)
    if not ends_in_result(last):
        return
    if profile.waves:
        messages.append(replace(last, id=_next_wave(last.id), parts=(word,)))
    else:
        messages[-1] = replace(last, parts=(*last.parts, word))


def _next_wave(identifier: str) -> str:
    found = re.fullmatch(r"(.*)_w(\d+)", identifier, re.DOTALL)
    return f"{found[1]}_w{int(found[2]) + 1}" if found else f"{identifier}_w1"
