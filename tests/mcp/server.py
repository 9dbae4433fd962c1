"""A real MCP server of the official SDK: over stdio, or over HTTP on loopback with `--http`.

`--pid FILE` writes its process there, `--tools N` gives it so many more tools, `--fail` lets it end
at once with a complaint, and over HTTP `--token T` lets it answer only whoever sends that.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

HARMLESS = ToolAnnotations(read_only_hint=True, destructive_hint=False)


def forecast(city: str, days: int = 1) -> str:
    """Tell the weather of a city."""
    return f"{20 + days} °C in {city} 🌤"


def failing() -> str:
    """Fail."""
    raise ToolError("no such 城市")


def odd(city: str) -> str:
    """Have a name that models do not take."""
    return f"odd {city}"


def picture() -> Image:
    """Draw."""
    return Image(data=b"\x89PNG", format="png")


def slow(seconds: float) -> str:
    """Take its time."""
    time.sleep(seconds)
    return "done"


def variable(name: str) -> str:
    """Tell a variable of the environment."""
    return os.environ.get(name, "not set")


def dies() -> str:
    """End the server."""
    sys.stderr.write("I am dying, api_key=abc123\n")
    sys.stderr.flush()
    os._exit(3)


def learning(server: MCPServer) -> None:
    """Add tools that change what the server has."""

    async def learn(name: str, context: Context) -> str:
        """Learn to do something, or to do it otherwise."""

        def learned(text: str = "") -> str:
            return f"{name} {text}"

        if name in {tool.name for tool in await server.list_tools()}:
            server.remove_tool(name)
            server.add_tool(learned, name=name, description="Do it otherwise.")
        else:
            server.add_tool(learned, name=name, description="做点什么")
        await context.notify_tools_changed()
        return "learned"

    async def forget(name: str, context: Context) -> str:
        """Forget how to do something."""
        server.remove_tool(name)
        await context.notify_tools_changed()
        return "forgotten"

    server.tool()(learn)
    server.tool()(forget)


def guarded(app: Any, token: str | None) -> Any:
    """Return an application that answers 401 to whoever does not send the token."""
    if token is None:
        return app

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] != "http" or sent == f"Bearer {token}":
            await app(scope, receive, send)
            return
        told = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": told})
        await send({"type": "http.response.body", "body": f"not {sent}".encode()})

    return answer


def made(name: str, more: int) -> MCPServer:
    """Return the server with its tools."""
    server = MCPServer(name, log_level="CRITICAL")
    server.tool(annotations=HARMLESS)(forecast)
    for tool in (failing, picture, slow, variable, dies):
        server.tool()(tool)
    server.tool(name="气温.now")(odd)
    learning(server)
    for number in range(more):
        server.tool(name=f"extra_{number}")(lambda text="": text)
    return server


def main() -> None:
    """Serve until the client goes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, default=0)
    parser.add_argument("--name", default="weather")
    parser.add_argument("--pid")
    parser.add_argument("--tools", type=int, default=0)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--api-key")
    parser.add_argument("--token")
    given = parser.parse_args()
    if given.fail:
        sys.exit("cannot start: no licence, token=s3cret-value")
    if given.pid:
        with Path(given.pid).open("a") as file:
            file.write(f"{os.getpid()}\n")
    server = made(given.name, given.tools)
    if given.http:
        app = guarded(server.streamable_http_app(), given.token)
        # A client that waits for changes would hold its end up.
        config = uvicorn.Config(
            app, "127.0.0.1", given.http, log_level="critical", timeout_graceful_shutdown=1
        )
        uvicorn.Server(config).run()
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
