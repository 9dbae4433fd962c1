"""Tools: `@jan.tool` marks a function that a model may call, `jan.tools()` lists them.

Marking loads nothing: a cell that only defines functions stays as fast as it is.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from jan_magics.engine.tool_marks import ASK, Approval, Mark, mark

if TYPE_CHECKING:
    import pandas as pd

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F) -> F: ...
@overload
def tool(
    *, name: str | None = None, safe: bool = False, main: bool = False,
    timeout: float | None = 60, approval: Approval = ASK,
) -> Callable[[F], F]: ...  # fmt: skip
def tool(
    function: F | None = None,
    *,
    name: str | None = None,
    safe: bool = False,
    main: bool = False,
    timeout: float | None = 60,
    approval: Approval = ASK,
) -> F | Callable[[F], F]:
    """Mark a function as one that a model may call; the function stays as it is.

    `safe`: it only reads, so it runs beside others, and unasked unless `approval` is given. `main`:
    it runs in the main thread, for plots and `input()`, without a limit. `timeout` in seconds.
    `approval`: ask, auto or never.

    Raises:
        SettingError: for a timeout or an approval that cannot be used, and for what is no function.
    """

    def marked(each: F) -> F:
        mark(each, Mark(name, safe, main, timeout, approval))
        return each

    return marked if function is None else marked(function)


def tools() -> "pd.DataFrame":
    """Return the functions that a model may call: those offered at every turn, then the marked."""
    from dataclasses import asdict

    from jan_magics.api.opening import current_host
    from jan_magics.engine.tool_rows import tool_rows
    from jan_magics.frames import frame

    session = current_host().session()
    rows = tool_rows(session.toolbox, session.sticky.tools or ())
    return frame("tools", (asdict(row) for row in rows))


def add_servers(*named: str) -> tuple[str, ...]:
    """Offer the tools of MCP servers at every turn, and return the servers' names.

    `named` are addresses, and files relative to the notebook. Nothing is started before a turn.

    Raises:
        SettingError: for a file that cannot be read or names no server, and for no address.
        KeyRefused: when the file of keys is readable by others.
    """
    import os
    from dataclasses import replace

    from jan_magics.api.opening import current_host, resolved
    from jan_magics.engine.assemble import key_chain
    from jan_magics.engine.tool_servers import PREFIX
    from jan_magics.providers.mcp_config import McpServer, read_servers, server_at, with_key

    host = current_host()
    session = host.session()
    found: list[McpServer] = []
    for each in named:  # all are read before any is added
        if each.startswith(("http://", "https://")):
            taken = {server.name: server.url for server in (*session.toolbox.added(), *found)}
            found.append(server_at(each, taken))
        else:
            found.extend(read_servers(resolved(host, each), os.environ))
    keys = key_chain()
    names = session.toolbox.add_servers([with_key(each, keys) for each in found])
    wanted = session.sticky.tools or ()
    new = [f"{PREFIX}{name}" for name in names if f"{PREFIX}{name}" not in wanted]
    session.sticky = replace(session.sticky, tools=(*wanted, *new))
    return names
