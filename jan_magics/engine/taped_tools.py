"""Tools beside a deck: what they gave is recorded; out of a cassette it is given, and none runs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast, get_args

from jan_magics.domain.messages import Json, ToolCallPart, ToolState
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.arguments import repair_args
from jan_magics.engine.cassette import Entry
from jan_magics.engine.deck import Deck
from jan_magics.engine.toolbox import Offered
from jan_magics.engine.tools import Ran, Tool

Run: TypeAlias = Callable[[ToolCallPart], Awaitable[Ran]]

NO_RESULT: Final = "not run: a cassette is replayed, and this call is not in it"
_STATES: Final[tuple[ToolState, ...]] = get_args(ToolState)


async def taped_call(deck: Deck, call: ToolCallPart, run: Run) -> Ran:
    """Answer a call from the cassette, else run it. Raises NotRecorded."""
    request = _request(call)
    if playing := deck.playing:
        if entry := playing.take("tool", request):
            return _ran(entry)
        missed = playing.missed_for("tool", request)
        if playing.missing == "error":
            raise missed
        return await run(call) if playing.missing == "live" else Ran(NO_RESULT, "error")
    ran = await run(call)
    if recording := deck.recording:
        said: list[Json] = [[0, "result", ran.output, ran.state]]
        await asyncio.to_thread(recording.add, "tool", request, said)
    return ran


async def taped_offer(
    deck: Deck, offered: Offered, complete: Callable[[], Awaitable[Offered]]
) -> Offered:
    """Add the tools of servers: as the cassette has them, else by starting these.

    Raises:
        NotRecorded: when the cassette does not know these servers.
    """
    if not offered.servers and not offered.single:
        return offered
    request: dict[str, Json] = {"servers": [*offered.servers], "tools": [*offered.single]}
    if playing := deck.playing:
        if entry := playing.take("tools", request):
            return _offered(offered, entry)
        missed = playing.missed_for("tools", request)
        if playing.missing == "error":
            raise missed
        return await complete() if playing.missing == "live" else offered
    found = await complete()
    if recording := deck.recording:
        await asyncio.to_thread(recording.add, "tools", request, _told(offered, found))
    return found


def _request(call: ToolCallPart) -> dict[str, Json]:
    given = repair_args(call.arguments)
    return {"tool": call.name, "arguments": call.arguments if given is None else given}


def _ran(entry: Entry) -> Ran:
    line = entry.events[-1] if entry.events else None
    if not isinstance(line, list) or len(line) != 4:
        return Ran(NO_RESULT, "error")
    return Ran(line[2], next((each for each in _STATES if each == line[3]), "ok"))


def _told(before: Offered, found: Offered) -> list[Json]:
    tools = [tool.spec for tool in found.tools if tool not in before.tools]
    said = list[Json]()
    for spec in tools:
        said.append([0, "tool", spec.name, spec.description, dict(spec.parameters)])
    for note in found.notes:
        if note not in before.notes:
            said.append([0, "note", note])
    said.extend([0, "missing", name] for name in found.missing if name not in before.missing)
    return said


def _offered(offered: Offered, entry: Entry) -> Offered:
    lines = cast("tuple[list[Any], ...]", entry.events)
    tools = tuple(_tool(ToolSpec(*line[2:])) for line in lines if line[1] == "tool")
    notes = tuple(str(line[2]) for line in lines if line[1] == "note")
    missing = (*offered.missing, *(str(line[2]) for line in lines if line[1] == "missing"))
    all_tools, told = (*offered.tools, *tools), (*offered.notes, *notes)
    return replace(offered, tools=all_tools, notes=told, missing=missing)


def _tool(spec: ToolSpec) -> Tool:
    return Tool(spec, lambda _: Ran(NO_RESULT, "error"), "mcp", "ask")
