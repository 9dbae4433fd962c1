"""What a cassette says of requests, events, failures and tool calls, as JSON. Pure.

A request has no address, no time limit and no id that was made up for it: ids of tool calls become
the order in which they appear. Of files the hash is kept, not the bytes.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final, cast, get_args
from urllib.parse import urlsplit

from jan_magics.domain.errors import (
    ContextOverflow,
    ProviderError,
    Refused,
    RequestRejected,
    ServerFailed,
)
from jan_magics.domain.events import (
    Finish,
    LeftOut,
    Prefill,
    ReasoningDelta,
    Seal,
    StreamEvent,
    TextDelta,
    Thought,
    ToolCallDelta,
)
from jan_magics.domain.messages import (
    FilePart,
    FinishReason,
    Json,
    Message,
    Part,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatOptions, ChatRequest, Timings, Usage
from jan_magics.engine.cassette import name_of

SAID: Final = (RequestRejected, ServerFailed, ContextOverflow)
"""Failures that are an answer of the server, and recorded as one."""
_FAILURES: Final[Mapping[str, type[ProviderError]]] = MappingProxyType(
    {kind.__name__: kind for kind in SAID}
)
SERVER: Final = "the server"
"""What stands in the place of an address."""
_ADDRESS: Final = re.compile(r"\bhttps?://[^\s'\"<>]+")
_UNWRITTEN: Final = re.compile(
    r"timeout|.*(api_?key|secret|password|authorization|headers?)", re.IGNORECASE
)
"""Parameters that are never written: what the answer does not depend on, and what may be a key."""

_LONGEST: Final = 60.0


def request_json(request: ChatRequest) -> dict[str, Json]:
    """Return all of a request that the answer depends on."""
    ids: dict[str, str] = {}
    found: dict[str, Json] = {"model": name_of(request.model)}
    if request.system:
        found["system"] = request.system
    found["messages"] = [_message(message, ids) for message in request.messages]
    if request.tools:
        found["tools"] = [cast(Json, asdict(tool)) for tool in request.tools]
    if options := _options(request.options):
        found["options"] = options
    if request.window is not None:
        found["window"] = request.window
    if request.schema is not None:
        found["schema"] = dict(request.schema.body)
    return found


def event_json(event: StreamEvent, at: float) -> Json:
    """Return an event `at` seconds after the request, None for what only says to wait."""
    said: Sequence[Json]
    match event:
        case TextDelta():
            said = ("text", event.text)
        case ReasoningDelta():
            said = ("reasoning", event.text)
        case ToolCallDelta():
            said = ("call", event.index, event.call_id, event.name, event.arguments)
        case Seal():
            said = ("seal", cast(Json, asdict(event)))
        case Thought():
            said = ("thought",)
        case LeftOut():
            said = ("left out", event.name, event.why)
        case Prefill():
            said = ("prefill", event.done, event.total, event.cached)
        case Finish():
            said = ("finish", event.reason, _known(event.usage), _known(event.timings))
        case _:
            return None
    return [round(at, 3), *said]


def time_of(line: Json) -> float:
    """Return how many seconds after the request an event came; a minute at most, 0 unknown."""
    at = line[0] if isinstance(line, list) and line else None
    return min(max(float(at), 0.0), _LONGEST) if isinstance(at, int | float) else 0.0


def event_of(line: Json) -> StreamEvent | None:
    """Return a recorded event, None for one that cannot be read."""
    if not isinstance(line, list) or len(line) < 2:
        return None
    make = _EVENTS.get(str(line[1]))
    try:
        return make(*cast(list[Any], line[2:])) if make else None
    except (KeyError, TypeError, ValueError):
        return None


def _seal(said: dict[str, Any]) -> Seal:
    return Seal(**{**said, "opaque": ProviderData(**said["opaque"])})


def _finish(
    reason: FinishReason | None, usage: dict[str, Any] | None, timings: dict[str, Any] | None
) -> Finish:
    used = None if usage is None else Usage(**usage)
    return Finish(reason, used, None if timings is None else Timings(**timings))


_EVENTS: Final[Mapping[str, Callable[..., StreamEvent]]] = MappingProxyType({
    "text": TextDelta, "reasoning": ReasoningDelta, "call": ToolCallDelta, "seal": _seal,
    "thought": Thought, "left out": LeftOut, "prefill": Prefill, "finish": _finish,
})  # fmt: skip


def failure_json(failure: ProviderError, at: float, address: str | None = None) -> Json:
    """Return a failure that the server has answered with; addresses in its words are left out.

    `address` is the server's, where its model is named by it: its host is left out as well.
    """
    host = urlsplit(address).netloc.rpartition("@")[2] if address else ""
    found: dict[str, Json] = {"kind": type(failure).__name__, "status": failure.status}
    if isinstance(failure, ContextOverflow):
        found |= {"used": failure.used, "window": failure.window}
        found |= {"answer": failure.answer} if failure.answer else {}
    else:
        said = {"message": failure.message, "step": failure.next_step}
        found |= {name: _placeless(text, host) for name, text in said.items()}
    if isinstance(failure, RequestRejected) and failure.refuses:
        found |= {"refuses": failure.refuses, "sends": failure.sends}
    return [round(at, 3), "failure", found]


def failure_of(line: Json, model: str) -> ProviderError | None:
    """Return a recorded failure, None for any other event."""
    if not isinstance(line, list) or len(line) != 3 or line[1] != "failure":
        return None
    found = cast(dict[str, Any], line[2])
    kind = _FAILURES.get(found.get("kind", ""), RequestRejected)
    if kind is ContextOverflow:
        sizes = (found["used"], found["window"])
        answer, status = found.get("answer"), found["status"]
        return ContextOverflow(*sizes, model=model, status=status, answer=answer)
    message, step = str(found.get("message")), str(found.get("step"))
    failure = kind(message, step, model=model, status=found.get("status"))
    if isinstance(failure, RequestRejected) and found.get("refuses") in get_args(Refused):
        failure.refuses, failure.sends = found["refuses"], int(found.get("sends", 0))
    return failure


def _placeless(text: str, host: str) -> str:
    bare = _ADDRESS.sub(SERVER, text)
    return bare.replace(host, SERVER) if host else bare


def _known(value: Usage | Timings | None) -> Json:
    if value is None:
        return None
    return {name: each for name, each in asdict(value).items() if each is not None}


def _options(options: ChatOptions) -> dict[str, Json]:
    named = {name: getattr(options, name) for name in ("temperature", "max_tokens", "seed")}
    known: dict[str, Json] = {name: each for name, each in named.items() if each is not None}
    if options.think is not None:
        known["think"] = options.think
    rest = {n: each for n, each in options.parameters.items() if not _UNWRITTEN.fullmatch(n)}
    if rest:
        known["parameters"] = rest
    return known


def _message(message: Message, ids: dict[str, str]) -> Json:
    return {"role": message.role, "parts": [_part(part, ids) for part in message.parts]}


def _part(part: Part, ids: dict[str, str]) -> Json:
    found: dict[str, Json]
    match part:
        case TextPart():
            found = {"text": part.text}
        case ReasoningPart():
            found = {"reasoning": part.text}
            if part.signature is not None:
                found["signature"] = part.signature
        case FilePart():
            found = _file(part)
        case ToolCallPart():
            found = {"call": part.name, "id": _id(part.call_id, ids), "arguments": part.arguments}
        case ToolResultPart():
            found = {"result": part.name, "id": _id(part.call_id, ids), "output": part.output}
            if part.state != "ok":
                found["state"] = part.state
        case _:
            return {"unknown": part.raw}
    if part.opaque is not None:
        found["opaque"] = cast(Json, asdict(part.opaque))
    return found


def _file(part: FilePart) -> dict[str, Json]:
    found: dict[str, Json] = {"file": part.media_type}
    if part.name is not None:
        found["name"] = part.name
    if part.data is not None:
        found |= {"bytes": len(part.data), "sha256": hashlib.sha256(part.data).hexdigest()}
    if part.url is not None:
        # A signed address is as good as a key.
        found["address"] = hashlib.sha256(part.url.encode("utf-8", "replace")).hexdigest()
    return found


def _id(identifier: str, ids: dict[str, str]) -> str:
    return ids.setdefault(identifier, f"#{len(ids) + 1}")
