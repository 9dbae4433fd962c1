"""Tool calls: each has one result, right behind the calls of its step, and an id of its own.

A call that was cut off is answered by a neutral result; the stored answer stays as it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from jan_magics.domain.messages import Json, Message, Part, TextPart, ToolCallPart, ToolResultPart
from jan_magics.domain.models import Profile
from jan_magics.sanitize.parts import Messages, shown_json, with_parts

NO_RESULT: Final = "The result is not available: the call was interrupted."


@dataclass(slots=True)
class _Called:
    """A call on its way to its result."""

    part: ToolCallPart
    result: ToolResultPart | None = None


@dataclass(frozen=True, slots=True)
class _Answered:
    """The place where a result of a call stood."""


_Item = tuple[int, Part | _Called | _Answered]


def take_results_home(messages: Sequence[Message], profile: Profile) -> Messages:
    """Give messages of the user that hold nothing but tool results to the assistant."""
    return tuple(
        replace(message, role="assistant")
        if message.role == "user"
        and message.parts
        and all(isinstance(part, ToolResultPart) for part in message.parts)
        else message
        for message in messages
    )


def pair_calls(messages: Sequence[Message], profile: Profile) -> Messages:
    """Pair calls and results over neighbouring answers.

    Results without a call go, a call that was written twice is folded, an id that comes again is
    changed, and a call without a result gets a neutral one.
    """
    paired: list[Message] = []
    for is_answer, group in groupby(messages, key=lambda message: message.role == "assistant"):
        run = tuple(group)
        paired.extend(_paired(run) if is_answer and any(map(uses_tools, run)) else run)
    return tuple(paired)


def tell_calls(messages: Sequence[Message], profile: Profile) -> Messages:
    """Tell calls and results as text of the answer, where a model knows no tools."""
    if profile.tools is not False:
        return tuple(messages)
    return tuple(
        with_parts(message, _told(message.parts)) if uses_tools(message) else message
        for message in messages
    )


def uses_tools(message: Message) -> bool:
    """Tell whether a message holds tool calls or results."""
    return any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts)


def _paired(run: Sequence[Message]) -> Iterator[Message]:
    items = tuple(_matched(run))
    _make_distinct([item for _, item in items if isinstance(item, _Called)])
    parts: list[list[Part]] = [[] for _ in run]
    for number, found in groupby(items, key=lambda each: each[0]):
        parts[number].extend(_in_steps(item for _, item in found))
    for message, said in zip(run, parts, strict=True):
        yield with_parts(message, said)


def _matched(run: Sequence[Message]) -> Iterator[_Item]:
    """Yield all parts with the number of their message; calls know their result."""
    called = dict[str, list[_Called]]()
    late: list[ToolResultPart] = []
    for number, message in enumerate(run):
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                known = called.setdefault(part.call_id, [])
                if not any(each.result is None and each.part == part for each in known):
                    known.append(_Called(part))
                    yield number, known[-1]
            elif isinstance(part, ToolResultPart):
                if _give(part, called.get(part.call_id, [])):
                    yield number, _Answered()
                else:
                    late.append(part)
            else:
                yield number, part
    for result in late:
        _give(result, called.get(result.call_id, []), better=True)


def _give(result: ToolResultPart, calls: Sequence[_Called], *, better: bool = False) -> bool:
    """Give a result to the first call that waits, or that has only an interrupted one.

    Where several calls have one id, as some servers count, those of the result's name go first.
    """
    for call in sorted(calls, key=lambda each: each.part.name != result.name):
        if call.result is None or (
            better and call.result.state == "interrupted" and result.state != "interrupted"
        ):
            call.result = result
            return True
    return False


def _make_distinct(calls: Sequence[_Called]) -> None:
    known = {call.part.call_id for call in calls}
    used = set[str]()
    for call in calls:
        identifier, count = call.part.call_id, 1
        while identifier in used or (count > 1 and identifier in known):
            count += 1
            identifier = f"{call.part.call_id}_{count}"
        used.add(identifier)
        if count > 1:
            call.part = replace(call.part, call_id=identifier)


def _in_steps(items: Iterable[Part | _Called | _Answered]) -> Iterator[Part]:
    """Yield the calls of each step, then their results; a call after a result begins a step."""
    step: list[_Called] = []
    answered = False
    for item in items:
        if isinstance(item, _Answered):
            answered = bool(step)
            continue
        if not isinstance(item, _Called) or answered:
            yield from map(_result, step)
            step, answered = [], False
        if isinstance(item, _Called):
            step.append(item)
            yield item.part
        else:
            yield item
    yield from map(_result, step)


def _result(call: _Called) -> ToolResultPart:
    identifier, name = call.part.call_id, call.part.name
    if call.result is None:
        return ToolResultPart(identifier, name, NO_RESULT, "interrupted")
    if (call.result.call_id, call.result.name) == (identifier, name):
        return call.result
    return replace(call.result, call_id=identifier, name=name)


def _told(parts: Sequence[Part]) -> Iterator[Part]:
    outputs: dict[str, Json] = {p.call_id: p.output for p in parts if isinstance(p, ToolResultPart)}
    for part in parts:
        if isinstance(part, ToolCallPart):
            said = shown_json(outputs.get(part.call_id))
            yield TextPart(f"[{part.name}({part.arguments}) returned: {said}]")
        elif not isinstance(part, ToolResultPart):
            yield part
