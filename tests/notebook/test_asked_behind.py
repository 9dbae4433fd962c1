"""Questions of turns in the background: below the cell that began them, and gone with the turn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jan_magics.notebook.buttons import ASK
from tests.kernel import Ran, running_kernel
from tests.magics.test_tools import WEATHER, step
from tests.notebook.test_buttons import Page, verdict
from tests.providers.serving import serving_here


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with running_kernel(tmp_path, JAN_DATA_FOLDER=str(tmp_path / "data")) as running:
        running.ok(f"%load_ext jan_magics\n{WEATHER}")
        yield Page(running)


def test_a_turn_in_the_background_asks_below_its_own_cell(page: Page) -> None:
    steps = (step(("send_mail", {"to": "李"})), step(text="Done."))
    state = "print(running.wait().text, running._ended[-1].turn.answer.parts[1].state)"
    for word, became in (("yes", "ok"), ("no", "denied")):
        with serving_here(*steps) as server:
            flags = f"-m {server.address}#m --tools send_mail --background -o running"
            asked = next_question(page, page.kernel.ok(f"%%chat {flags}\ngo", cell_id="behind"))
            assert (asked["name"], asked["cell"]) == ("send_mail", "behind")
            assert page.kernel.ok("6 * 7", cell_id="c").result == "42"  # nothing waits for it
            verdict(word)(page, asked)
            assert page.kernel.ok(state).out == f"Done. {became}\n"


def test_stopping_a_background_turn_takes_its_question_away(page: Page) -> None:
    with serving_here(step(("send_mail", {"to": "李"})), step(text="never")) as server:
        flags = f"-m {server.address}#m --tools send_mail --background -o running"
        asked = next_question(page, page.kernel.ok(f"%%chat {flags}\ngo", cell_id="behind"))
        page.say(token=asked["token"], digest=asked["digest"])
        page.kernel.ok("running.stop()")
        while page.kernel.ok("get_ipython().jan_magics_buttons.questions").result != "[]":
            pass
        assert len(server.bodies) == 1


def next_question(page: Page, ran: Ran) -> dict[str, Any]:
    """Return what is asked, while a cell runs or after it."""
    comms = iter(ran.comms)
    while True:
        kind, content = next(comms, None) or _heard(page)
        if kind == "comm_open" and content["target_name"] == ASK:
            data: dict[str, Any] = content["data"]
            return data


def _heard(page: Page) -> tuple[str, dict[str, Any]]:
    got = page.kernel.client.get_iopub_msg(timeout=60)
    return got["msg_type"], got["content"]
