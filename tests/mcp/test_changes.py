"""A list of tools that changes while its server runs: over stdio and HTTP, old protocol and new."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jan_magics.domain.models import ToolSpec
from jan_magics.providers.mcp import McpConnection
from jan_magics.providers.mcp_config import McpServer, server_at
from tests.engine.calling import Person, call, results
from tests.mcp.conftest import SERVER, free_port, http_serving
from tests.mcp.test_turns import Turns, close, runner, turns

__all__ = ["runner"]
WAIT = 10.0
"""Seconds that a change may take to be heard of."""
OLD = McpServer("old", sys.executable, (str(SERVER.with_name("old_server.py")),))
NEW = McpServer("weather", sys.executable, (str(SERVER),))


async def until(true: Callable[[], bool]) -> None:
    """Wait for a state, and fail where it does not come."""
    async with asyncio.timeout(WAIT):
        while not true():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(0.02)


async def told(server: McpServer, name: str, given: dict[str, str], expected: str) -> ToolSpec:
    """Call a tool that changes the list, and return the tool that is expected then."""
    connection = McpConnection(server)
    found: dict[str, ToolSpec] = {}
    connection.changed = lambda specs: found.update({spec.name: spec for spec in specs})
    try:
        await connection.open()
        assert not (await connection.call(name, given)).failed
        await until(lambda: expected in found)
        return found[expected]
    finally:
        await connection.close()


def test_over_stdio() -> None:
    spec = asyncio.run(told(NEW, "learn", {"name": "dance"}, "dance"))
    assert spec.description == "做点什么"


def test_over_http() -> None:
    with http_serving(free_port()) as address:
        found = asyncio.run(told(server_at(address), "learn", {"name": "dance"}, "dance"))
    assert found.name == "dance"


def test_a_server_of_the_older_protocol_tells_by_itself() -> None:
    assert asyncio.run(told(OLD, "grow", {}, "grown_1")).description == "长出来的"


def changed(made: Turns, name: str, is_there: bool = True) -> None:
    """Wait until the kernel knows of a change."""
    tools = made.servers.known["weather"]
    made.runner.run(until(lambda: (name in {t.name for t in tools.tools}) is is_there))


def test_the_next_turn_offers_what_there_is_now_and_says_so(
    tmp_path: Path, runner: asyncio.Runner
) -> None:
    learn = (call("weather__learn", '{"name": "dance"}'),)
    forget = (call("weather__forget", '{"name": "dance"}'),)
    made = turns(tmp_path, runner, learn, ("ok",), ("ok",), forget, ("ok",), ("ok",))
    made.kernel.session.toolbox.add_servers([NEW])
    first = made.ask(desk=Person(["yes", "yes"]), tools=("mcp:weather",))
    assert results(first.turn.answer)[-1][2] == "ok"
    assert "weather__dance" not in made.offered()  # what was begun goes on as it was
    changed(made, "weather__dance")
    second = made.ask(tools=("mcp:weather",))
    assert "weather__dance" in made.offered()
    assert "weather has changed its tools: 1 new, 10 in all" in second.lines
    assert "weather__dance" in made.rows("mcp:weather")
    third = made.ask(desk=Person(["yes"]), tools=("mcp:weather",))
    assert not any("changed its tools" in line for line in third.lines)
    changed(made, "weather__dance", is_there=False)
    fourth = made.ask(tools=("mcp:weather",))
    assert "weather__dance" not in made.offered()
    assert "weather has changed its tools: 1 gone, 9 in all" in fourth.lines
    close(made)


def test_a_yes_is_for_what_a_tool_was_when_it_was_given(
    tmp_path: Path, runner: asyncio.Runner
) -> None:
    made = turns(tmp_path, runner)
    box = made.kernel.session.toolbox
    box.add_servers([NEW])
    box.allowed |= {"weather__learn"}
    made.kernel.model.steps[:] = [(call("weather__learn", '{"name": "dance"}'),), ("ok",)]  # type: ignore[attr-defined]
    made.ask(desk=Person(["yes"]), tools=("weather",))
    changed(made, "weather__dance")
    box.allowed |= {"weather__dance", "weather__forecast"}
    before = made.servers.known["weather"].tools
    made.kernel.model.steps[:] = [(call("weather__learn", '{"name": "dance"}'),), ("ok",)]  # type: ignore[attr-defined]
    made.ask(desk=Person([]), tools=("weather",))
    runner.run(until(lambda: made.servers.known["weather"].tools != before))
    assert box.allowed == {"weather__learn", "weather__forecast"}
    close(made)


@pytest.mark.parametrize("server", [NEW, OLD], ids=["new", "old"])
def test_a_list_that_is_followed_does_not_hold_the_end_up(server: McpServer) -> None:
    async def go() -> float:
        connection = McpConnection(server)
        await connection.open()
        begun = asyncio.get_running_loop().time()
        await connection.close()
        return asyncio.get_running_loop().time() - begun

    assert asyncio.run(go()) < 5
