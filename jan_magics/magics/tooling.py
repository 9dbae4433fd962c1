"""`%chat tools`: what a model may call."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.api.opening import current_host
from jan_magics.domain.errors import SettingError
from jan_magics.engine.session import Session
from jan_magics.engine.tool_servers import PREFIX
from jan_magics.magics.caller import Caller

Run: TypeAlias = Callable[[Caller, Any, str], object]


def _tools(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.tools import add_servers, tools

    session = current_host().session()
    if parsed.mcp:
        add_servers(*parsed.mcp)
    if parsed.add:
        _add(session, parsed.add)
    if parsed.remove:
        _remove(session, parsed.remove)
    return tools()


def _add(session: Session, name: str) -> None:
    session.toolbox.offered((name,))
    wanted = session.sticky.tools or ()
    if name not in wanted:
        session.sticky = replace(session.sticky, tools=(*wanted, name))


def _remove(session: Session, name: str) -> None:
    wanted = session.sticky.tools or ()
    server = name.removeprefix(PREFIX)
    names = (name, f"{PREFIX}{server}")
    kept = tuple(
        each for each in wanted if each not in names and getattr(each, "__name__", None) != name
    )
    if len(kept) == len(wanted) and server not in session.toolbox.servers.known:
        raise SettingError(f"{name!r} is not offered", "See what is: %chat tools")
    session.sticky = replace(session.sticky, tools=kept)
    session.toolbox.forget(name, server)


RUN: Final[Mapping[str, Run]] = MappingProxyType({"tools": _tools})
