"""What a turn waits for stands in its cell, and an interrupt ends the wait."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.kernel import Kernel, Ran, homes, running_kernel
from tests.providers.loopback import Reply, chunked, http
from tests.providers.serving import serving_here

WORD = b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\n'
GOOD = chunked(WORD, b"data: [DONE]\n\n")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder: Path = tmp_path_factory.mktemp("waiting")
    with running_kernel(folder, **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        yield running


def busy(seconds: int) -> Reply:
    return http(
        b'{"error":{"message":"slow down"}}',
        status=429,
        kind="application/json",
        headers=f"retry-after: {seconds}\r\n",
    )


def notes(ran: Ran) -> str:
    return unescape(" ".join(str(each.get("text/markdown", "")) for each in ran.updates))


def test_a_wait_is_shown_with_its_reason(kernel: Kernel) -> None:
    with serving_here(busy(1), GOOD) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m\n你好")
    assert "waiting 1 s: 429 too many requests" in notes(ran)
    assert ran.turn["text"] == "one"
    assert "waiting" not in ran.displays[-1]["text/plain"]


def test_an_interrupt_ends_the_wait(kernel: Kernel) -> None:
    with serving_here(busy(25), GOOD) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m\nhi", interrupt=2)
        sent = len(server.bodies)
    assert "waiting 25 s: 429" in notes(ran)
    assert ran.status == "error"
    assert ran.interrupted_after is not None
    assert ran.interrupted_after < 1.5
    assert sent == 1
