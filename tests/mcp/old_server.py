"""An MCP server of the protocol of 2025-06, without any SDK: it tells of changes by itself."""

import json
import sys
from typing import Any

TOOLS = [{"name": "grow", "description": "Have another tool.", "inputSchema": {"type": "object"}}]


def answer(method: str, params: Any) -> Any:
    """Return the result of a request."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "old", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    TOOLS.append({**TOOLS[0], "name": f"grown_{len(TOOLS)}", "description": "长出来的"})
    return {"content": [{"type": "text", "text": "grown"}]}


def say(**message: Any) -> None:
    """Write a message on one line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        if asked["method"] in ("initialize", "tools/list", "tools/call"):
            say(id=asked["id"], result=answer(asked["method"], asked.get("params")))
        else:
            say(id=asked["id"], error={"code": -32601, "message": "no such method"})
        if asked["method"] == "tools/call":
            say(method="notifications/tools/list_changed")


if __name__ == "__main__":
    main()
