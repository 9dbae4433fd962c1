"""Turns that offer tools of real MCP servers: order, names, who is asked, and what dies."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.engine.asking import Asking
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.tool_rows import tool_rows
from jan_magics.engine.tool_servers import ToolServers
from jan_magics.providers.mcp_config import read_servers, server_at
from tests.engine.calling import Calling, Person, call, results
from tests.engine.opened import Opened, opened
from tests.mcp.conftest import WriteFile, check_gone, free_port, http_serving


class Turns:
    """Turns on one loop, as in a kernel: servers belong to the loop that they were started on."""

    def __init__(self, kernel: Opened, runner: asyncio.Runner) -> None:
        self.kernel = kernel
        self.runner = runner
        self.notes: list[str] = []

    @property
    def servers(self) -> ToolServers:
        return self.kernel.session.toolbox.servers

    def ask(self, text: str = "go", desk: Any = None, **flags: Any) -> Outcome:
        asking = Asking(text, model="double:m", **flags)

        def show(progress: Progress) -> None:
            self.notes.append(progress.note)

        return self.runner.run(self.kernel.session.send(asking, show, lambda _: None, desk))

    def offered(self) -> list[str]:
        return [spec.name for spec in self.kernel.model.asked[-1].tools]

    def rows(self, *wanted: object) -> dict[str, tuple[str, str, int, str]]:
        rows = tool_rows(self.kernel.session.toolbox, wanted)
        return {row.name: (row.kind, row.approval, row.calls, row.status) for row in rows}


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


def turns(folder: Path, runner: asyncio.Runner, *steps: Any) -> Turns:
    return Turns(opened(folder, Calling(*steps), {"tool_router": "off"}), runner)


def close(turns: Turns) -> None:
    turns.runner.run(turns.servers.close())


def test_a_tool_is_called_after_a_yes_to_the_server_and_a_yes_to_the_call(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    made = turns(tmp_path, runner, (call("weather__forecast", '{"city": "巴黎"}'),), ("21",))
    box = made.kernel.session.toolbox
    box.add_servers(read_servers(mcp_file(weather=["--api-key", "s3cret"]), {}))
    person = Person(["yes", "yes"])
    outcome = made.ask("weather?", person, tools=("mcp:weather",))
    (started, command), asked = person.asked
    assert started == "weather"
    assert "server.py --name weather" in command
    assert "s3cret" not in command
    assert asked == ("weather__forecast", '{"city": "巴黎"}')
    assert results(outcome.turn.answer) == [("weather__forecast", "21 °C in 巴黎 🌤", "ok")]
    assert "starting weather" in made.notes
    assert made.rows("mcp:weather")["weather__forecast"] == (
        "mcp", "ask", 1, "offered at every turn",
    )  # fmt: skip
    # The server says of itself that it only reads; it is asked about all the same.
    again = Person(["no"])
    made.kernel.model.steps.insert(0, (call("weather__forecast", '{"city": "x"}'),))  # type: ignore[attr-defined]
    outcome = made.ask("again", again, tools=("mcp:weather",))
    assert len(again.asked) == 1
    assert results(outcome.turn.answer)[-1][2] == "denied"
    close(made)


def test_names_and_order_are_fixed(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    def mine(city: str) -> str:
        """Be mine."""
        return city

    made = turns(tmp_path, runner)
    box = made.kernel.session.toolbox
    box.add_servers(read_servers(mcp_file(zeta=[], alpha=[]), {}))
    made.ask(tools=("alpha", "mcp:zeta", mine), yes=True)
    names = made.offered()
    assert names[0] == "mine"
    assert [name.partition("__")[0] for name in names[1:]] == ["zeta"] * 9 + ["alpha"] * 9
    odd = next(name for name in names if name.startswith("zeta___"))
    assert odd.isascii()
    made.kernel.model.steps.insert(0, (call(odd, '{"city": "x"}'),))  # type: ignore[attr-defined]
    outcome = made.ask(tools=("zeta",), yes=True)
    assert results(outcome.turn.answer) == [(odd, "odd x", "ok")]
    made.ask(tools=("alpha__forecast",))
    assert made.offered() == ["alpha__forecast"]
    outcome = made.ask(tools=("alpha__forcast",))
    assert made.offered() == []
    assert "the server alpha has no tool alpha__forcast" in outcome.lines
    close(made)


def test_nobody_can_be_asked_so_nothing_is_started(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    pid = tmp_path / "pid"
    made = turns(tmp_path, runner)
    made.kernel.session.toolbox.add_servers(read_servers(mcp_file(w=["--pid", str(pid)]), {}))
    outcome = made.ask(tools=("w",))
    assert outcome.turn.finish == "stop"
    assert made.offered() == []
    assert any("w: not started, nobody can be asked here" in line for line in outcome.lines)
    assert "--yes" in made.rows("w")["w"][3]
    assert not pid.exists()
    made.ask(tools=("w",), yes=True)
    assert "w__forecast" in made.offered()
    close(made)
    check_gone(int(pid.read_text()))


def test_a_no_is_kept_until_the_file_is_added_again(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    made = turns(tmp_path, runner)
    servers, person = read_servers(mcp_file(w=[]), {}), Person(["no"])
    made.kernel.session.toolbox.add_servers(servers)
    made.ask(desk=person, tools=("w",))
    made.ask(desk=person, tools=("w",))  # nobody is asked a second time
    assert "not started, as you said" in made.rows("w")["w"][3]
    made.kernel.session.toolbox.add_servers(servers)
    made.ask(desk=Person(["yes"]), tools=("w",))
    made.ask(desk=Person(), tools=("w",))  # a yes counts for this kernel
    assert "w__forecast" in made.offered()
    close(made)


def test_a_dead_server_is_a_row_and_not_a_dead_turn(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    made = turns(tmp_path, runner)
    file = mcp_file(bad=["--fail"], good=[], none={"command": "nowhere-at-all"})
    made.kernel.session.toolbox.add_servers(read_servers(file, {}))
    outcome = made.ask(tools=("bad", "good", "none"), yes=True)
    assert outcome.turn.finish == "stop"
    assert {name.partition("__")[0] for name in made.offered()} == {"good"}
    rows = made.rows("bad", "good", "none")
    assert "dead: the MCP server 'bad' failed" in rows["bad"][3]
    assert "no licence" in rows["bad"][3]
    assert "nowhere-at-all" in rows["none"][3]
    assert "s3cret" not in str(rows)
    close(made)


def test_a_server_that_dies_is_started_once_more(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    pid = tmp_path / "pid"
    made = turns(tmp_path, runner, (call("w__dies"),), ("oh",))
    made.kernel.session.toolbox.add_servers(read_servers(mcp_file(w=["--pid", str(pid)]), {}))
    outcome = made.ask(tools=("w",), yes=True)
    ((_, said, state),) = results(outcome.turn.answer)
    assert state == "error"
    assert "the MCP server 'w' failed" in str(said)
    assert outcome.turn.finish == "stop"
    made.kernel.model.steps.insert(0, (call("w__forecast", '{"city": "x"}'),))  # type: ignore[attr-defined]
    outcome = made.ask(tools=("w",), yes=True)
    assert results(outcome.turn.answer)[0][2] == "ok"
    assert len(pid.read_text().split()) == 2
    close(made)


def test_errors_and_lateness_are_answers(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    steps = ((call("w__failing"),), (call("w__slow", '{"seconds": 20}'),), ("fine",))
    made = turns(tmp_path, runner, *steps)
    file = mcp_file(w=[])
    file.write_text(file.read_text().replace('"command"', '"timeout": 1, "command"'))
    made.kernel.session.toolbox.add_servers(read_servers(file, {}))
    outcome = made.ask(tools=("w",), yes=True)
    (_, failed, first), (_, late, second) = results(outcome.turn.answer)
    assert (first, second) == ("error", "error")
    assert "no such 城市" in str(failed)
    assert "no result after 1 s" in str(late)
    close(made)


def test_an_address_that_was_typed_is_asked_for_nothing(
    tmp_path: Path, runner: asyncio.Runner, http_server: str
) -> None:
    made = turns(tmp_path, runner, (call("local__forecast", '{"city": "x"}'),), ("21",))
    made.kernel.session.toolbox.add_servers([server_at(http_server)])
    outcome = made.ask(desk=Person(["yes"]), tools=("mcp:local",))
    assert results(outcome.turn.answer)[0][1:] == ("21 °C in x 🌤", "ok")
    close(made)


def test_a_server_over_http_that_was_restarted_is_found_again(
    tmp_path: Path, runner: asyncio.Runner
) -> None:
    step, port = (call("local__forecast", '{"city": "x"}'),), free_port()
    made = turns(tmp_path, runner, step, ("fine",), step, ("fine",), step, ("fine",))

    def state() -> str:
        outcome = made.ask(desk=Person(["yes"]), tools=("local",))
        return results(outcome.turn.answer)[-1][2]

    with http_serving(port) as address:
        made.kernel.session.toolbox.add_servers([server_at(address)])
        assert state() == "ok"
    assert state() == "error"  # nobody is there
    with http_serving(port):
        assert state() == "ok"
    close(made)


def test_a_yes_for_a_tool_is_no_yes_for_another_server_of_its_name(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    step = (call("w__forecast", '{"city": "x"}'),)
    made = turns(tmp_path, runner, step, ("fine",), step, ("fine",))
    box = made.kernel.session.toolbox
    box.add_servers(read_servers(mcp_file(w=[]), {}))
    made.ask(desk=Person(["yes", "always"]), tools=("w",))
    assert made.rows("w")["w__forecast"][1] == "auto"
    box.add_servers(read_servers(mcp_file(w=["--tools", "1"]), {}))
    outcome = made.ask(desk=Person(["yes", "no"]), tools=("w",))
    assert results(outcome.turn.answer)[-1][2] == "denied"
    close(made)


def test_a_server_that_is_away_is_named_at_each_turn_and_yes_starts_it_after_a_no(
    tmp_path: Path, runner: asyncio.Runner, mcp_file: WriteFile
) -> None:
    made = turns(tmp_path, runner)
    made.kernel.session.toolbox.add_servers(read_servers(mcp_file(w=[]), {}))
    person = Person(["no"])
    first = made.ask(desk=person, tools=("w",))
    assert any(line.startswith("w: not started, as you said") for line in first.lines)
    for _ in range(2):
        later = made.ask(desk=person, tools=("w",))
        assert later.lines == ("not offered: w · why: %chat tools",)
    assert len(person.asked) == 1
    assert made.ask(desk=person, tools=("w",), yes=True).lines == ()
    assert "w__forecast" in made.offered()
    close(made)


def test_a_server_that_nobody_knows(tmp_path: Path, runner: asyncio.Runner) -> None:
    made = turns(tmp_path, runner)
    with pytest.raises(SettingError, match="no MCP server 'x'"):
        made.ask(tools=("mcp:x",))
