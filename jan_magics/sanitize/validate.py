"""`validate`: would a provider take these messages? No code is shared with the cleaners.

It is written from what servers refuse, so that each side can show the other's mistakes.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NoReturn, TypeAlias

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from jan_magics.domain.models import Profile

_UNSENT: Final = ("inline_file_contents", "attached_files")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a provider would refuse; `message` is the id of the message sent, "" for the whole."""

    message: str
    rule: str
    detail: str


Faults: TypeAlias = Iterator[Fault]


def validate(messages: Sequence[Message], profile: Profile) -> tuple[Fault, ...]:
    """Return every reason for which a provider would refuse these messages, none if there is none.

    An answer at the end may be one that is to go on.
    """
    return tuple(fault for rule in _RULES for fault in rule(messages, profile))


def _question(messages: Sequence[Message], profile: Profile) -> Faults:
    for message in messages:
        if message.role != "user":
            continue
        said = "".join(part.text for part in message.parts if isinstance(part, TextPart)).strip()
        is_result = re.fullmatch(r"<tool_response>.*</tool_response>", said, re.DOTALL)
        if any(isinstance(part, FilePart) for part in message.parts) or (said and not is_result):
            return
    yield Fault("", "question", "no message of the user asks anything")


def _order(messages: Sequence[Message], profile: Profile) -> Faults:
    spoken = [message for message in messages if message.role != "system"]
    if spoken and spoken[0].role != "user":
        yield Fault(spoken[0].id, "order", "the first message is not the user's")
    if not profile.alternating:
        return
    for before, message in pairwise(spoken):
        ended = _ends(before)
        if before.role == message.role == "user":
            yield Fault(message.id, "order", "two messages of the user in a row")
        if before.role == message.role == "assistant" and not (ended and profile.waves):
            yield Fault(message.id, "order", "two answers in a row")
        if message.role == "user" and before.role == "assistant" and ended:
            yield Fault(message.id, "order", "a question right after a tool result")


def _ends(message: Message) -> bool:
    return any(isinstance(part, ToolResultPart) for part in message.parts[-1:])


def _system(messages: Sequence[Message], profile: Profile) -> Faults:
    for number, message in enumerate(messages):
        if message.role != "system" or profile.system == "any":
            continue
        if profile.system == "none":
            yield Fault(message.id, "system", "there is no system role")
        elif number:
            yield Fault(message.id, "system", "a system message that is not the first message")


def _content(messages: Sequence[Message], profile: Profile) -> Faults:
    for message in messages:
        if all(isinstance(part, ReasoningPart) for part in message.parts):
            yield Fault(message.id, "content", "a message without content")
        for part in message.parts:
            if detail := _wrong(part, message.role, profile):
                yield Fault(message.id, "content", detail)
        for key in _UNSENT:
            if key in message.metadata:
                yield Fault(message.id, "content", f"{key} is not in the text")


def _wrong(part: Part, role: str, profile: Profile) -> str:
    said = ""
    match part:
        case UnknownPart():
            said = "content of an unknown kind"
        case TextPart(text=text) if not (text.strip() or (part.opaque and role == "assistant")):
            said = "a text without words"
        case ReasoningPart() if role != "assistant" or profile.reasoning == "never":
            said = "reasoning"
        case ReasoningPart(opaque=None) if profile.reasoning == "signed":
            said = "reasoning without a signature"
        case ToolCallPart() | ToolResultPart() if role != "assistant" or profile.tools is False:
            said = "a tool part"
    return said


def _files(messages: Sequence[Message], profile: Profile) -> Faults:
    takes = {"image": profile.images, "audio": profile.audio, "video": profile.video}
    for message in messages:
        for part in message.parts:
            if not isinstance(part, FilePart):
                continue
            kind = part.media_type.split("/")[0]
            refused = not re.fullmatch(profile.media, part.media_type)
            if refused or takes.get(kind.lower(), profile.files) is False:
                yield Fault(message.id, "files", f"the model takes no {part.media_type!r}")
            if kind == "text" and part.data:
                yield Fault(message.id, "files", "a text that is sent as a file")
            if not part.data and not (
                part.url and re.fullmatch(profile.addressed, part.media_type)
            ):
                yield Fault(message.id, "files", "a file without content")
            if len(part.name or "") > profile.longest_file_name:
                yield Fault(message.id, "files", f"the name {part.name!r} is too long")
            if message.role == "system" or (
                message.role == "assistant" and not profile.answer_files
            ):
                yield Fault(message.id, "files", f"a file in a message of the {message.role}")


def _pairs(messages: Sequence[Message], profile: Profile) -> Faults:
    for message in messages:
        kinds = "".join(map(_letter, message.parts))
        if profile.waves and not re.fullmatch(r"s*(c+r+)?", kinds):
            yield Fault(message.id, "pairs", f"speech, calls and results are mixed: {kinds}")
        open_calls = dict[str, str]()
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                if part.call_id in open_calls:
                    yield Fault(message.id, "pairs", f"two open calls {part.call_id!r}")
                open_calls[part.call_id] = part.name
            elif isinstance(part, ToolResultPart):
                if open_calls.pop(part.call_id, None) != part.name:
                    yield Fault(message.id, "pairs", f"a result without call {part.call_id!r}")
            elif open_calls and profile.waves:
                yield Fault(message.id, "pairs", "words before a call has its result")
        for identifier in open_calls:
            yield Fault(message.id, "pairs", f"a call without result {identifier!r}")


def _letter(part: Part) -> str:
    return {ToolCallPart: "c", ToolResultPart: "r"}.get(type(part), "s")


def _calls(messages: Sequence[Message], profile: Profile) -> Faults:
    ids = Counter[str]()
    for message in messages:
        for part in message.parts:
            if not isinstance(part, ToolCallPart):
                continue
            ids[part.call_id] += 1
            if not re.fullmatch(profile.call_ids, part.call_id):
                yield Fault(message.id, "calls", f"the id {part.call_id!r}")
            if not re.fullmatch(r"[A-Za-z0-9_-]+", part.name):
                yield Fault(message.id, "calls", f"the tool's name {part.name!r}")
            if len(part.name) > profile.longest_tool_name:
                yield Fault(message.id, "calls", f"the tool's name {part.name!r} is too long")
            if not _is_object(part.arguments):
                yield Fault(message.id, "calls", "arguments that are no JSON object")
    for identifier, times in ids.items():
        if profile.unique_calls and times > 1:
            yield Fault("", "calls", f"{times} calls {identifier!r}")


def _is_object(text: str) -> bool:
    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        value = json.loads(text, parse_constant=refuse)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not any(map(_is_broken, _strings(value)))


def _characters(messages: Sequence[Message], profile: Profile) -> Faults:
    for message in messages:
        for part in message.parts:
            if any(map(_is_broken, _texts(part))):
                yield Fault(message.id, "characters", "NUL or half a character")
    for identifier, times in Counter(message.id for message in messages).items():
        if times > 1:
            yield Fault(identifier, "ids", f"{times} messages of one id")


def _texts(part: Part) -> Iterator[str]:
    match part:
        case TextPart() | ReasoningPart():
            yield part.text
        case FilePart():
            yield from (part.name or "", part.url or "")
        case ToolCallPart():
            yield from (part.call_id, part.name, part.arguments)
        case ToolResultPart():
            yield from (part.call_id, part.name)
            yield from _strings(part.output)
        case _:
            return


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _is_broken(text: str) -> bool:
    return "\0" in text or re.search("[\ud800-\udfff]", text) is not None


_RULES: Final[tuple[Callable[[Sequence[Message], Profile], Faults], ...]] = (
    _question, _order, _system, _content, _files, _pairs, _calls, _characters,
)  # fmt: skip
