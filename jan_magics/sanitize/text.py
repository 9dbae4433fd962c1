"""Text: characters and tool arguments that some parser on the way refuses are mended."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import Final, NoReturn

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages, with_parts

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def mend_text(messages: Sequence[Message], profile: Profile) -> Messages:
    """Replace NUL and lone halves of characters by U+FFFD, in texts and in what tools were told."""
    return tuple(with_parts(message, map(_mended_part, message.parts)) for message in messages)


def mend_arguments(messages: Sequence[Message], profile: Profile) -> Messages:
    """Make the arguments of every call a JSON object; what was none is kept in it as text."""
    return tuple(with_parts(message, map(_with_object, message.parts)) for message in messages)


def mended(text: str) -> str:
    """Return a text that every encoder and JSON parser takes."""
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # By way of UTF-16: two halves that stand together are a character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _mended_part(part: Part) -> Part:
    match part:
        case TextPart() | ReasoningPart() if mended(part.text) is part.text:
            new: Part = part
        case TextPart() | ReasoningPart():
            new = replace(part, text=mended(part.text))
        case ToolCallPart():
            new = replace(part, call_id=mended(part.call_id), arguments=mended(part.arguments))
        case ToolResultPart():
            new = replace(part, call_id=mended(part.call_id), output=_mended_json(part.output))
        case FilePart(url=str(url)):
            new = replace(part, url=mended(url))
        case _:
            new = part
    return new


def _mended_json(value: Json) -> Json:
    match value:
        case str():
            return mended(value)
        case list():
            return [_mended_json(each) for each in value]
        case dict():
            return {mended(key): _mended_json(each) for key, each in value.items()}
        case _:
            return value


def _with_object(part: Part) -> Part:
    if not isinstance(part, ToolCallPart):
        return part
    arguments = _object(part.arguments)
    return part if arguments == part.arguments else replace(part, arguments=arguments)


def _object(raw: str) -> str:
    raw = mended(raw)
    if not raw.strip():
        return "{}"
    try:
        value = json.loads(raw, parse_constant=_refuse, parse_float=_finite)
        if isinstance(value, dict):
            mended_value = _mended_json(value)
            # Escapes such as \ud83d and \u0000 come to light only here.
            if mended_value == value:
                return raw
            return json.dumps(
                mended_value,
                ensure_ascii=False,
            )
    except (ValueError, RecursionError):
        pass
    return json.dumps({"arguments": raw}, ensure_ascii=False)


def _finite(number: str) -> float:
    # 1e999 is JSON, and infinite for whoever reads it.
    if isinf(value := float(number)):
        raise ValueError(number)
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
