"""Large files become text only while they are sent: what arrives is the same, memory is not."""

import asyncio
import base64
import json
import re
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from jan_magics.domain.events import Finish
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatRequest
from jan_magics.domain.protocols import Provider
from jan_magics.engine.fitting import Fit
from jan_magics.engine.records import digest
from jan_magics.providers.bodies import LARGE, Body, Inline
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.sanitize.profiles import profile_for
from tests.providers.asking import asking, collect, message
from tests.providers.wires import WIRES, Wire

SIZE = 100_000_000
ANSWER = b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\n'
KINDS = {
    "openai": ("audio/mpeg", ("messages", 0, "content", 1, "input_audio", "data")),
    "anthropic": ("application/pdf", ("messages", 0, "content", 1, "source", "data")),
    "google": ("audio/mpeg", ("contents", 0, "parts", 1, "inlineData", "data")),
    "ollama": ("image/png", ("messages", 0, "images", 0)),
}


async def read(body: Body) -> bytes:
    content = body.content
    return content if isinstance(content, bytes) else b"".join([piece async for piece in content])


# ---------------------------------------------------------------------------------- what arrives


def test_a_body_without_files_is_what_json_makes_of_it() -> None:
    body = Body({"a": ["ü 中 👍", 1.5, None, True], "b": {"c": '"\\\n'}})
    assert isinstance(body.content, bytes)
    assert json.loads(body.content) == {"a": ["ü 中 👍", 1.5, None, True], "b": {"c": '"\\\n'}}
    assert body.size == len(body.content)


@pytest.mark.parametrize("size", [0, 1, 2, 3, LARGE, LARGE + 1])
def test_files_stand_where_they_belong_and_can_be_read_twice(size: int) -> None:
    data = bytes(n % 251 for n in range(size))
    given: Any = {"a": Inline(data, "data:audio/mpeg;base64,"), "b": [Inline(b"xyz"), "words"]}
    body = Body(given)
    first, second = asyncio.run(read(body)), asyncio.run(read(body))
    assert first == second
    assert len(first) == body.size
    text = base64.b64encode(data).decode()
    wanted = {"a": f"data:audio/mpeg;base64,{text}", "b": [b"eHl6".decode(), "words"]}
    assert json.loads(first) == wanted


def test_what_is_no_json_is_refused() -> None:
    given: Any = {"a": object()}
    with pytest.raises(TypeError, match="object is no JSON"):
        Body(given)


@pytest.mark.parametrize("name", WIRES)
def test_every_wire_sends_a_large_file_whole(name: str) -> None:
    wire, (kind, place) = WIRES[name], KINDS[name]
    data = bytes(n % 249 for n in range(LARGE + 5))
    asked = asking(message("user", "was ist das?", FilePart(kind, data)))
    with receiving(_answer(wire), keep=True) as server:
        asyncio.run(_sent(wire.open(server.address), asked))
    found = json.loads(server.body)
    for step in place:
        found = found[step]
    assert base64.b64decode(found) == data


# ---------------------------------------------------------------------------------------- memory


def test_a_large_recording_adds_little_more_than_its_size() -> None:
    part = FilePart("audio/mpeg", bytes(SIZE), name="talk.mp3")
    question = message("user", "what is said here?", part)
    with receiving(ANSWER) as server:
        provider = OpenAIProvider("test", server.address)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            asyncio.run(_asked(provider, asking(question)))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert server.received > SIZE * 4 // 3
    assert peak - before <= 1.4 * SIZE
    # Nothing of it is held as text at all.
    assert peak - before <= 0.1 * SIZE


async def _asked(provider: Provider, request: ChatRequest) -> None:
    """Plan a request, note what it asked, and send it: all that a turn does with its file."""
    fit = Fit(profile=profile_for(request.model, "openai"))
    plan = await fit.plan(request.messages, "")
    sent = ChatRequest(request.model, plan.messages)
    assert digest(sent)
    await _sent(provider, sent)


async def _sent(provider: Provider, request: ChatRequest) -> None:
    events = await collect(provider, request)
    await provider.close()
    assert isinstance(events[-1], Finish)


# ---------------------------------------------------------------------------------------- server


class Receiver:
    """A server that takes one request and keeps its body, or only how long it was."""

    def __init__(self, answer: bytes, *, keep: bool) -> None:
        self.answer = answer
        self.keep = keep
        self.received = 0
        self.body = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def serve(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(1)
            length = int(re.findall(rb"(?i)content-length: (\d+)", head)[0])
            buffer = bytearray(1 << 20)
            kept = list[bytes]()
            while self.received < length:
                count = connection.recv_into(buffer)
                self.received += count
                if self.keep:
                    kept.append(bytes(buffer[:count]))
            self.body = b"".join(kept)
            connection.sendall(self.answer)


@contextmanager
def receiving(answer: bytes, *, keep: bool = False) -> Iterator[Receiver]:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
    server = Receiver(head % len(answer) + answer, keep=keep)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        thread.join(10)
        server.listener.close()


def _answer(wire: Wire) -> bytes:
    return wire.body(wire.words("one"), *wire.end)
