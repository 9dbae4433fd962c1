"""The tools of a kernel: which there are, which of them a turn offers, and what they have done."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.protocols import Vectors
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import is_lookup
from jan_magics.engine.paging import LongResults, budget
from jan_magics.engine.tool_marks import mark_of
from jan_magics.engine.tool_servers import AGAIN, BETWEEN, PREFIX, ToolServers
from jan_magics.engine.tools import Desk, PlainValues, Tool, Values, tool_of
from jan_magics.providers.mcp_config import McpServer

MAX_STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools of a turn, and what is to be told of them.

    `servers` are MCP servers with all that they have, `single` tools of servers by their names.
    `missing` is what was named and is not offered, also where that was told before.
    """

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class Toolbox:
    """What this kernel knows of tools. `names` gives the user's variables as they are now.

    `calls` counts by name, `late` what came too late and was dropped; `allowed` are those that a
    person has approved for this kernel. `vectors` are those of descriptions, by embedder and text.
    """

    names: Callable[[], Mapping[str, object]] = dict
    values: Values = field(default_factory=PlainValues)
    calls: dict[str, int] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    long: LongResults = field(default_factory=LongResults)
    servers: ToolServers = field(default_factory=ToolServers)
    vectors: dict[str, dict[str, Vectors]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Forget a yes to a tool that its server has changed since."""
        self.servers.changed = self._disallow_tools

    def added(self) -> tuple[McpServer, ...]:
        """Return the servers that were added."""
        return tuple(each.server for each in self.servers.known.values())

    def offered(self, wanted: Sequence[object] | None, *, lenient: bool = False) -> Offered:
        """Return the tools that were asked for: functions, or the names of some, and of servers.

        They are looked up anew at each turn: a cell that defines one again changes it. Those of
        servers come with `complete`. `lenient`: a name that nothing has any more is told only.

        Raises:
            SettingError: for a name that nothing has, or a function that cannot be a tool.
        """
        functions: list[object] = []
        servers: list[str] = []
        single: list[str] = []
        gone: list[str] = []
        # The retrieval tools come later, with the collection that they look in.
        for each in (each for each in wanted or () if not is_lookup(each)):
            if isinstance(each, str) and (server := self.server(each)):
                (single if BETWEEN in each else servers).append(each if BETWEEN in each else server)
                continue
            found = self._all_named(each) if isinstance(each, str) else (each,)
            if not found and isinstance(each, str):
                if not lenient:
                    raise self._unknown(each)
                gone.append(each)
            functions.extend(f for f in found if not any(f is other for other in functions))
        tools, notes = _named_apart(tool_of(each, self.values) for each in functions)
        lost = (f"there is no function {name!r} any more: it is not offered" for name in gone)
        return Offered(tools, (*notes, *lost), tuple(servers), tuple(single), tuple(gone))

    async def complete(
        self, offered: Offered, desk: Desk | None, say: Callable[[str], None], *, yes: bool
    ) -> Offered:
        """Return what a turn offers with the tools of its servers, which are started for that."""
        single = {name: self.servers.of_tool(name) or "" for name in offered.single}
        names = (*offered.servers, *single.values())
        if not names:
            return offered
        away = await self.servers.ready(names, desk, say, yes=yes)
        found = [
            tool
            for tool in self.servers.tools(names)
            if tool.name in single or self.servers.of_tool(tool.name) in offered.servers
        ]
        missing = single.keys() - {tool.name for tool in found}
        ready = [name for name in sorted(missing) if self.servers.known[single[name]].tools]
        tools, notes = _named_apart((*offered.tools, *found))
        lacking = (f"the server {single[name]} has no tool {name}" for name in ready)
        told = (*offered.notes, *notes, *away, *lacking)
        lost = tuple(dict.fromkeys(n for n in names if not self.servers.is_ready(n)))
        return replace(offered, tools=tools, notes=told, missing=(*offered.missing, *lost))

    def bench(
        self, offered: Offered, fit: Fit, desk: Desk | None, *, steps: int | None, yes: bool
    ) -> "Bench":
        """Return the tools of a turn with what they need."""
        missing = offered.missing
        return Bench(self, offered.tools, desk, fit, steps or MAX_STEPS, yes, missing=missing)

    def server(self, name: str) -> str | None:
        """Return the server that a name means, None for the name of a function.

        Raises:
            SettingError: for one that says it is a server's, and no server has it.
        """
        if name.startswith(PREFIX):
            bare = name.removeprefix(PREFIX)
            if bare in self.servers.known:
                return bare
            raise SettingError(f"no MCP server {bare!r}", f"Add it: {AGAIN}   see: %chat tools")
        if name in dict(self.marked()) or callable(dict(self.names()).get(name)):
            return None
        return name if name in self.servers.known else self.servers.of_tool(name)

    def add_servers(self, servers: Sequence[McpServer]) -> tuple[str, ...]:
        """Add MCP servers and return their names; a yes to an older one of a name is forgotten."""
        before = dict(self.servers.known)
        names = self.servers.add(servers)
        for name in names:
            if before.get(name) is not self.servers.known[name]:
                self._disallow(name)
        return names

    def forget(self, name: str, server: str) -> None:
        """Forget a yes to a tool that is taken away, and a server with all of its tools."""
        self.allowed.discard(name)
        self.servers.remove(server)
        self._disallow(server)

    def _disallow_tools(self, names: frozenset[str]) -> None:
        self.allowed -= names

    def _disallow(self, server: str) -> None:
        begins = f"{server}{BETWEEN}"
        self.allowed = {each for each in self.allowed if not each.startswith(begins)}

    def note_late(self, name: str) -> None:
        """Note a result that came too late."""
        self.late[name] = self.late.get(name, 0) + 1

    def marked(self) -> Iterator[tuple[str, object]]:
        """Yield the marked functions by the name that models know, each once."""
        seen: list[object] = []
        for name, value in dict(self.names()).items():  # a copy: another thread may define more
            found = None if name.startswith("_") else mark_of(value)
            if found is not None and not any(value is each for each in seen):
                seen.append(value)
                yield found.name or str(getattr(value, "__name__", name)), value

    def _all_named(self, name: str) -> tuple[object, ...]:
        """Return the functions that are marked with a name, else the one that is called so."""
        marked = tuple(function for known, function in self.marked() if known == name)
        plain = dict(self.names()).get(name)
        return marked or ((plain,) if callable(plain) else ())

    def _unknown(self, name: str) -> SettingError:
        marked, names = dict(self.marked()), dict(self.names())
        offered = [tool.name for tool in self.servers.tools(tuple(self.servers.known))]
        near = difflib.get_close_matches(name, [*marked, *names, *self.servers.known, *offered], 1)
        return SettingError(
            f"no function {name!r}{f', closest: {near[0]!r}' if near else ''}",
            "Define it in a cell above, or list those that there are: %chat tools",
        )


@dataclass(slots=True)
class Bench:
    """The tools of one turn. `desk` None: nobody waits who could be asked; `yes`: nobody has to.

    `routed` are the names of those that were chosen for the question, () where none had to be;
    `missing` is what was named and is not there.
    """

    box: Toolbox
    offered: tuple[Tool, ...] = ()
    desk: Desk | None = None
    fit: Fit = field(default_factory=Fit)
    max_steps: int = MAX_STEPS
    yes: bool = False
    routed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def result_tokens(self) -> int:
        """Return the tokens that one result may have."""
        return budget(self.fit.budget.window)

    def tools(self) -> tuple[Tool, ...]:
        """Return what may be called at the next step: ours first, then functions."""
        if not self.offered or not self.box.long.kept:
            return self.offered
        return (self.box.long.tool(self.result_tokens, self.fit.tokenizer.count), *self.offered)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools as they are sent."""
        return tuple(tool.spec for tool in self.tools())

    def named(self, name: str) -> Tool | None:
        """Return the tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)


def tool_name(wanted: object) -> str:
    """Return what a tool is called that was asked for: by its name, or as a function."""
    return wanted if isinstance(wanted, str) else str(getattr(wanted, "__name__", wanted))


def _named_apart(tools: Iterable[Tool]) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Return tools of which no two are called alike, and a line for each that got a new name."""
    kept: list[Tool] = []
    notes: list[str] = []
    for tool in tools:
        each = tool
        if (name := _free(tool.name, kept)) != tool.name:
            spec = ToolSpec(name, tool.spec.description, tool.spec.parameters)
            notes.append(f"two tools are called {tool.name}: the later one is {name}")
            each = replace(tool, spec=spec)
        kept.append(each)
    return tuple(kept), tuple(notes)


def _free(name: str, tools: Sequence[Tool]) -> str:
    """Return a name that no tool has yet."""
    taken = {tool.name for tool in tools}
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
