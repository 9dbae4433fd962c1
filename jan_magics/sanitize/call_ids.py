"""Ids of tool calls that a provider takes, made from the message that holds the call."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count
from string import ascii_lowercase, digits
from typing import Final

from jan_magics.domain.messages import Message, Part, ToolCallPart, ToolResultPart, stored_id
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages, with_parts

_DIGITS: Final = digits + ascii_lowercase
_MARK: Final = 7
"""Letters of an id that tell the message; two more count its calls. Some take exactly nine."""


def fit_call_ids(messages: Sequence[Message], profile: Profile) -> Messages:
    """Change ids that a provider refuses; where none may come twice in a request, all of them.

    The new one tells the stored message, so that turns need not know of each other.
    """
    taken = {part.call_id for message in messages for part in _calls(message)}
    return tuple(
        with_parts(message, _fitting(message, profile, taken)) if any(_calls(message)) else message
        for message in messages
    )


def _calls(message: Message) -> Iterator[ToolCallPart]:
    return (part for part in message.parts if isinstance(part, ToolCallPart))


def _fitting(message: Message, profile: Profile, taken: set[str]) -> Iterator[Part]:
    mark = _digest(stored_id(message.id))
    renamed = dict[str, str]()
    for call in _calls(message):
        ours = call.call_id.startswith(mark) and len(call.call_id) == _MARK + 2
        if not re.fullmatch(profile.call_ids, call.call_id) or (profile.unique_calls and not ours):
            renamed[call.call_id] = _free(mark, taken)
            taken.add(renamed[call.call_id])
    for part in message.parts:
        if isinstance(part, ToolCallPart | ToolResultPart) and part.call_id in renamed:
            yield replace(part, call_id=renamed[part.call_id])
        else:
            yield part


def _free(mark: str, taken: set[str]) -> str:
    numbers = (mark + _DIGITS[n // 36 % 36] + _DIGITS[n % 36] for n in count())
    return next(identifier for identifier in numbers if identifier not in taken)


def _digest(identifier: str) -> str:
    number = int.from_bytes(sha256(identifier.encode("utf-8", "surrogatepass")).digest()[:8])
    return "".join(_DIGITS[number // 36**place % 36] for place in range(_MARK))
