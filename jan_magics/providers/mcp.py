"""One connection to an MCP server through the official SDK: its tools, nothing else of it.

The SDK is imported when the first server is started: it takes longer than all of ours.
"""

import asyncio
import importlib
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final

from jan_magics.domain.errors import ToolServerFailed, ToolServerRefused
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.version import VERSION
from jan_magics.providers.keys import origin_of
from jan_magics.providers.mcp_changes import Changes
from jan_magics.providers.mcp_config import McpServer
from jan_magics.providers.mcp_way import Way

PATIENCE: Final = 60.0
"""Seconds that a server may take to start: some download themselves first."""
FAREWELL: Final = 8.0
"""Seconds that a server may take to end; the SDK asks it, and then ends it."""
MOST_TOOLS: Final = 1000
_CLOSED: Final = -32000
"""What the SDK calls a connection that has ended."""
_NO_REQUEST: Final = -32600
"""What it calls a session that the server does not know any more."""
_INTERNAL: Final = -32603
"""What it calls a failure inside the server; over HTTP also one of what stands before it."""


@dataclass(frozen=True, slots=True)
class McpResult:
    """What a tool of a server has returned; `failed`: it says of itself that it has."""

    output: Json
    failed: bool = False


@dataclass(slots=True)
class McpConnection:
    """A server that runs, or an address that answers. Lives on one loop.

    One task opens and closes it, as the SDK wants; calls come from any other. `changed` is told the
    tools anew when the server says that they have changed.
    """

    server: McpServer
    patience: float = PATIENCE
    changed: Callable[[tuple[ToolSpec, ...]], None] = lambda _: None
    _serving: asyncio.Task[None] | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _client: Any = None
    _way: Way = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Prepare the way to the server; nothing is opened yet."""
        self._way = Way(self.server)

    async def open(self) -> tuple[ToolSpec, ...]:
        """Start the server and return its tools, as it describes them. Raises ToolServerFailed."""
        load()
        ready: asyncio.Future[tuple[ToolSpec, ...]] = asyncio.get_running_loop().create_future()
        self._serving = asyncio.create_task(self._serve(ready))
        opened = False
        try:
            waiting: set[asyncio.Future[Any]] = {self._serving, ready}
            await asyncio.wait(waiting, timeout=self.patience, return_when=asyncio.FIRST_COMPLETED)
            opened = ready.done()
            if not opened:
                raise self._not_started()
            return ready.result()
        finally:
            if not opened:
                # Also when nobody waits any longer: what is not known is never ended.
                await asyncio.shield(asyncio.create_task(self.close()))

    async def call(self, name: str, arguments: Mapping[str, Json]) -> McpResult:
        """Call a tool by the server's own name for it. Raises ToolServerFailed."""
        if self._client is None or self._serving is None or self._serving.done():
            raise self._failed("it has ended")
        calling = asyncio.ensure_future(self._client.call_tool(name, dict(arguments)))
        try:
            waiting: set[asyncio.Future[Any]] = {calling, self._serving}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not calling.done():
                calling.cancel()
        if not calling.done() or calling.cancelled():
            raise self._failed("it ended while it was asked")
        if fault := calling.exception():
            code = getattr(fault, "code", _CLOSED)
            gone = code in (_CLOSED, _NO_REQUEST) or (bool(self.server.url) and code == _INTERNAL)
            raise self._refusal() or self._failed(_words(fault), gone=gone)
        return result_of(calling.result())

    async def close(self) -> None:
        """End the server; one that does not end is left behind, and ends with this process."""
        answered, self._client = self._client is not None, None
        self._over.set()
        if self._serving is not None:
            if answered:
                await asyncio.wait({self._serving}, timeout=FAREWELL)
            self._serving.cancel()
            await asyncio.wait({self._serving}, timeout=FAREWELL)

    async def _serve(self, ready: "asyncio.Future[tuple[ToolSpec, ...]]") -> None:
        from mcp import Client
        from mcp_types import Implementation

        async with AsyncExitStack() as stack:
            transport = await self._way.open(stack)
            told, changes = Implementation(name="jan-magics", version=VERSION), Changes()
            client = await stack.enter_async_context(
                Client(transport, client_info=told, cache=None, message_handler=changes.hear)
            )
            tools = await _listed(client)
            self._client = client
            if not ready.done():
                ready.set_result(tools)
            following = asyncio.create_task(changes.follow(client, _listed, self.changed))
            try:
                await self._over.wait()
            finally:
                following.cancel()
                await asyncio.wait({following})

    def _refusal(self) -> ToolServerRefused | None:
        status = self._way.refused
        if not status:
            return None
        name, sent = self.server.name, bool(self.server.headers)
        wants = "does not accept the key that it was sent" if sent else "wants a key"
        return ToolServerRefused(
            f"the MCP server {name!r} {wants} ({status})",
            f"Store {'another' if sent else 'one'}: %chat key {origin_of(self.server.url)}   or "
            'name it in the file: "headers": {"Authorization": "Bearer ${TOKEN}"}   '
            "then add it again: %chat tools --mcp FILE",
        )

    def _not_started(self) -> ToolServerFailed:
        if refusal := self._refusal():
            return refusal
        if self._serving is None or not self._serving.done():
            return self._failed(f"it did not answer within {self.patience:g} s")
        fault = None if self._serving.cancelled() else self._serving.exception()
        if isinstance(fault, ToolServerFailed):
            return fault
        return self._failed(_words(fault) if fault else "it ended at once")

    def _failed(self, why: str, *, gone: bool = True) -> ToolServerFailed:
        name = self.server.name
        # Reading moves the place where a server that lives writes on.
        said = f": {words}" if gone and (words := self._way.last_words()) else ""
        failed = ToolServerFailed(
            f"the MCP server {name!r} failed: {self.server.cleaned(why)}{said}",
            "Mend what it names, and add it again: %chat tools --mcp FILE" if gone else "",
        )
        failed.gone = gone
        return failed


def load() -> None:
    """Import the SDK. Raises ToolServerFailed where it is not installed."""
    try:
        importlib.import_module("mcp.client")
    except ImportError as missing:
        raise ToolServerFailed(
            f"tools of MCP servers need the package mcp: {missing}",
            "Install it, then restart the kernel: %pip install 'jan-magics[mcp]'",
        ) from missing
    # What goes wrong is told as a result or in the list of tools, not in red below a cell.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    logging.getLogger("mcp").propagate = False


def result_of(found: Any) -> McpResult:
    """Return what a tool gave as text, its structure where there is no text."""
    texts = [text for block in found.content if (text := _text(block))]
    structure: Json = found.structured_content
    output = "\n\n".join(texts) if texts else structure
    return McpResult(output, bool(found.is_error))


async def _listed(client: Any) -> tuple[ToolSpec, ...]:
    if client.server_capabilities.tools is None:
        return ()
    tools: list[ToolSpec] = []
    cursor = None
    while len(tools) < MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        tools.extend(_spec(tool) for tool in page.tools)
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(tools)


def _spec(tool: Any) -> ToolSpec:
    # What it hints about itself (that it only reads) is its own word: nothing follows from it.
    said = tool.description or tool.title or ""
    schema = json.loads(json.dumps(tool.input_schema or {}, default=str))
    return ToolSpec(tool.name, said.strip(), {"type": "object", **schema})


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        found = getattr(block.resource, "text", None)
        return str(found) if found is not None else f"[a file: {block.resource.uri}]"
    if block.type == "resource_link":
        return f"[a file: {block.uri}]"
    return f"[{getattr(block, 'mime_type', block.type)}: not shown]"


def _words(fault: BaseException) -> str:
    """Return what went wrong: the innermost of what task groups put around it."""
    while isinstance(fault, BaseExceptionGroup) and fault.exceptions:
        fault = fault.exceptions[0]
    said = " ".join(str(fault).split())
    return said[:400] if said else type(fault).__name__
