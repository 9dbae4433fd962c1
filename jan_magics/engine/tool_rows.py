"""The list of tools: what is offered at every turn, what could be, and which servers are away."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.engine.tool_servers import BETWEEN
from jan_magics.engine.toolbox import Toolbox, tool_name
from jan_magics.engine.tools import Tool


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list; `approval` is how it is approved now."""

    name: str
    kind: str
    approval: str
    calls: int
    status: str


def tool_rows(box: Toolbox, wanted: Iterable[object]) -> Iterator[ToolRow]:
    """Yield the tools that are offered at every turn, then the marked ones, then those of servers.

    A server that has no tools now has a row of its own, with why.
    """
    known, listed = list(box.marked()), list(wanted)
    servers = [each for each in listed if isinstance(each, str) and box.server(each)]
    for each in listed:
        if each in servers:
            continue
        name = tool_name(each)
        yield from _named(box, name, each, "offered at every turn", remove=True)
        known = [pair for pair in known if pair[1] is not each and pair[0] != each]
    for name, function in known:
        step = f"not offered · offer it: %chat tools --add {name}"
        yield from _named(box, name, function, step)
    yield from _of_servers(box, servers)


def _of_servers(box: Toolbox, wanted: Sequence[str]) -> Iterator[ToolRow]:
    whole = {box.server(each) for each in wanted if BETWEEN not in each}
    for tool in box.servers.tools(tuple(box.servers.known)):
        server = box.servers.of_tool(tool.name) or ""
        status = f"not offered · offer it: %chat tools --add {tool.name}"
        if tool.name in wanted or server in whole:
            status = "offered at every turn"
        address = box.servers.known[server].address
        yield _row(box, tool, f"{status} · at {address}" if address else status)
    for name, why in box.servers.told():
        yield ToolRow(name, "mcp", "ask", 0, why)


def _named(
    box: Toolbox, name: str, each: object, status: str, *, remove: bool = False
) -> Iterator[ToolRow]:
    """Yield the rows of a name, or of a function: several, where several have that name."""
    try:
        tools = box.offered((each,)).tools
    except SettingError as fault:
        step = f" · take it off: %chat tools --remove {name}" if remove else ""
        yield ToolRow(name, "function", "never", box.calls.get(name, 0), f"{fault.message}{step}")
        return
    for tool in tools:
        yield _row(box, tool, status)


def _row(box: Toolbox, tool: Tool, status: str) -> ToolRow:
    approval = "auto" if tool.name in box.allowed else tool.approval
    if late := box.late.get(tool.name):
        status = f"{status} · {counted(late, 'late result')} dropped"
    return ToolRow(tool.name, tool.kind, approval, box.calls.get(tool.name, 0), status)
