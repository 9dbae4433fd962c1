"""Answers by button: what counts as a yes, in a real kernel with a page's subshell, and alone."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jan_magics.notebook.approving import ask_person
from jan_magics.notebook.buttons import ANSWER, ASK, Buttons, digest_of
from tests.kernel import Kernel, Ran, running_kernel
from tests.magics.test_tools import WEATHER, step
from tests.mcp.conftest import SERVER
from tests.providers.serving import serving_here

Says = Callable[["Page", dict[str, Any]], None]


class Page:
    """What a page in JupyterLab does, as seen from the kernel: a comm on a subshell."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        client = kernel.client
        request = client.session.msg("create_subshell_request", {})
        client.control_channel.send(request)
        reply = client.get_control_msg(timeout=30)
        self.subshell = reply["content"]["subshell_id"]
        self.asked: list[dict[str, Any]] = []
        self.closed: list[str] = []
        self._send("comm_open", {"comm_id": "page", "target_name": ANSWER, "data": {}})

    def say(self, **data: Any) -> None:
        """Send a message as a page does."""
        self._send("comm_msg", {"comm_id": "page", "data": data})

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        message = self.kernel.client.session.msg(kind, content)
        message["header"]["subshell_id"] = self.subshell
        self.kernel.client.shell_channel.send(message)

    def run(self, code: str, says: Says) -> dict[str, Any]:
        """Run a cell; `says` answers each question. Returns the newest turn's display."""
        request = self.kernel._send(code, "", may_ask=False)
        shown: dict[str, Any] = {}
        while True:
            got = self.kernel.client.get_iopub_msg(timeout=60)
            kind, content = got["msg_type"], got["content"]
            if kind == "comm_open" and content["target_name"] == ASK:
                self.asked.append(content)
                says(self, content["data"])
            elif kind == "comm_close":
                self.closed.append(content["comm_id"])
            elif got["parent_header"].get("msg_id") == request:
                if kind in ("display_data", "update_display_data"):
                    shown = content["data"]
                if kind == "status" and content["execution_state"] == "idle":
                    break
        assert self.kernel._reply(request)["status"] in ("ok", "error")
        turn: dict[str, Any] = shown.get("application/vnd.jan-magics.turn+json", {})
        return turn


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with running_kernel(tmp_path, JAN_DATA_FOLDER=str(tmp_path / "data")) as running:
        running.ok(f"%load_ext jan_magics\n{WEATHER}")
        yield Page(running)


def mail(page: Page, says: Says) -> str:
    """Let a model call send_mail; return what became of the call."""
    steps = (step(("send_mail", {"to": "李"})), step(text="Done."))
    with serving_here(*steps) as server:
        turn = page.run(f"%%chat -m {server.address}#m --tools send_mail\ngo", says)
    state: str = turn["calls"][0]["state"]
    return state


def verdict(word: str) -> Says:
    def says(page: Page, asked: dict[str, Any]) -> None:
        page.say(token=asked["token"], digest=asked["digest"], verdict=word)

    return says


def test_yes_is_for_one_call_and_always_for_this_kernel(page: Page) -> None:
    assert mail(page, verdict("yes")) == "ok"
    assert mail(page, verdict("no")) == "denied"
    assert mail(page, verdict("always")) == "ok"
    assert mail(page, verdict("no")) == "ok"
    assert len(page.asked) == 3
    assert page.closed == [each["comm_id"] for each in page.asked]
    shown = page.asked[0]["data"]
    assert (shown["kind"], shown["name"], shown["shown"]) == ("call", "send_mail", '{"to": "李"}')
    assert len({each["data"]["token"] for each in page.asked}) == 3


def test_only_the_token_and_the_digest_of_this_call_are_a_yes(page: Page) -> None:
    earlier: list[dict[str, Any]] = []

    def forged(page: Page, asked: dict[str, Any]) -> None:
        token, digest = asked["token"], asked["digest"]
        page.say(token=token, digest=digest)  # it is on screen
        page.say(token=token, verdict="yes")
        page.say(digest=digest, verdict="yes")
        page.say(token=token, digest=digest_of("call", "send_mail", '{"to": "x"}'), verdict="yes")
        page.say(token=token[::-1], digest=digest, verdict="yes")
        page.say(token=token, digest=digest, verdict="yes please")
        page.say(token=None, digest=None, verdict="yes")
        for old in earlier:
            page.say(token=old["token"], digest=old["digest"], verdict="yes")
        page.say(token=token, digest=digest, verdict="no")
        page.say(token=token, digest=digest, verdict="yes")  # too late
        earlier.append(asked)

    assert mail(page, forged) == "denied"
    assert mail(page, forged) == "denied"


def test_a_page_that_shows_nothing_is_nobody(page: Page) -> None:
    begun = time.monotonic()
    assert mail(page, lambda *_: None) == "denied"
    assert time.monotonic() - begun < 40
    assert page.closed == [page.asked[0]["comm_id"]]


def test_an_interrupt_takes_the_question_away(page: Page) -> None:
    def interrupt(page: Page, asked: dict[str, Any]) -> None:
        page.say(token=asked["token"], digest=asked["digest"])
        threading.Timer(0.5, os.kill, (page.kernel.process, signal.SIGINT)).start()

    assert mail(page, interrupt) == "interrupted"
    assert len(page.closed) == 1
    assert mail(page, verdict("yes")) == "ok"


class Comm:
    """A comm that nobody is at the other end of."""

    def __init__(self, **opened: Any) -> None:
        self.opened = opened
        self.closed = 0
        self.heard: Any = None

    def on_msg(self, heard: Any) -> None:
        self.heard = heard

    def on_close(self, left: Any) -> None:
        self.left = left

    def send(self, data: dict[str, Any]) -> None:
        self.said = [*getattr(self, "said", ()), data]

    def close(self) -> None:
        self.closed += 1


def alone() -> tuple[Buttons, Comm, list[Comm]]:
    made: list[Comm] = []

    def open_comm(**given: Any) -> Comm:
        made.append(Comm(**given))
        return made[-1]

    buttons, page = Buttons(open_comm), Comm()
    buttons.join(page)
    return buttons, page, made


def test_no_answer_in_time_is_no() -> None:
    buttons, page, made = alone()

    def look() -> None:
        while not made:
            time.sleep(0.01)
        data = made[0].opened["data"]
        page.heard({"content": {"data": {k: data[k] for k in ("token", "digest")}}})

    threading.Thread(target=look).start()
    assert buttons.ask("call", "send_mail", "{}", patience=0.3) == "late"
    assert made[0].closed == 1
    assert buttons.questions == []


def test_a_page_that_leaves_is_not_asked() -> None:
    buttons, page, made = alone()
    page.left(None)
    assert buttons.ask("call", "send_mail", "{}") == "nobody"
    assert made == []


def answering(page: Comm, made: list[Comm], *, count: int = 1) -> threading.Thread:
    """Say yes on a page's comm when so many questions are out."""

    def answer() -> None:
        while len(made) < count:
            time.sleep(0.01)
        data = made[-1].opened["data"]
        said = {"token": data["token"], "digest": data["digest"]}
        page.heard({"content": {"data": said}})
        page.heard({"content": {"data": {**said, "verdict": "yes"}}})

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def greeted() -> tuple[Buttons, list[Comm]]:
    made: list[Comm] = []

    def open_comm(**given: Any) -> Comm:
        made.append(Comm(**given))
        return made[-1]

    return Buttons(open_comm, greeting=Comm()), made


def test_a_page_hears_the_question_before_it_has_joined() -> None:
    buttons, made = greeted()
    page = Comm()

    def join() -> None:
        while not made:
            time.sleep(0.01)
        buttons.join(page)

    joining, said = threading.Thread(target=join), answering(page, made, count=2)
    joining.start()
    assert buttons.ask("call", "send_mail", "{}", patience=5) == "yes"
    joining.join()
    said.join()
    first, second = made
    assert first.opened == second.opened  # the same question once more, to the one that has joined
    assert (first.closed, second.closed) == (1, 1)


def test_a_page_that_is_gone_does_not_keep_a_new_one_from_being_asked() -> None:
    buttons, _, made = alone()
    page = Comm()
    threading.Timer(0.5, buttons.join, (page,)).start()
    said = answering(page, made, count=2)
    assert buttons.ask("call", "send_mail", "{}", patience=5) == "yes"
    said.join()


def test_where_pages_were_told_of_us_and_none_comes_it_takes_a_moment() -> None:
    buttons, made = greeted()
    begun = time.monotonic()
    assert buttons.ask("call", "send_mail", "{}") == "nobody"
    assert time.monotonic() - begun < 5
    assert [comm.closed for comm in made] == [1]


def test_nobody_who_types_in_time_is_late(tmp_path: Path) -> None:
    code = (
        "from jan_magics.notebook.approving import ask_person\n"
        "print('said', ask_person(get_ipython(), 'Run? ', 1.0))"
    )
    with running_kernel(tmp_path) as kernel:
        request = kernel._send(code, "", may_ask=True)
        ran: Ran = kernel._watch(request)
        assert ran.out == "said late\n"
        assert kernel.ok("print(1 + 1)").out == "2\n"


def test_outside_of_a_kernel_and_a_terminal_there_is_nobody() -> None:
    assert ask_person(None, "Run? ") == "nobody"


def test_an_mcp_server_starts_by_a_button(page: Page, tmp_path: Path) -> None:
    command = {"command": sys.executable, "args": [str(SERVER), "--api-key", "s3cret"]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": command}}))
    page.run("%chat tools --mcp mcp.json", verdict("no"))
    calls = step(("weather__forecast", {"city": "巴黎"}))
    with serving_here(calls, step(text="21 °C.")) as server:
        turn = page.run(f"%%chat -m {server.address}#m\ngo", verdict("yes"))
    assert turn["calls"][0]["output"] == "21 °C in 巴黎 🌤"
    start, called = (each["data"] for each in page.asked)
    assert (start["kind"], start["name"]) == ("start", "weather")
    assert "server.py --api-key" in start["shown"]
    assert "s3cret" not in start["shown"]
    assert (called["kind"], called["name"]) == ("call", "weather__forecast")
