"""Content: the parts of a message <-> the items of Jan's content list. No identity, no links.

What Jan has no place for stands under one key of ours in the item, which Jan ignores.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias, get_args

from jan_magics.domain.messages import (
    FilePart,
    Json,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolState,
    UnknownPart,
)
from jan_magics.storage.json_text import canonical, finite, parse
from jan_magics.storage.media import read_file, write_file

OWN: Final = "jan_magics"
_STATES: Final[Mapping[str, ToolState]] = MappingProxyType(
    {state: state for state in get_args(ToolState)}
)

Reading: TypeAlias = tuple[tuple[Part, ...], int | None]
"""The parts of one item, and where among all parts the result of its call belongs.

None: right behind the call.
"""


def read_content(items: Json) -> tuple[Part, ...]:
    """Read a content list; what we do not know becomes an UnknownPart, nothing is dropped."""
    parts: list[Part] = []
    moved: list[tuple[int, Part]] = []
    for item in items if isinstance(items, list) else []:
        found, place = _read_item(item)
        if place is None:
            parts.extend(found)
        else:
            parts.append(found[0])
            moved.append((place, found[1]))
    for place, result in sorted(moved, key=lambda each: each[0]):
        parts.insert(place, result)
    return tuple(parts)


def read_plain_text(items: Json) -> tuple[Part, ...] | None:
    """Read a list of nothing but words, each item just as we write it; None for any other."""
    if type(items) is not list:
        return None
    parts: list[Part] = []
    for item in items:
        if type(item) is not dict or len(item) != 2:
            return None
        kind, text = item.get("type"), item.get("text")
        if type(text) is not dict or len(text) != 2 or text.get("annotations") != []:
            return None
        value = text.get("value")
        if type(value) is not str or kind not in ("text", "reasoning"):
            return None
        parts.append(TextPart(value) if kind == "text" else ReasoningPart(value))
    return tuple(parts)


def write_content(parts: Sequence[Part]) -> list[Json]:
    """Write a content list; a tool call and its result share an item, as in Jan."""
    results = _results(parts)
    shared = set(results.values())
    items: list[Json] = []
    for index, part in enumerate(parts):
        if isinstance(part, ToolCallPart):
            place = results.get(index)
            result = None if place is None else parts[place]
            items.append(_write_call(part, result, None if place == index + 1 else place))
        elif index not in shared:
            items.append(_write_part(part))
    return items


def restore_items(written: list[Json], found: Json) -> list[Json]:
    """Put items back as they were found wherever they still say the same."""
    if not isinstance(found, list):
        return written
    same = [_read_item(new) == _read_item(old) for new, old in zip(written, found, strict=False)]
    same += [False] * (len(written) - len(same))
    return [found[index] if same[index] else item for index, item in enumerate(written)]


def _results(parts: Sequence[Part]) -> dict[int, int]:
    """Return, for each call's index, the index of its result: the first behind it."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    found: dict[int, int] = {}
    for index, part in enumerate(parts):
        if isinstance(part, ToolCallPart):
            waiting[part.call_id].append(index)
        elif isinstance(part, ToolResultPart) and waiting[part.call_id]:
            found[waiting[part.call_id].popleft()] = index
    return found


def _read_item(item: Json) -> Reading:
    if not isinstance(item, dict):
        return (UnknownPart(item),), None
    own = _mapping(item.get(OWN))
    if item.get("type") == "tool_call":
        return _read_call(item, own)
    part = _read_part(item, own)
    return (UnknownPart(item) if part is None else part,), None


def _read_part(item: Mapping[str, Json], own: Mapping[str, Json]) -> Part | None:
    match item.get("type"):
        case "text" | "reasoning":
            return _read_text(item, own)
        case "tool_result":
            return _read_result(item, _mapping(own.get("result")), "")
        case "unknown" if "unknown" in own:
            return UnknownPart(own["unknown"])
        case "image_url" | "input_audio" | "input_video" | "file":
            file = read_file(item, own)
            return file and replace(file, opaque=_read_opaque(own))
        case _:
            return None


def _write_part(part: Part) -> Json:
    own: dict[str, Json] = {}
    item: dict[str, Json]
    match part:
        case TextPart():
            item = {"type": "text", "text": {"value": part.text, "annotations": []}}
        case ReasoningPart():
            item = {"type": "reasoning", "text": {"value": part.text, "annotations": []}}
            if part.signature is not None:
                own["signature"] = part.signature
        case FilePart():
            item, own = write_file(part)
        case UnknownPart():
            return _write_unknown(part)
        case ToolCallPart():
            return _write_call(part, None, None)
        case ToolResultPart():
            item = {"type": "tool_result", "tool_call_id": part.call_id, "tool_name": part.name}
            item["output"] = part.output
            own["result"] = _write_result(part, part.name)
            return {**item, OWN: own}
    _write_opaque(own, part.opaque)
    return {**item, OWN: own} if own else item


def _read_text(item: Mapping[str, Json], own: Mapping[str, Json]) -> Part | None:
    text = item.get("text")
    value = text.get("value") if isinstance(text, dict) else text
    if not isinstance(value, str):
        return None
    if item["type"] == "text":
        return TextPart(value, _read_opaque(own))
    signature = own.get("signature")
    known = signature if isinstance(signature, str) else None
    return ReasoningPart(value, known, _read_opaque(own))


def _write_unknown(part: UnknownPart) -> Json:
    # Raw content that we would read as something else needs a cover.
    if _read_item(part.raw) == ((part,), None):
        return part.raw
    return {"type": "unknown", OWN: {"unknown": part.raw}}


def _read_call(item: dict[str, Json], own: Mapping[str, Json]) -> Reading:
    call_id, name = item.get("tool_call_id"), item.get("tool_name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        return (UnknownPart(item),), None
    arguments = own.get("arguments")
    if not isinstance(arguments, str):
        arguments = canonical(item["input"]) if "input" in item else ""
    call = ToolCallPart(call_id, name, arguments, _read_opaque(own))
    said = own.get("result")
    if not isinstance(said, dict) and item.get("output") is None:
        return (call,), None
    result = _read_result(item, _mapping(said), name)
    if result is None:
        return (call,), None
    place = _mapping(said).get("at")
    return (call, result), place if type(place) is int and place >= 0 else None


def _write_call(call: ToolCallPart, result: Part | None, place: int | None) -> Json:
    given = _arguments(call.arguments)
    item: dict[str, Json] = {
        "type": "tool_call",
        "tool_call_id": call.call_id,
        "tool_name": call.name,
        "input": given,
    }
    own: dict[str, Json] = {}
    if canonical(given) != call.arguments:
        own["arguments"] = call.arguments
    _write_opaque(own, call.opaque)
    if isinstance(result, ToolResultPart):
        item["output"] = result.output
        said = _write_result(result, call.name)
        if place is not None:
            said["at"] = place
        # A null output alone means to Jan that the tool has not answered.
        if said or result.output is None:
            own["result"] = said
    return {**item, OWN: own} if own else item


def _read_result(
    item: Mapping[str, Json], said: Mapping[str, Json], call_name: str
) -> ToolResultPart | None:
    call_id = item.get("tool_call_id")
    name = said.get("name", item.get("tool_name", call_name))
    if not isinstance(call_id, str) or not isinstance(name, str):
        return None
    said_state = said.get("state")
    state = _STATES.get(said_state, "ok") if isinstance(said_state, str) else "ok"
    return ToolResultPart(call_id, name, item.get("output"), state, _read_opaque(said))


def _write_result(result: ToolResultPart, call_name: str) -> dict[str, Json]:
    said: dict[str, Json] = {}
    if result.state != "ok":
        said["state"] = result.state
    if result.name != call_name:
        said["name"] = result.name
    _write_opaque(said, result.opaque)
    return said


def _arguments(text: str) -> Json:
    try:
        return finite(parse(text))
    except ValueError:
        return {}


def _read_opaque(own: Mapping[str, Json]) -> ProviderData | None:
    found = _mapping(own.get("opaque"))
    provider, model = found.get("provider"), found.get("model")
    if not isinstance(provider, str) or not isinstance(model, str):
        return None
    return ProviderData(provider, model, found.get("data"))


def _write_opaque(own: dict[str, Json], opaque: ProviderData | None) -> None:
    if opaque is not None:
        own["opaque"] = {
            "provider": opaque.provider,
            "model": opaque.model,
            "data": opaque.data,
        }


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
