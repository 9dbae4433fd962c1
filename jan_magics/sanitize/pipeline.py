"""`clean`: a history becomes what a provider takes. The order of all steps stands here.

Every step is a pure function of messages and profile that changes nothing the second time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    stored_id,
)
from jan_magics.domain.models import Profile
from jan_magics.sanitize.attachments import attach_files, list_once
from jan_magics.sanitize.call_ids import fit_call_ids
from jan_magics.sanitize.cited import forget_numbers
from jan_magics.sanitize.media import leave_out_media, unpack_media
from jan_magics.sanitize.names import fit_names
from jan_magics.sanitize.parts import (
    Messages,
    choose_reasoning,
    drop_blank,
    drop_unknown,
    is_step_mark,
    read_parts,
    shown_json,
)
from jan_magics.sanitize.roles import explain_empty, order_roles
from jan_magics.sanitize.system import fold_system
from jan_magics.sanitize.text import mend_arguments, mend_text
from jan_magics.sanitize.tool_calls import pair_calls, take_results_home, tell_calls
from jan_magics.sanitize.waves import close_turns, split_waves

Step: TypeAlias = Callable[[Sequence[Message], Profile], Messages]

LONGEST: Final = 200
"""Characters of a repair's `before` and `after`."""

STEPS: Final[tuple[tuple[str, Step], ...]] = (
    ("", read_parts),
    ("characters", mend_text),
    ("source numbers", forget_numbers),
    ("arguments", mend_arguments),
    ("names", fit_names),
    ("", attach_files),
    ("", choose_reasoning),
    ("", unpack_media),
    ("media", leave_out_media),
    ("roles of results", take_results_home),
    ("system messages", fold_system),
    ("tool calls", pair_calls),
    ("no tools", tell_calls),
    ("", split_waves),
    ("unknown content", drop_unknown),
    ("", drop_blank),
    ("roles", order_roles),
    ("", list_once),
    ("", fit_call_ids),
    ("unfinished answers", close_turns),
    ("empty questions", explain_empty),
)
"""The rule of a step is what its repairs are called; a step without one only gives form."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What a rule changed in a stored message; `after` is empty where it is left out or moved."""

    message: str
    rule: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Messages as they can be sent, and what had to be repaired for that."""

    messages: tuple[Message, ...]
    repairs: tuple[Repair, ...] = ()


def clean(messages: Sequence[Message], profile: Profile) -> Cleaned:
    """Clean a history for a provider; the messages given stay as they are.

    What lies between two questions is repaired by itself: turns may be left out before or after. A
    message made of several keeps the id of the first, a wave has its number behind the id.
    """
    given = tuple(messages)
    repairs: list[Repair] = []
    for rule, step in STEPS:
        done = step(given, profile)
        if rule:
            repairs.extend(_repairs(rule, given, done))
        given = done
    return Cleaned(given, tuple(repairs))


def _repairs(rule: str, before: Messages, after: Messages) -> Iterator[Repair]:
    if before == after:
        return
    there = {message.id: message for message in before}
    left = {message.id: message for message in after}
    for identifier, message in there.items():
        now = left.get(identifier)
        if now is not message and (old := _shown(message)) != (new := _shown(now)):
            yield Repair(stored_id(identifier), rule, _cut(old), _cut(new))
    for identifier in left.keys() - there.keys():
        yield Repair(stored_id(identifier), rule, "", _cut(_shown(left[identifier])))


def _shown(message: Message | None) -> str:
    if message is None:
        return ""
    return f"{message.role}: " + "\n\n".join(filter(None, map(_part, message.parts)))


def _part(part: Part) -> str:
    match part:
        case TextPart():
            said = part.text
        case ReasoningPart():
            said = f"(reasoning) {part.text}"
        case FilePart():
            said = f"[{part.media_type} {part.name or part.url or ''}]"
        case ToolCallPart():
            said = f"{part.name}({part.arguments}) #{part.call_id}"
        case ToolResultPart():
            said = f"#{part.call_id} {part.name}: {shown_json(part.output)}"
        case _:
            said = "" if is_step_mark(part) else shown_json(part.raw)
    return said


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
