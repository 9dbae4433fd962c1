"""Calls that are interrupted, late or broken off: each is answered, and nothing is lost."""

import asyncio
import threading
from pathlib import Path

import pytest

from jan_magics.api.tools import tool
from jan_magics.domain.errors import ServerFailed, ThreadNotFound
from jan_magics.domain.messages import TextPart
from jan_magics.engine.asking import Asking
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.tool_rows import tool_rows
from tests.engine.calling import Calling, ask, call, calls, results
from tests.engine.opened import opened


@tool(safe=True)
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"21 °C in {city}"


def test_an_interrupt_keeps_what_came_and_answers_what_is_open(tmp_path: Path) -> None:
    go = threading.Event()

    @tool(safe=True)
    def quick() -> str:
        return "here"

    @tool(approval="auto")
    def endless() -> None:
        go.wait(30)

    model = Calling(("Look:", call("quick", index=0), call("endless", index=1)))
    kernel = opened(tmp_path, model)

    async def interrupted() -> None:
        def show(progress: Progress) -> None:
            if progress.note == "calling endless":
                asyncio.get_running_loop().call_later(0.05, task.cancel)

        asking = Asking("go", model="double:m", tools=(quick, endless))
        task = asyncio.create_task(kernel.session.send(asking, show))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    go.set()
    answer = kernel.messages()[-1]
    assert results(answer) == [
        ("quick", "here", "ok"),
        ("endless", "interrupted before there was a result", "interrupted"),
    ]
    outcome = ask(kernel, "", aim="resume")
    assert outcome.turn.answer.parts == (*answer.parts, TextPart("done"))
    assert calls(model.asked[-1].messages[-1]) == ["quick", "endless"]


def test_a_failure_between_two_steps_keeps_both_sides(tmp_path: Path) -> None:
    failure = ServerFailed("it broke", "Ask again.", model="double:m")
    model = Calling((call("get_weather", '{"city": "x"}'),), ("It is", failure), (" 21.",))
    kernel = opened(tmp_path, model)
    with pytest.raises(ServerFailed):
        ask(kernel, tools=(get_weather,))
    answer = kernel.messages()[-1]
    assert answer.parts[-1] == TextPart("It is")
    assert results(answer)[0][2] == "ok"


def test_a_call_that_breaks_off_is_answered_too(tmp_path: Path) -> None:
    failure = ServerFailed("it broke", "Ask again.", model="double:m")
    kernel = opened(tmp_path, Calling((call("get_weather", '{"ci'), failure)))
    with pytest.raises(ServerFailed):
        ask(kernel, tools=(get_weather,))
    assert results(kernel.messages()[-1])[0][2] == "interrupted"


def test_a_late_result_is_dropped_and_said_so(tmp_path: Path) -> None:
    go = threading.Event()

    @tool(safe=True, timeout=0.05)
    def slow() -> str:
        go.wait(10)
        return "late"

    kernel = opened(tmp_path, Calling((call("slow"),), ("gave up",)))

    async def waited() -> Outcome:
        outcome = await kernel.send("go", tools=(slow,))
        assert kernel.session.toolbox.late == {}
        go.set()
        for _ in range(500):
            await asyncio.sleep(0.01)
            if kernel.session.toolbox.late:
                break
        return outcome

    outcome = asyncio.run(waited())
    (row,) = tool_rows(kernel.session.toolbox, (slow,))
    assert row.status.endswith("1 late result dropped")
    assert len(results(kernel.messages()[-1])) == 1
    assert results(outcome.turn.answer) == [
        ("slow", "no result after 0.05 s; what still comes is dropped", "error")
    ]
    assert outcome.turn.answer.parts[-1] == TextPart("gave up")


def test_a_tool_that_leaves_the_program_does_not(tmp_path: Path) -> None:
    def leaves() -> None:
        raise SystemExit(3)

    outcome = ask(opened(tmp_path, Calling((call("leaves"),))), tools=(leaves,), yes=True)
    assert results(outcome.turn.answer)[0][2] == "error"


def test_a_thread_that_is_gone_gets_no_further_step(tmp_path: Path) -> None:
    model = Calling((call("deletes"),), ("never",))
    kernel = opened(tmp_path, model)

    @tool(safe=True)
    def deletes() -> None:
        kernel.session.engine.store.delete_thread(kernel.thread().id)

    with pytest.raises(ThreadNotFound):
        ask(kernel, tools=(deletes,))
    assert len(model.asked) == 1


def test_resuming_after_a_repetition_is_no_repetition(tmp_path: Path) -> None:
    steps = [(call("get_weather", '{"city": "x"}'),)] * 3
    model = Calling(*steps, (call("get_weather", '{"city": "y"}'),))
    kernel = opened(tmp_path, model)
    assert ask(kernel, tools=(get_weather,)).turn.finish == "tools"
    assert ask(kernel, "", aim="resume", tools=(get_weather,)).turn.finish == "stop"
