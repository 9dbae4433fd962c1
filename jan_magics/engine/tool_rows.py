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
    known, listed = dict(box.marked()), list(wanted)
    servers = [each for each in listed if isinstance(each, str) and box.server(each)]
    for each in listed:
        if each in servers:
            continue
        row = _named(box, tool_name(each), each, "offered at every turn")
        known.pop(row.name, None)
        yield row
    for name, function in known.items():
        yield _named(box, name, function, f"not offered · offer it: %chat tools --add {name}")
    yield from _of_servers(box, servers)


def _of_servers(box: Toolbox, wanted: Sequence[str]) -> Iterator[ToolRow]:
    whole = {box.server(each) for each in wanted if BETWEEN not in each}
    for tool in box.servers.tools(tuple(box.servers.known)):
        offered = tool.name in wanted or box.servers.of_tool(tool.name) in whole
        step = f"not offered · offer it: %chat tools --add {tool.name}"
        yield _row(box, tool, "offered at every turn" if offered else step)
    for name, why in box.servers.told():
        yield ToolRow(name, "mcp", "ask", 0, why)


def _named(box: Toolbox, name: str, each: object, status: str) -> ToolRow:
    try:
        tool = box.offered((each,)).tools[0]
    except SettingError as fault:
        return ToolRow(name, "function", "never", box.calls.get(name, 0), fault.message)
    return _row(box, tool, status)


def _row(box: Toolbox, tool: Tool, status: str) -> ToolRow:
    approval = "auto" if tool.name in box.allowed else tool.approval
    if late := box.late.get(tool.name):
        status = f"{status} · {counted(late, 'late result')} dropped"
    return ToolRow(tool.name, tool.kind, approval, box.calls.get(tool.name, 0), status)
