"""The way to an MCP server: a process on this machine, or an address."""

import os
import shutil
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jan_magics.domain.errors import ToolServerFailed
from jan_magics.providers.keys import is_loopback
from jan_magics.providers.mcp_config import McpServer


@dataclass(slots=True)
class Way:
    """What bytes go through, and what was seen on it.

    `refused` is 401 or 403 where the newest answer was that, else 0.
    """

    server: McpServer
    refused: int = 0
    _log: Any = field(default=None, repr=False)
    _said: str = ""

    async def open(self, stack: AsyncExitStack) -> Any:
        """Return a transport of the SDK; `stack` closes it. Raises ToolServerFailed."""
        if self.server.url:
            return await self._to_address(stack)
        return self._to_process(stack)

    def last_words(self) -> str:
        """Return the end of what the server has complained of, without secrets."""
        if self._log is None:
            return self._said
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 4096))
        lines = [line.strip() for line in self._log.read().splitlines() if line.strip()]
        return self.server.cleaned(" | ".join(lines[-2:]))[:400]

    async def _to_address(self, stack: AsyncExitStack) -> Any:
        from httpx2 import AsyncClient, Timeout
        from mcp.client.streamable_http import streamable_http_client

        # A proxy is for what leaves this machine.
        http = await stack.enter_async_context(
            AsyncClient(
                headers=dict(self.server.headers),
                timeout=Timeout(30.0, read=None),
                trust_env=not is_loopback(self.server.url),
                event_hooks={"response": [self._note]},
            )
        )
        return streamable_http_client(self.server.url, http_client=http)

    def _to_process(self, stack: AsyncExitStack) -> Any:
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        self._log = tempfile.TemporaryFile(  # noqa: SIM115 - it lives as long as the server
            "w+", encoding="utf-8", errors="replace"
        )
        stack.callback(self._end_log)
        launcher = Path(__file__).with_name("launcher.py")
        parameters = StdioServerParameters(
            command=sys.executable,
            # -I -S: nothing of the user's may run in it, and it starts at once.
            args=["-I", "-S", str(launcher), "--talking", _program(self.server), *self.server.args],
            env=dict(self.server.env),
            cwd=self.server.folder,
            encoding_error_handler="replace",
        )
        return stdio_client(parameters, errlog=self._log)

    async def _note(self, response: Any) -> None:
        """Note a refusal: the SDK only says that there was an error."""
        self.refused = response.status_code if response.status_code in (401, 403) else 0

    def _end_log(self) -> None:
        self._said, log, self._log = self.last_words(), self._log, None
        log.close()


def _program(server: McpServer) -> str:
    found = shutil.which(server.command, path=server.env.get("PATH"))
    if found is None and server.folder:
        beside = Path(server.folder, server.command)
        found = str(beside) if beside.is_file() else None
    if found is None:
        raise ToolServerFailed(
            f"the MCP server {server.name!r} failed: there is no program {server.command!r}",
            "Install it, or name it with its path, and add the file again: %chat tools --mcp FILE",
        )
    return found
