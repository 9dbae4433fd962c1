"""A local server that crashes is started once more, and an answer that began is never repeated."""

import asyncio
import os
from pathlib import Path

import pytest

from jan_magics.domain.errors import ModelNotReachable, ProviderError, ServerFailed
from jan_magics.domain.events import Finish, Loading, StreamEvent, TextDelta
from jan_magics.providers.local import LocalProvider
from tests.providers.asking import asking, collect
from tests.providers.doubles import pretending, untimed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the double is a script with a #!")

START = Loading("starting tiny …")
ANSWER = [TextDelta("hello"), Finish("stop")]


def ask(
    folder: Path, mode: str, times: int = 1
) -> tuple[list[StreamEvent], ProviderError | None, int]:
    """Ask several times at once, and return the first answer, its error and the starts."""

    async def one(provider: LocalProvider) -> tuple[list[StreamEvent], ProviderError | None]:
        try:
            return untimed(await collect(provider, asking("hi", model="local:tiny.Q4"))), None
        except ProviderError as error:
            return [], error

    async def go() -> tuple[list[StreamEvent], ProviderError | None]:
        provider = LocalProvider(server, own=True)
        try:
            found = await asyncio.gather(*(one(provider) for _ in range(times)))
        finally:
            await provider.close()
        assert all(each == found[0] for each in found[1:]) or times == 1
        return found[0]

    server, starts = pretending(folder, mode)
    events, error = asyncio.run(go())
    return events, error, len(starts.read_text().split())


@pytest.mark.parametrize("mode", ["crash once", "wordless once"])
def test_a_server_that_crashes_at_a_request_is_started_once_more(tmp_path: Path, mode: str) -> None:
    assert ask(tmp_path, mode) == ([START, START, *ANSWER], None, 2)


def test_one_that_crashes_again_is_an_error(tmp_path: Path) -> None:
    events, error, starts = ask(tmp_path, "crash")
    assert (events, starts) == ([], 2)
    assert isinstance(error, ModelNotReachable)
    assert error.next_step


def test_one_that_always_fails_without_a_word_is_a_typed_error(tmp_path: Path) -> None:
    _, error, starts = ask(tmp_path, "wordless")
    assert isinstance(error, ServerFailed)
    assert (error.status, starts) == (500, 2)
    assert error.message


def test_a_server_that_runs_is_not_started_again(tmp_path: Path) -> None:
    assert ask(tmp_path, "ok") == ([START, *ANSWER], None, 1)
