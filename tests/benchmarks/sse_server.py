"""A loopback server that streams a fixed number of tokens; run as a program of its own.

Arguments: port, tokens, seconds between two tokens.
"""

import asyncio
import json
import sys

WORD = "token "


def event(delta: dict[str, str], finish: str | None = None) -> bytes:
    """Return one chunk of the HTTP body with one server-sent event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "x", "object": "chat.completion.chunk", "model": "fixed", "choices": [choice]}
    payload = f"data: {json.dumps(data)}\n\n".encode()
    return f"{len(payload):x}\r\n".encode() + payload + b"\r\n"


def models() -> bytes:
    """Return a list of one model."""
    body = json.dumps({"object": "list", "data": [{"id": "fixed", "object": "model"}]}).encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(body)
        + body
    )


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request of a connection with the whole stream."""
    tokens, pause = int(sys.argv[2]), float(sys.argv[3])
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if b"content-length" in line
                ),
                0,
            )
            await reader.readexactly(length)
            if head.startswith(b"GET"):
                writer.write(models())
                continue
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            writer.write(event({"role": "assistant", "content": ""}))
            for _ in range(tokens):
                writer.write(event({"content": WORD}))
                await writer.drain()
                if pause:
                    await asyncio.sleep(pause)
            writer.write(event({}, "stop") + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until the program is ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
