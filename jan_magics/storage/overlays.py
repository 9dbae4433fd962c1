"""Our own records <-> JSON, one object each. A kind we do not know is kept and not read."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar, get_args

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Json
from jan_magics.domain.overlays import (
    CellLink,
    Change,
    ChangeKind,
    Hidden,
    Mark,
    MarkAction,
    NextRoot,
    Overlay,
    SegmentCut,
    SideTurn,
    Summary,
    TrimCut,
    Undone,
)
from jan_magics.storage.codec import (
    decode_message,
    encode_message,
    from_milliseconds,
    to_milliseconds,
)

Value = TypeVar("Value")

_KINDS: Final[Mapping[str, ChangeKind]] = MappingProxyType(
    {kind: kind for kind in get_args(ChangeKind)}
)
_ACTIONS: Final[Mapping[str, MarkAction]] = MappingProxyType(
    {action: action for action in get_args(MarkAction)}
)


def encode_overlay(overlay: Overlay) -> dict[str, Json]:
    """Write a record; its `type` says which kind it is."""
    record: dict[str, Json]
    match overlay:
        case CellLink(notebook, cell, ordinal, message):
            record = {"type": "cell_link", "notebook": notebook, "cell": cell}
            record |= {"ordinal": ordinal, "message": message}
        case SideTurn(question, answer):
            record = {"type": "side_turn", "question": encode_message(question)}
            record["answer"] = encode_message(answer)
        case Hidden(identifier, hidden):
            record = {"type": "hidden", "id": identifier, "hidden": hidden}
        case NextRoot(name, pending):
            record = {"type": "next_root", "name": name, "pending": pending}
        case Change(identifier, kind, before, created_at):
            record = {"type": "change", "id": identifier, "kind": kind}
            record |= {"before": dict(before), "at": to_milliseconds(created_at)}
        case Undone(change):
            record = {"type": "undone", "change": change}
        case _:
            record = _of_context(overlay)
    return record


def _of_context(overlay: SegmentCut | Summary | Mark | TrimCut) -> dict[str, Json]:
    match overlay:
        case SegmentCut(upto, change):
            return {"type": "segment_cut", "upto": upto, "change": change}
        case Summary(upto, text, ledger, covers, change):
            lines: dict[str, Json] = {kind: list(each) for kind, each in ledger.items()}
            record: dict[str, Json] = {"type": "summary", "upto": upto, "text": text}
            return record | {"ledger": lines, "covers": list(covers), "change": change}
        case Mark(identifier, action, upto, change):
            record = {"type": "mark", "id": identifier, "action": action}
            return record | {"upto": upto, "change": change}
        case TrimCut(upto, model, window):
            return {"type": "trim_cut", "upto": upto, "model": model, "window": window}


def decode_overlay(record: Json) -> Overlay | None:
    """Read a record; None for one of an unknown kind, or whose content is not as we write it."""
    if not isinstance(record, dict):
        return None
    kind = record.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    try:
        return read(record) if read else None
    except (KeyError, StoreError):
        return None


def decode_overlays(records: Iterable[Json]) -> list[Overlay]:
    """Read all records that are overlays of ours."""
    found = map(decode_overlay, records)
    return [overlay for overlay in found if overlay is not None]


def _cell_link(record: Mapping[str, Json]) -> CellLink:
    notebook, cell = _field(record, "notebook", str), _field(record, "cell", str)
    return CellLink(notebook, cell, _field(record, "ordinal", int), _field(record, "message", str))


def _side_turn(record: Mapping[str, Json]) -> SideTurn:
    return SideTurn(decode_message(record["question"]), decode_message(record["answer"]))


def _hidden(record: Mapping[str, Json]) -> Hidden:
    return Hidden(_field(record, "id", str), _field(record, "hidden", bool))


def _next_root(record: Mapping[str, Json]) -> NextRoot:
    name = None if record["name"] is None else _field(record, "name", str)
    return NextRoot(name, _field(record, "pending", bool))


def _change(record: Mapping[str, Json]) -> Change:
    before, at = _field(record, "before", dict), _field(record, "at", int)
    kind = _KINDS[_field(record, "kind", str)]
    return Change(_field(record, "id", str), kind, before, from_milliseconds(at))


def _undone(record: Mapping[str, Json]) -> Undone:
    return Undone(_field(record, "change", str))


def _segment_cut(record: Mapping[str, Json]) -> SegmentCut:
    return SegmentCut(_field(record, "upto", str), _field(record, "change", str))


def _summary(record: Mapping[str, Json]) -> Summary:
    ledger = {kind: _texts(lines) for kind, lines in _field(record, "ledger", dict).items()}
    upto, text = _field(record, "upto", str), _field(record, "text", str)
    return Summary(upto, text, ledger, _texts(record["covers"]), _field(record, "change", str))


def _mark(record: Mapping[str, Json]) -> Mark:
    identifier, action = _field(record, "id", str), _ACTIONS[_field(record, "action", str)]
    return Mark(identifier, action, _field(record, "upto", str), _field(record, "change", str))


def _trim_cut(record: Mapping[str, Json]) -> TrimCut:
    upto, model = _field(record, "upto", str), _field(record, "model", str)
    return TrimCut(upto, model, _field(record, "window", int))


def _texts(value: Json) -> tuple[str, ...]:
    if type(value) is not list:
        raise KeyError("a list of texts")
    return tuple(_field({"text": each}, "text", str) for each in value)


def _field(record: Mapping[str, Json], key: str, kind: type[Value]) -> Value:
    """Return a value of exactly that kind; a KeyError says that the record is not ours."""
    value = record[key]
    if type(value) is not kind:
        raise KeyError(key)
    return value


_READERS: Final[Mapping[str, Callable[[Mapping[str, Json]], Overlay]]] = MappingProxyType(
    {
        "cell_link": _cell_link,
        "side_turn": _side_turn,
        "hidden": _hidden,
        "next_root": _next_root,
        "change": _change,
        "undone": _undone,
        "segment_cut": _segment_cut,
        "summary": _summary,
        "mark": _mark,
        "trim_cut": _trim_cut,
    }
)
