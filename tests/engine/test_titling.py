"""Titles in the background: after the turn, before nobody, over nobody's own name."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from jan_magics.domain.errors import ModelNotReachable, ServerFailed
from jan_magics.domain.events import StreamEvent
from jan_magics.domain.models import ChatRequest
from jan_magics.engine.titles import MOST_TOKENS
from jan_magics.engine.titling import PATIENCE, wait_until_idle
from jan_magics.engine.undoing import rename_thread
from tests.engine.opened import Model, Opened, opened

AUTO = {"titles": "auto"}


def run(make: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await make()

    asyncio.run(main())


def test_the_first_answer_and_every_fourth_give_a_title(tmp_path: Path) -> None:
    async def turns() -> None:
        model = Model("a", "Winter Boats", "b", "c", "d", "Boats and Ice", "e")
        here = opened(tmp_path, model, AUTO)
        titles = []
        for n in range(5):
            await here.send(f"question {n}")
            await here.background()
            titles.append(here.thread().title)
        assert titles == ["Winter Boats"] * 3 + ["Boats and Ice"] * 2
        assert len(here.messages()) == 10, "nothing of a title is stored in the thread"
        await here.session.engine.close()

    run(turns)


def test_the_request_is_small_and_without_reasoning(tmp_path: Path) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model("ice", "Boats"), AUTO)
        await here.send("boats?", system="Be brief.")
        await here.background()
        request = here.model.asked[1]
        assert request.options.max_tokens == MOST_TOKENS
        assert request.options.think is False
        assert request.system == ""
        assert "User: boats?\n\nAssistant: ice" in request.messages[0].parts[0].text  # type: ignore[union-attr]

    run(turn)


@pytest.mark.parametrize("setting", [{}, {"titles": "panel"}, {"titles": "off"}])
def test_nothing_is_asked_behind_your_back(tmp_path: Path, setting: dict[str, str]) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model(), setting)
        await here.send("boats?")
        assert here.session.titling.task is None
        assert len(here.model.asked) == 1
        assert here.thread().title == ""

    run(turn)


def test_a_named_thread_keeps_its_name(tmp_path: Path) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model("a", "Boats"), AUTO)
        await here.send("boats?", thread="notes")
        assert here.session.titling.task is None

    run(turn)


def test_a_rename_while_the_title_is_made_wins(tmp_path: Path) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model("a", "Boats", slow=0.1), AUTO)
        await here.send("boats?")
        await asyncio.sleep(0.02)
        rename_thread(here.session, None, "mine")
        await here.background()
        assert len(here.model.asked) == 2
        assert here.thread().title == "mine"

    run(turn)


def test_the_turn_does_not_wait_and_the_next_one_cancels(tmp_path: Path) -> None:
    async def turns() -> None:
        here = opened(tmp_path, Model("a", slow=30), AUTO)
        begun = time.perf_counter()
        await here.send("boats?")
        await asyncio.sleep(0.05)
        task = here.session.titling.task
        assert task is not None
        assert not task.done()
        await here.send("and ice?")
        assert time.perf_counter() - begun < 2
        assert task.cancelled()
        assert here.model.closed == 1, "its stream is closed before the next turn begins"
        assert here.thread().title == ""

    run(turns)


def test_closing_the_engine_cancels(tmp_path: Path) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model("a", slow=30), AUTO)
        await here.send("boats?")
        await asyncio.sleep(0.05)
        task = here.session.titling.task
        await here.session.engine.close()
        assert task is not None
        assert task.cancelled()

    run(turn)


def test_a_busy_server_is_waited_for_then_skipped(tmp_path: Path) -> None:
    async def busy_for_a_while() -> None:
        here = opened(tmp_path / "a", Model("a", "Winter Boats", busy=2), AUTO)
        await here.send("boats?")
        await here.background()
        assert here.model.looks == 3
        assert here.thread().title == "Winter Boats"

    async def busy_for_ever() -> None:
        here = opened(tmp_path / "b", Model("a", "Winter Boats", busy=1000), AUTO)
        begun = time.perf_counter()
        await here.send("boats?")
        await here.background()
        assert time.perf_counter() - begun < PATIENCE + 1
        assert len(here.model.asked) == 1
        assert here.thread().title == ""

    run(busy_for_a_while)
    run(busy_for_ever)


def test_a_look_that_never_ends_or_fails(tmp_path: Path) -> None:
    async def hangs() -> bool:
        await asyncio.sleep(60)
        return True

    async def fails() -> bool:
        raise ModelNotReachable("no list of slots")

    async def looks() -> None:
        begun = time.perf_counter()
        assert not await wait_until_idle(hangs)
        assert time.perf_counter() - begun < PATIENCE + 1
        assert await wait_until_idle(fails)

    run(looks)


def test_thinking_aloud_falls_back_to_the_question(tmp_path: Path) -> None:
    async def turns() -> None:
        here = opened(tmp_path, Model("a", "Okay, the user wants a title."), AUTO)
        await here.send("how do I store boats?")
        await here.background()
        assert here.thread().title == "how do I store boats"

    run(turns)


def test_a_later_failure_keeps_the_title_there_is(tmp_path: Path) -> None:
    async def turns() -> None:
        here = opened(tmp_path, Model("a", "Winter Boats", "b", "c", "d", "<think>hm"), AUTO)
        for n in range(4):
            await here.send(f"question {n}")
            await here.background()
        assert here.thread().title == "Winter Boats"

    run(turns)


def test_the_offline_model_is_not_asked(tmp_path: Path) -> None:
    async def turn() -> None:
        here = opened(tmp_path, Model("a"), AUTO)
        await here.send("how do I store boats?", model="offline:quote")
        await here.background()
        assert len(here.model.asked) == 1
        assert here.thread().title == "how do I store boats"

    run(turn)


def test_two_threads_never_get_one_title(tmp_path: Path) -> None:
    async def turns() -> None:
        here = opened(tmp_path, Model("a", "Boats", "b", "Boats"), AUTO)
        await first_turn(here)
        here.session.threads.create(None)
        await first_turn(here)
        titles = {row.thread.title for row in here.session.engine.store.threads()}
        assert titles == {"Boats", "Boats 2"}

    run(turns)


async def first_turn(here: Opened) -> None:
    await here.send("boats?")
    await here.background()


def test_a_side_turn_and_a_failed_one_give_no_title(tmp_path: Path) -> None:
    class Failing(Model):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
            async for event in super().stream(request):
                yield event
                if request.options.think is False or "fail" in str(request.messages):
                    raise ServerFailed("down")

    async def turns() -> None:
        here = opened(tmp_path, Failing(), AUTO)
        await here.send("boats?", history=False)
        assert here.session.titling.task is None
        with pytest.raises(ServerFailed):
            await here.send("fail")
        assert here.session.titling.task is None
        here.session.threads.create(None)
        await here.send("boats?")
        await here.background()
        assert len(here.model.asked) == 4, "it was asked for a title"
        assert here.thread().title == ""

    run(turns)
