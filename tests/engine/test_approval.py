"""Who says whether a call may run, and in which thread."""

import threading
from pathlib import Path

from jan_magics.api.tools import tool
from jan_magics.engine.tool_rows import tool_rows
from tests.engine.calling import Calling, Person, ask, call, results
from tests.engine.opened import opened


def risky(x: int = 0) -> int:
    """Do something that a person must approve."""
    return x + 1


def test_who_is_asked_says_yes_no_or_always(tmp_path: Path) -> None:
    person = Person(["yes", "no", "always"])
    model = Calling(*[(call("risky", f'{{"x": {n}}}'),) for n in range(5)])
    kernel = opened(tmp_path, model)
    outcome = ask(kernel, desk=person, tools=(risky,))
    assert [state for _, _, state in results(outcome.turn.answer)] == [
        "ok", "denied", "ok", "ok", "ok",
    ]  # fmt: skip
    assert person.asked == [("risky", '{"x": 0}'), ("risky", '{"x": 1}'), ("risky", '{"x": 2}')]
    rows = {row.name: row for row in tool_rows(kernel.session.toolbox, (risky,))}
    assert (rows["risky"].approval, rows["risky"].calls) == ("auto", 5)


def test_where_nobody_can_be_asked_the_call_is_denied_and_yes_is_named(tmp_path: Path) -> None:
    for place, desk in enumerate((None, Person(["nobody"]))):
        kernel = opened(tmp_path / str(place), Calling((call("risky"),)))
        outcome = ask(kernel, desk=desk, tools=(risky,))
        assert results(outcome.turn.answer)[0][2] == "denied"
        assert any("--yes" in line for line in outcome.lines)


def test_yes_asks_nobody_and_never_is_never(tmp_path: Path) -> None:
    @tool(approval="never")
    def forbidden() -> None:
        """Do what must not be done."""

    model = Calling((call("risky"), call("forbidden", index=1)))
    outcome = ask(opened(tmp_path, model), desk=Person(), tools=(risky, forbidden), yes=True)
    assert [state for _, _, state in results(outcome.turn.answer)] == ["ok", "denied"]


def test_the_main_thread_is_refused_where_nobody_holds_it(tmp_path: Path) -> None:
    @tool(main=True, safe=True)
    def draws() -> str:
        return threading.current_thread().name

    steps = (call("draws"),)
    there = ask(opened(tmp_path / "a", Calling(steps)), desk=Person(), tools=(draws,))
    assert results(there.turn.answer) == [("draws", "MainThread", "ok")]
    gone = ask(opened(tmp_path / "b", Calling(steps)), tools=(draws,))
    assert results(gone.turn.answer)[0][2] == "error"
