"""The MCP servers of a kernel: asked for by name, started when a turn first needs them.

A server that fails is told of and its tools are missing; the turn goes on without them.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import ToolServerFailed
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.normalising import normalise
from jan_magics.engine.tools import LONGEST_NAME, Desk, Ran, Tool, Verdict
from jan_magics.providers.mcp import McpConnection
from jan_magics.providers.mcp_config import McpServer, bare_address

State: TypeAlias = Literal["new", "ready", "denied", "dead"]
BETWEEN: Final = "__"
"""Between a server's name and its tool's."""
PREFIX: Final = "mcp:"
"""Before a server's name where a tool's name could stand too."""
AGAIN: Final = "%chat tools --mcp FILE"


@dataclass(slots=True)
class ToolServer:
    """A server with what became of it; `reason` says why it is not ready.

    `news` is what the next turn is told: how its tools have changed. `declined`: a person has said
    no to its start, and is not asked again by itself.
    """

    server: McpServer
    state: State = "new"
    reason: str = ""
    tools: tuple[Tool, ...] = ()
    connection: McpConnection | None = None
    news: str = ""
    declined: bool = False
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def name(self) -> str:
        """Return the name that its tools begin with."""
        return self.server.name

    def take_news(self) -> str:
        """Return how its tools have changed; only once."""
        news, self.news = self.news, ""
        return news

    @property
    def address(self) -> str:
        """Return the address that is asked, without what may be secret; "" for a command."""
        return bare_address(self.server.url) if self.server.url else ""

    async def close(self) -> None:
        """End the server."""
        connection, self.connection, self.tools = self.connection, None, ()
        if connection is not None:
            await connection.close()


@dataclass(slots=True)
class ToolServers:
    """The servers that were added, in that order; `confirmed` are digests of what may be started.

    `connect` opens none yet. `changed` is told the names of tools that are not what they were.
    """

    connect: Callable[[McpServer], McpConnection] = McpConnection
    known: dict[str, ToolServer] = field(default_factory=dict)
    confirmed: set[str] = field(default_factory=set)
    changed: Callable[[frozenset[str]], None] = lambda _: None
    _left: list[ToolServer] = field(default_factory=list)

    def add(self, servers: Iterable[McpServer]) -> tuple[str, ...]:
        """Add servers and return their names; one that is the same and runs goes on running."""
        names: list[str] = []
        for server in servers:
            old = self.known.get(server.name)
            names.append(server.name)
            if old is not None:
                if old.state == "ready" and old.server.digest() == server.digest():
                    continue
                self._left.append(old)
            self.known[server.name] = ToolServer(server)
        return tuple(names)

    def remove(self, name: str) -> None:
        """Take a server away; it ends at the next turn, or with the kernel."""
        if found := self.known.pop(name, None):
            self._left.append(found)

    async def ready(
        self, names: Sequence[str], desk: Desk | None, say: Callable[[str], None], *, yes: bool
    ) -> tuple[str, ...]:
        """Start what is not running yet, and return a line for each server that stays away."""
        await self._end_left()
        wanted = [self.known[name] for name in names if name in self.known]
        open_ = ("new", "denied")
        new = [
            each
            for each in wanted
            if not each.tools and (each.state in open_ or (yes and each.declined))
        ]
        for each in new:
            if each.server.trusted or each.server.digest() in self.confirmed:
                each.state = "new"
            else:
                await self._confirm(each, desk, yes=yes)
        startable = [each for each in new if each.state == "new"]
        if startable:
            say(f"starting {', '.join(each.name for each in startable)}")
            await asyncio.gather(*(self._start(each) for each in startable))
        away = (f"{each.name}: {each.reason}" for each in wanted if each.state != "ready")
        return (*away, *(each.take_news() for each in wanted if each.news))

    def tools(self, names: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools of servers that run, in the order in which these were added."""
        return tuple(
            tool for each in self.known.values() if each.name in names for tool in each.tools
        )

    def is_ready(self, name: str) -> bool:
        """Tell whether a server runs."""
        return name in self.known and self.known[name].state == "ready"

    def of_tool(self, name: str) -> str | None:
        """Return the server that a tool's full name begins with, None for any other name."""
        return next((each for each in self.known if name.startswith(f"{each}{BETWEEN}")), None)

    def told(self) -> Iterator[tuple[str, str]]:
        """Yield each server that offers nothing yet, or any more, with why."""
        for each in self.known.values():
            at = f"{each.address} · " if each.address else ""
            if each.state == "new":
                yield each.name, f"{at}starts with the next turn, when that is allowed"
            elif each.state != "ready":
                yield each.name, f"{at}{each.state}: {each.reason}"
            elif not each.tools:
                yield each.name, f"{at}it has no tools"

    async def close(self) -> None:
        """End every server."""
        self._left.extend(self.known.values())
        self.known.clear()
        await self._end_left()

    async def _end_left(self) -> None:
        left, self._left = self._left, []
        await asyncio.gather(*(each.close() for each in left))

    async def _confirm(self, each: ToolServer, desk: Desk | None, *, yes: bool) -> None:
        """Have a person say yes to what is started; nothing of that is kept on disk."""
        verdict: Verdict = "yes" if yes else "nobody"
        if desk is not None and not yes:
            name, shown = each.name, each.server.shown
            verdict = await desk.run(lambda: desk.start(name, shown))
        if verdict in ("yes", "always"):
            self.confirmed.add(each.server.digest())
            each.state, each.reason, each.declined = "new", "", False
            return
        each.declined = verdict == "no"
        each.state = "denied" if verdict in ("nobody", "late") else "dead"
        each.reason = {
            "nobody": "not started, nobody can be asked here · allow it: --yes",
            "late": "not started, nobody answered in time",
        }.get(verdict, f"not started, as you said · start it: --yes   ask again: {AGAIN}")

    async def _start(self, each: ToolServer) -> None:
        async with each.starting:
            if each.state != "new":
                return  # another turn has started it meanwhile
            connection = each.connection = self.connect(each.server)
            connection.changed = lambda specs: self._renew(each, connection, specs)
            try:
                specs = await connection.open()
            except ToolServerFailed as failure:
                each.state, each.reason = "dead", _reason(failure)
                each.connection = None
            else:
                each.state, each.reason = "ready", ""
                each.tools = tuple(_tools(each, specs))

    def _renew(
        self, each: ToolServer, connection: McpConnection, specs: Sequence[ToolSpec]
    ) -> None:
        """Take the tools that a server has now; the next turn offers them."""
        if each.connection is not connection:
            return  # it was closed meanwhile
        tools = tuple(_tools(each, specs))
        before = {tool.name: tool.spec for tool in each.tools}
        now = {tool.name: tool.spec for tool in tools}
        if before == now:
            return
        each.tools = tools
        # A yes was given to what a tool was then.
        self.changed(frozenset(name for name in before if before[name] != now.get(name)))
        new, gone = len(now.keys() - before.keys()), len(before.keys() - now.keys())
        counts = [f"{new} new"] * bool(new) + [f"{gone} gone"] * bool(gone) or ["told anew"]
        each.news = f"{each.name} has changed its tools: {', '.join(counts)}, {len(now)} in all"


def _tools(each: ToolServer, specs: Sequence[ToolSpec]) -> Iterator[Tool]:
    taken: set[str] = set()
    for spec in specs:
        name = _full_name(each.name, spec.name)
        if name not in taken:
            taken.add(name)
            yield _tool(each, spec, name)


def _tool(each: ToolServer, spec: ToolSpec, name: str) -> Tool:
    async def call(given: Mapping[str, Json]) -> Ran:
        connection = each.connection
        if connection is None:
            return Ran(f"the MCP server {each.name!r} has ended", "error")
        try:
            found = await connection.call(spec.name, given)
        except ToolServerFailed as failure:
            if failure.gone and each.connection is connection:
                # The next turn starts it once more; what fails then stays dead.
                each.state, each.reason = "new", ""
                await each.close()
            return Ran(failure.message, "error")
        return Ran(found.output, "error" if found.failed else "ok")

    shown = ToolSpec(name, spec.description, normalise(spec.parameters))
    return Tool(shown, call, "mcp", "ask", timeout=each.server.timeout, elsewhere=True)


def _full_name(server: str, tool: str) -> str:
    """Return `server__tool` in characters that models know, at most as long as they take."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in tool)
    name = f"{server}{BETWEEN}{plain}"
    if plain == tool and len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 7]}_{sha256(tool.encode()).hexdigest()[:6]}"


def _reason(failure: ToolServerFailed) -> str:
    return f"{failure.message} · {failure.next_step}" if failure.next_step else failure.message
