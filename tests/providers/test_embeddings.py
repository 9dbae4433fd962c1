"""Embeddings over HTTP: order, counts, batches that are too large, and a real server."""

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from jan_magics.domain.errors import AuthenticationFailed, EmbedderError, ServerFailed
from jan_magics.providers.embeddings import BATCH, EmbeddingServer
from jan_magics.providers.keys import Key, origin_of
from tests.providers.loopback import Reply, Server, http, serving

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing
T = TypeVar("T")


def said(data: object, status: int = 200) -> Reply:
    return http(json.dumps(data).encode(), status=status, kind="application/json")


def rows(*vectors: Sequence[float | None], order: Sequence[int] | None = None) -> Reply:
    order = range(len(vectors)) if order is None else order
    found = [{"object": "embedding", "index": at, "embedding": vectors[at]} for at in order]
    return said({"object": "list", "data": found})


TOO_LARGE = said(
    {"error": {"code": 500, "type": "server_error", "message":
     "input (901 tokens) is too large to process. increase the physical batch size"}}, 500,
)  # fmt: skip


def talk(
    use: Callable[[EmbeddingServer], Awaitable[T]], *replies: Reply, key: bool = False
) -> tuple[T, Server]:
    async def go() -> tuple[T, Server]:
        async with serving(*replies) as server:
            held = Key(SECRET, source="a test", origin=origin_of(server.address)) if key else None
            client = EmbeddingServer("test", server.address, "e", held)
            try:
                return await use(client), server
            finally:
                await client.close()

    return asyncio.run(go())


def embed(texts: Sequence[str], *replies: Reply) -> tuple[list[list[float]], list[Any]]:
    vectors, server = talk(lambda client: client.embed(texts), *replies)
    return vectors, [json.loads(body)["input"] for body in server.bodies]


def test_e3_rows_are_put_in_the_order_of_their_index() -> None:
    vectors, asked = embed(["a", "b", "c"], rows([1, 0], [2, 0], [3, 0], order=[2, 0, 1]))
    assert vectors == [[1, 0], [2, 0], [3, 0]]
    assert asked == [["a", "b", "c"]]


@pytest.mark.parametrize(
    "answer",
    [
        rows([1.0]),
        rows([1.0], [2.0], [3.0]),
        rows([1.0], [2.0], order=[0, 0]),
        said({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]}),
        said({"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": [1.0]}]}),
        said({"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [1.0]}]}),
        rows([1.0, 2.0], [1.0]),
        said({"data": None}),
        said([1, 2]),
        http(b"<html>", kind="text/html"),
    ],
    ids=["short", "long", "twice", "no index", "empty", "text", "uneven", "none", "list", "html"],
)
def test_e3_what_was_not_asked_for_is_refused(answer: Reply) -> None:
    with pytest.raises(EmbedderError, match="test:e"):
        embed(["a", "b"], answer)


def test_a_hole_in_a_vector_stays_one() -> None:
    vectors, _ = embed(["a"], rows([None, 1.0]))
    assert str(vectors) == "[[nan, 1.0]]"


def test_e5_a_batch_that_is_too_large_is_halved() -> None:
    vectors, asked = embed(["a", "b", "c"], TOO_LARGE, rows([1.0]), rows([2.0], [3.0]))
    assert vectors == [[1.0], [2.0], [3.0]]
    assert asked == [["a", "b", "c"], ["a"], ["b", "c"]]


def test_e5_of_a_text_that_is_too_large_the_halves_are_embedded() -> None:
    text = "word " * 80 + "end"
    vectors, asked = embed([text], TOO_LARGE, rows([1.0]), rows([3.0]))
    first, second = (each[0] for each in asked[1:])
    assert first + second == text
    share = len(first) / len(text)
    assert vectors == [[pytest.approx(share * 1 + (1 - share) * 3)]]


def test_e5_a_short_text_that_is_too_large_is_named() -> None:
    with pytest.raises(EmbedderError, match=r"'short text'.*too large"):
        embed(["short text"], TOO_LARGE)


def test_other_failures_stay_what_they_are() -> None:
    broken = said({"error": {"message": "out of order"}}, 500)
    with pytest.raises(ServerFailed):
        embed(["a", "b"], broken)


def test_many_texts_are_several_requests() -> None:
    some = rows(*[[float(n)] for n in range(BATCH)])
    vectors, asked = embed(["t"] * (BATCH + 2), some, rows([7.0], [8.0]))
    assert [len(each) for each in asked] == [BATCH, 2]
    assert vectors[-2:] == [[7.0], [8.0]]
    assert embed([]) == ([], [])


def test_the_key_is_sent_and_never_shown() -> None:
    _, server = talk(lambda client: client.embed(["a"]), rows([1.0]), key=True)
    assert f"authorization: bearer {SECRET}" in server.heads[0].lower()
    refused = said({"error": {"message": f"bad key {SECRET}"}}, 401)
    with pytest.raises(AuthenticationFailed) as caught:
        talk(lambda client: client.embed(["a"]), refused, key=True)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["relevance_score", "score"])
def test_scores_are_put_in_the_order_of_the_texts(name: str) -> None:
    found = [{"index": 1, name: 2.5}, {"index": 0, name: -7}]
    scores, server = talk(lambda client: client.rerank("q", ["a", "b"]), said({"results": found}))
    assert scores == [-7.0, 2.5]
    body = json.loads(server.bodies[0])
    assert (body["query"], body["documents"]) == ("q", ["a", "b"])
    with pytest.raises(EmbedderError):
        talk(lambda client: client.rerank("q", ["a"]), said({"results": []}))


@pytest.fixture(scope="module")
def real(llama_server: str, gguf: Path) -> Iterator[str]:
    """The address of a real llama-server that embeds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [llama_server, "-m", str(gguf), "--embeddings", "--pooling", "mean", "--port",
               str(port), "-c", "512", "-b", "128", "-ub", "128", "-t", "2"]  # fmt: skip
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ.copy()
    )
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 90
    try:
        while time.monotonic() < deadline and server.poll() is None:
            try:
                if httpx.get(f"{address}/health", timeout=5, trust_env=False).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield f"{address}/v1"
    finally:
        server.kill()
        server.wait()


def test_a_real_server_embeds_and_a_long_text_is_halved(real: str) -> None:
    async def go() -> list[list[float]]:
        client = EmbeddingServer("llama", real, "smollm")
        try:
            return await client.embed(["How do I reset it?", "密码", "many words " * 300])
        finally:
            await client.close()

    vectors = asyncio.run(go())
    assert [len(vector) for vector in vectors] == [576] * 3
    assert all(any(vector) for vector in vectors)
