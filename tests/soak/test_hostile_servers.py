"""Servers that behave badly, byte by byte: a typed error or an answer, and the thread goes on."""

import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import jan_magics as jan
from jan_magics.domain.errors import ModelTimeout, ProviderError, StreamBroken
from jan_magics.storage.sqlite import SqliteStore
from tests.api.test_failures import END, WORD
from tests.providers.loopback import http
from tests.providers.serving import serving_here
from tests.soak import SOAK
from tests.storage.test_concurrency import faults
from tests.storage.writer import ticking

Behaving: TypeAlias = Callable[[socket.socket], None]
"""What a server does with a connection whose request it has read."""

STREAM = http(WORD * 3 + END).pieces
WHOLE = b"".join(STREAM)
EVERY = 1 if SOAK else 29
"""Every which byte of an answer is the last one that comes."""
LINE = 100_000_000 if SOAK else 20_000_000
MEGABYTE = 1 << 20

pytestmark = pytest.mark.timeout(1800 if SOAK else 120)


@contextmanager
def badly(behaving: Behaving) -> Iterator[str]:
    """Serve on loopback: each connection is read once, and left to `behaving`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def converse(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                asked = connection.recv(65_536)
                if asked.startswith(b"GET "):  # its list of models, which it has not
                    connection.sendall(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
                    asked = connection.recv(65_536)
                if asked:
                    behaving(connection)

        def serve() -> None:
            while not over.is_set():
                with suppress(OSError):
                    connection, _ = listening.accept()
                    threading.Thread(target=converse, args=(connection,), daemon=True).start()

        server = threading.Thread(target=serve)
        server.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1#m"
        finally:
            over.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            server.join()


def check_thread_goes_on(chat: jan.Chat, asked: int) -> None:
    """See that every question is kept, that the store is sound, and that a turn can follow."""
    with serving_here(http(WORD + END)) as good:
        assert chat.send("and now?", model=f"{good.address}#m").text == "word "
    messages = chat.messages(all=True)
    assert list(messages.role).count("user") == asked + 1
    store = SqliteStore(Path(os.environ["JAN_DATA_FOLDER"]) / "jan.db", ticking())
    assert faults(store) == []
    store.close()


def tried(chat: jan.Chat, text: str, **more: Any) -> str | ProviderError:
    """Ask; returns the answer, or the error."""
    try:
        answer = chat.send(text, show=False, **more)
    except ProviderError as error:
        return error
    return str(answer.text)


def test_an_answer_may_end_at_every_byte() -> None:
    places = range(0, len(WHOLE) + 1, EVERY)
    now = [0]  # a request that got no byte may be sent again
    with (
        badly(lambda each: each.sendall(WHOLE[: now[0]])) as model,
        jan.Chat(model=model) as chat,
    ):
        for now[0] in places:
            said = tried(chat, f"byte {now[0]}")
            if isinstance(said, str):
                assert now[0] > WHOLE.index(b"[DONE]")
            else:
                assert said.next_step, "what is wrong is said, and what to do"
        check_thread_goes_on(chat, len(places))


@pytest.mark.parametrize("extra", [-1, 1, -len(END), 1_000_000])
def test_a_length_may_be_a_lie(extra: int) -> None:
    body = WORD * 3 + END
    kind = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n"
    head = f"{kind}content-length: {len(body) + extra}\r\n\r\n"

    def lie(connection: socket.socket) -> None:
        connection.sendall(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)

    with badly(lie) as model, jan.Chat(model=model) as chat:
        said = tried(chat, "how long is it?")
        assert said == "word " * 3 or isinstance(said, StreamBroken)
        check_thread_goes_on(chat, 1)


def test_a_server_may_hang() -> None:
    over = threading.Event()
    hangs: tuple[bytes, ...] = (b"", WHOLE[:20], STREAM[0], STREAM[0] + WORD)
    waiting = iter(hangs)

    def hang(connection: socket.socket) -> None:
        connection.sendall(next(waiting))
        over.wait(60)

    with badly(hang) as model, jan.Chat(model=model) as chat:
        for sent in hangs:
            begun = time.perf_counter()
            said = tried(chat, f"after {len(sent)} bytes", timeout=0.5)
            assert isinstance(said, ModelTimeout), said
            assert time.perf_counter() - begun < 10
        over.set()
        check_thread_goes_on(chat, len(hangs))


def test_a_byte_a_second_is_waited_for() -> None:
    rest = 20 if SOAK else 3

    def drip(connection: socket.socket) -> None:
        connection.sendall(WHOLE[:-rest])
        for byte in WHOLE[-rest:]:
            time.sleep(1)
            connection.sendall(bytes([byte]))

    with badly(drip) as model, jan.Chat(model=model) as chat:
        assert tried(chat, "slowly", timeout=5) == "word " * 3
        check_thread_goes_on(chat, 1)


@pytest.mark.parametrize("begins", [b"data: ", b'data: {"choices":[{"delta":{"content":"', b""])
def test_a_line_without_end_costs_no_memory_without_end(begins: bytes) -> None:
    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n")
        connection.sendall(b"connection: close\r\n\r\n")
        connection.sendall(begins)
        for _ in range(LINE // MEGABYTE):
            connection.sendall(b"x" * MEGABYTE)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with badly(flood) as model, jan.Chat(model=model) as chat:
        said = tried(chat, "endlessly")
        assert isinstance(said, ProviderError)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown * 1024 < 5 * LINE
        check_thread_goes_on(chat, 1)
