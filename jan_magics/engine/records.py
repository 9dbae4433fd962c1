"""What is remembered of a turn beside its words: model, finish, usage, timings, as stored JSON."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, cast, get_args

from jan_magics.domain.messages import FilePart, FinishReason, Json, Message, Part
from jan_magics.domain.models import ChatRequest, ModelRef, Timings, Usage

KEY = "jan_magics"
"""The one metadata key that is ours; everything else in metadata belongs to others."""
_COUNTS: Final = ("input", "output", "cached", "reasoning")


def outcome(
    model: ModelRef, finish: FinishReason, usage: Usage, timings: Timings, asked: str
) -> dict[str, Json]:
    """Return the metadata of an answer, without what is not known; `asked` is the digest."""
    known: dict[str, Json] = {"model": str(model), "finish": finish, "asked": asked}
    for name, value in (("usage", usage), ("timings", timings)):
        if fields := {key: each for key, each in asdict(value).items() if each is not None}:
            known[name] = cast(Json, fields)
    return {KEY: known}


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """Return the tokens of several requests; what none of them says is not known."""
    listed = [asdict(usage) for usage in usages]
    known = {name: [v for each in listed if (v := each[name]) is not None] for name in _COUNTS}
    return Usage(**{name: sum(values) if values else None for name, values in known.items()})


def total_of(timings: Sequence[Timings]) -> Timings:
    """Return the newest timings, with the seconds of all; what nobody says is not known."""
    if not timings:
        return Timings()
    names = ("load", "prefill", "decode")
    known = {n: [v for each in timings if (v := getattr(each, n)) is not None] for n in names}
    return replace(timings[-1], **{n: sum(found) for n, found in known.items() if found})


def digest(request: ChatRequest) -> str:
    """Return what two requests share exactly when they ask the same of the same model."""
    said = [(message.role, tuple(map(_told, message.parts))) for message in request.messages]
    options = replace(request.options, timeout=None, parameters={})
    parameters = sorted(request.options.parameters.items())
    asked: tuple[object, ...] = (
        str(request.model), request.system, said, request.tools, options, parameters,
    )  # fmt: skip
    if request.schema is not None:  # without one it is told as it always was
        asked = (*asked, json.dumps(dict(request.schema.body), sort_keys=True))
    return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _told(part: Part) -> object:
    """Return a part as it is told from others; bytes by their digest, as they may be many."""
    if not isinstance(part, FilePart) or part.data is None:
        return part
    return part.media_type, hashlib.sha256(part.data).digest(), part.url, part.name


def asked_of(message: Message) -> str | None:
    """Return the digest of the request that an answer was given to."""
    found = ours(message).get("asked")
    return found if isinstance(found, str) else None


def with_facts(known: dict[str, Json], **facts: Json) -> dict[str, Json]:
    """Return an answer's metadata with more of ours; what is None is not known, and left out."""
    inner = known.get(KEY)
    told = {name: value for name, value in facts.items() if value is not None}
    return {**known, KEY: {**inner, **told}} if told and isinstance(inner, dict) else known


def steps_of(message: Message) -> int:
    """Return how many requests an answer took."""
    found = ours(message).get("steps")
    return found if isinstance(found, int) and found > 1 else 1


def offered_of(message: Message) -> tuple[str, ...]:
    """Return the tools that were chosen for an answer, () where none had to be."""
    found = ours(message).get("offered")
    return tuple(map(str, found)) if isinstance(found, list) else ()


def sources_of(message: Message) -> Sequence[Mapping[str, Any]]:
    """Return what was retrieved for an answer, by number."""
    found = ours(message).get("sources")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else ()


def cost_of(message: Message) -> float | None:
    """Return what an answer cost, None where nobody says a price."""
    found = ours(message).get("cost")
    return float(found) if isinstance(found, int | float) else None


def estimated_of(message: Message) -> int | None:
    """Return the tokens that were estimated for an answer's request."""
    found = ours(message).get("estimated")
    return found if isinstance(found, int) else None


def ours(message: Message) -> Mapping[str, Any]:
    """Return what we remember of a message, whatever was found there."""
    found = message.metadata.get(KEY)
    return found if isinstance(found, dict) else {}


def row_of(message: Message) -> str | None:
    """Return the digest of what was asked for the row of a table that an answer is given to."""
    found = ours(message).get("row")
    return found if isinstance(found, str) else None


def model_of(message: Message) -> str | None:
    """Return `provider:name` of an answer."""
    found = ours(message).get("model")
    return found if isinstance(found, str) else None


def finish_of(message: Message) -> FinishReason | None:
    """Return how an answer ended."""
    found = ours(message).get("finish")
    return cast(FinishReason, found) if found in get_args(FinishReason) else None


def usage_of(message: Message) -> Usage:
    """Return the tokens of an answer."""
    return Usage(**_numbers(message, "usage", Usage))


def timings_of(message: Message) -> Timings:
    """Return the timings of an answer."""
    return Timings(**_numbers(message, "timings", Timings))


def _numbers(message: Message, key: str, kind: type) -> dict[str, Any]:
    found = ours(message).get(key)
    names = getattr(kind, "__dataclass_fields__", {})
    return {
        name: value
        for name, value in (found.items() if isinstance(found, dict) else ())
        if name in names and isinstance(value, int | float)
    }
