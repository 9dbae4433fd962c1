"""A real HTTP server on loopback that says exactly what a test tells it to, byte by byte."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.providers.recordings import Recording


@dataclass(frozen=True)
class Reply:
    """Raw bytes of one answer; afterwards wait until the client leaves, or close at once."""

    pieces: tuple[bytes, ...]
    hold: bool = False
    close: bool = False


@dataclass
class Server:
    address: str
    listed: bool = True
    heads: list[str] = field(default_factory=list, repr=False)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)


def http(
    body: bytes = b"",
    *,
    status: int = 200,
    kind: str = "text/event-stream",
    headers: str = "",
    size: int = 1 << 16,
) -> Reply:
    """An answer with its length given, its body sent in pieces of `size` bytes."""
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
    return Reply(((head + headers + "\r\n").encode(), *_cut(body, size)))


def chunked(*bodies: bytes, end: bool = True, kind: str = "text/event-stream") -> Reply:
    """A chunked answer; without its end the server waits for the client to leave."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"
    chunks = [b"%x\r\n%s\r\n" % (len(body), body) for body in bodies]
    return Reply((head.encode(), *chunks, *([b"0\r\n\r\n"] * end)), hold=not end)


def replay(recording: Recording, size: int = 1 << 16) -> Reply:
    return http(recording.body, status=recording.status, kind=recording.content_type, size=size)


@asynccontextmanager
async def serving(*replies: Reply, listed: bool = True) -> AsyncIterator[Server]:
    """Serve the replies in order, one a request, the last one again and again.

    `listed` False: its models and properties are not there, and asking uses up no reply.
    """
    server = Server("", listed=listed)
    waiting = iter(replies)
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        task = asyncio.ensure_future(_converse(server, _next(waiting, replies), reader, writer))
        tasks.add(task)
        try:
            await task
        except (asyncio.CancelledError, ConnectionError):
            server.left.set()
        finally:
            writer.close()

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    server.address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


def _next(waiting: Iterator[Reply], replies: tuple[Reply, ...]) -> Iterator[Reply]:
    while True:
        yield next(waiting, replies[-1])


async def _converse(
    server: Server,
    replies: Iterator[Reply],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return
        lengths = [line for line in head.lower().splitlines() if line.startswith("content-length:")]
        body = await reader.readexactly(int(lengths[0].partition(":")[2])) if lengths else b""
        if not server.listed and head.startswith("GET "):
            writer.write(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
            continue
        server.heads.append(head)
        server.bodies.append(body)
        reply = next(replies)
        for piece in reply.pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if reply.close:
            return
        if reply.hold:
            await reader.read()
            server.left.set()
            return


def _cut(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]
