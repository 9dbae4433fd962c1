"""A real MCP server of the official SDK: over stdio, or over HTTP on loopback with `--http`.

`--pid FILE` writes its process there, `--tools N` gives it so many more tools, and `--fail` lets it
end at once with a complaint.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Image, MCPServer
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


def made(name: str, more: int) -> MCPServer:
    """Return the server with its tools."""
    server = MCPServer(name, log_level="CRITICAL")
    server.tool(annotations=HARMLESS)(forecast)
    for tool in (failing, picture, slow, variable, dies):
        server.tool()(tool)
    server.tool(name="气温.now")(odd)
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
    given = parser.parse_args()
    if given.fail:
        sys.exit("cannot start: no licence, token=s3cret-value")
    if given.pid:
        with Path(given.pid).open("a") as file:
            file.write(f"{os.getpid()}\n")
    server = made(given.name, given.tools)
    if given.http:
        server.run("streamable-http", host="127.0.0.1", port=given.http)
    else:
        server.run("stdio")


if __name__ == "__main__":
    main()
