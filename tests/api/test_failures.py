"""A whole turn against a server that fails: a typed error, two lines, and nothing is lost."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import jan_magics as jan
from jan_magics.domain.errors import (
    AuthenticationFailed,
    ContextOverflow,
    JanError,
    ModelNotFound,
    ModelNotReachable,
    ModelTimeout,
    RateLimited,
    ServerFailed,
    SettingError,
    StreamBroken,
)
from tests.providers.loopback import Reply, chunked, http
from tests.providers.serving import serving_here

JSON = "application/json"
WORD = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
OVERFLOW = (
    b'{"error":{"code":400,"message":"request (3031 tokens) exceeds the available context size '
    b'(1024 tokens)","type":"exceed_context_size_error","n_prompt_tokens":3031,"n_ctx":1024}}'
)


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (http(b"{}", status=401, kind=JSON), AuthenticationFailed, "%chat key"),
        (http(b'{"error":{"message":"no such model"}}', status=404, kind=JSON), ModelNotFound, ""),
        (http(b"{}", status=429, kind=JSON, headers="retry-after: 7\r\n"), RateLimited, "7"),
        (http(OVERFLOW, status=400, kind=JSON), ContextOverflow, "3031 tokens of 1024"),
        (http(b"oops", status=500, kind="text/plain"), ServerFailed, ""),
        (http(b""), StreamBroken, ""),
        (http(b"<html>hello</html>", kind="text/html"), StreamBroken, ""),
        (Reply((b"",), close=True), ModelNotReachable, ""),
    ],
    ids=["401", "404", "429", "overflow", "500", "empty", "html", "closed"],
)
def test_every_failure_has_its_error(reply: Reply, error: type[JanError], words: str) -> None:
    with serving_here(reply) as running, jan.Chat(model=f"{running.address}#m") as chat:
        with pytest.raises(error) as caught:
            chat.send("hello")
        assert words in str(caught.value)
        assert caught.value.next_step
        assert "\n" not in caught.value.message
        assert list(chat.messages().text) == ["hello"]


@pytest.mark.parametrize(
    "wrong", [{"temperature": 9}, {"max_tokens": -1}, {"top_p": 3}, {"stop": {1, 2}}], ids=str
)
def test_a_wrong_parameter_is_refused_before_anything_is_stored(wrong: dict[str, Any]) -> None:
    with jan.Chat("notes", model="offline:echo") as chat:
        with pytest.raises(SettingError):
            chat.send("hello", **wrong)
        assert "notes" not in list(jan.threads().thread)
        chat.send("hello", max_tokens=0)
        with pytest.raises(SettingError):
            chat.send("again", **wrong)
        with pytest.raises(SettingError):
            chat.use(**wrong)
        assert list(chat.messages().text) == ["hello", "hello"]


def test_a_server_that_is_gone() -> None:
    with serving_here(http(WORD + END)) as running:
        address = running.address
    with jan.Chat(model=f"{address}#m") as chat, pytest.raises(ModelNotReachable) as caught:
        chat.send("hello")
    assert "%chat models" in caught.value.next_step


def test_a_thread_keeps_its_model_and_never_takes_another() -> None:
    with serving_here(http(WORD + END)) as running, jan.Chat("notes") as chat:
        assert chat.use(model=f"{running.address}#m").send("hello").text == "word "
    with jan.Chat("notes") as chat, pytest.raises(ModelNotReachable):
        chat.send("and now?")


def test_a_stream_that_breaks_keeps_its_words() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
    half = Reply((head, WORD), close=True)
    with (
        serving_here(half, http(WORD + END)) as running,
        jan.Chat(model=f"{running.address}#m") as chat,
    ):
        with pytest.raises(StreamBroken):
            chat.send("hello")
        assert list(chat.messages().text) == ["hello", "word "]
        assert list(chat.turns().finish) == ["error"]
        assert chat.send("again").text == "word "
        assert len(chat.messages()) == 4


@pytest.mark.parametrize(
    "half",
    [Reply((b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", WORD), close=True),
     chunked(WORD)],
    ids=["closed", "ended"],
)  # fmt: skip
def test_a_stream_that_ends_too_early_goes_on_with_its_own_model(half: Reply) -> None:
    with (
        serving_here(half, http(WORD.replace(b"word", b"more") + END)) as running,
        jan.Chat(model="offline:echo") as chat,
    ):
        with pytest.raises(StreamBroken, match="cut off") as caught:
            chat.send("hello", thread="cut 1", model=f"{running.address}#m")
        assert "%chat use -t 'cut 1'   then: %chat resume" in caught.value.next_step
        chat.use(thread="cut 1")
        assert chat.resume().model == f"{running.address}#m"
        assert list(chat.messages().text) == ["hello", "word more "]
        assert list(chat.turns().finish) == ["stop"]


def test_a_thread_keeps_the_model_of_a_first_answer_that_was_cut() -> None:
    with (
        serving_here(chunked(WORD), http(WORD + END)) as running,
        jan.Chat("notes") as chat,
    ):
        with pytest.raises(StreamBroken):
            chat.send("hello", model=f"{running.address}#m")
        assert chat.send("and now?").model == f"{running.address}#m"


def test_a_model_that_failed_without_a_word_does_not_take_a_thread_over() -> None:
    with (
        serving_here(http(WORD + END), http(b"oops", status=500)) as running,
        jan.Chat("notes") as chat,
    ):
        chat.send("hello", model=f"{running.address}#m")
        with pytest.raises(ServerFailed):
            chat.send("again", model=f"{running.address}#other")
        (thread,) = jan.threads().model
        assert thread == f"{running.address}#m"


@contextmanager
def mute() -> Iterator[str]:
    """Serve answers, and never say anything about itself."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"POST"):
            writer.writelines(chunked(WORD, END).pieces)
        else:
            await reader.read()
        writer.close()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        starting = asyncio.start_server(connected, "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(starting, loop).result()
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        loop.call_soon_threadsafe(server.close)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.parametrize(("params", "most"), [({"timeout": 0.4}, 2.0), ({}, 4.5)], ids=str)
def test_a_server_that_does_not_say_what_it_is_delays_little(
    params: dict[str, Any], most: float
) -> None:
    with mute() as address, jan.Chat(model=f"{address}#m") as chat:
        begun = time.perf_counter()
        assert chat.send("hello", **params).text == "word "
        assert time.perf_counter() - begun < most


def test_silence_is_a_timeout_between_bytes() -> None:
    with (
        serving_here(chunked(WORD, end=False)) as running,
        jan.Chat(model=f"{running.address}#m") as chat,
    ):
        with pytest.raises(ModelTimeout):
            chat.send("hello", timeout=0.3)
        assert list(chat.messages().text) == ["hello", "word "]


def test_two_chats_on_one_thread_at_the_same_time() -> None:
    with jan.Chat("shared", model="offline:echo") as one, jan.Chat("shared") as two:
        one.send("one")
        two.use(model="offline:echo").send("two")
        one.send("three")
        assert list(two.messages().text) == ["one", "one", "two", "two", "three", "three"]


def test_no_history_is_not_advised_where_none_was_sent() -> None:
    full, fits = http(OVERFLOW, status=400, kind=JSON), http(WORD + END)
    with (
        serving_here(full, fits, full, full, http(b"")) as running,
        jan.Chat(model=f"{running.address}#m") as chat,
    ):
        steps = [failed(chat, history=True)]  # the first of its thread
        chat.send("hello")
        steps += [failed(chat, history=True), failed(chat, history=False)]
        steps += [failed(chat, history=False)]
    assert ["--no-history" in step for step in steps] == [False, True, False, False]
    assert all("%chat models" in steps[n] for n in (0, 2, 3))


def test_a_shorter_answer_is_advised_where_only_that_does_not_fit() -> None:
    said = b'{"error":{"message":"exceed context limit: 190000 + 20000 > 200000"}}'
    with (
        serving_here(http(said, status=400, kind=JSON)) as running,
        jan.Chat(model=f"{running.address}#m") as chat,
    ):
        step = failed(chat, history=True)
    assert step == "Ask for less (--max-tokens 10000), or shorten the prompt"


def failed(chat: jan.Chat, *, history: bool) -> str:
    with pytest.raises((ContextOverflow, StreamBroken)) as caught:
        chat.send("hello", history=history)
    return caught.value.next_step


def test_an_answer_that_a_filter_cut_says_so() -> None:
    cut = b'data: {"choices":[{"delta":{"content":"no"},"finish_reason":"content_filter"}]}\n\n'
    with serving_here(http(cut)) as running, jan.Chat(model=f"{running.address}#m") as chat:
        answer = chat.send("hello", show=False)
    assert answer.finish == "filter"
    assert "cut by a filter" in answer._repr_mimebundle_()["text/plain"]
