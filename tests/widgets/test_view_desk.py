"""A turn that is begun in a view asks there for its tool calls; who closes the view says no."""

import time

import pytest

from tests.kernel import Kernel
from tests.magics.test_tools import step
from tests.providers.serving import serving_here
from tests.widgets.test_thread_view import opened

MAIL = """import jan_magics as jan

@jan.tool
def send_mail(to: str) -> str:
    "Send a mail."
    return f"sent to {to}"
"""


STATES = """[part.state for message in jan.current().show().messages
 for part in message.parts if hasattr(part, "state")]"""


@pytest.mark.parametrize("says", ["yes", "no", "closed", "stop"])
def test_a_tool_call_of_a_turn_in_the_view_asks_in_the_view(kernel: Kernel, says: str) -> None:
    kernel.ok(MAIL)
    with serving_here(step(("send_mail", {"to": "李 <b>"})), step(text="Done.")) as server:
        page = opened(kernel, f"%chat use -m {server.address}#m --tools send_mail")
        asking = page.ask("asking", kind="send", text="Write to 李.")
        assert (asking["what"], asking["name"]) == ("call", "send_mail")
        assert asking["shown"] == '{"to": "李 <b>"}'
        proof = {name: asking[name] for name in ("token", "digest")}
        page.say(kind="verdict", **{**proof, "token": str(asking["token"])[::-1]}, verdict="yes")
        assert page.ask("asking", kind="ready")["token"] == asking["token"]  # a page that came late
        if says == "closed":
            kernel.ok("get_ipython().jan_magics_views.opened[-1].close()")
        elif says == "stop":
            page.say(kind="stop")
            assert page.wait("asked")["token"] == asking["token"]
        else:
            page.say(kind="verdict", **proof, verdict=says)
            assert page.wait("asked")["token"] == asking["token"]
        wanted = {"yes": "['ok']", "stop": "['interrupted']"}.get(says, "['denied']")
        assert until(kernel, STATES, wanted) == wanted


def until(kernel: Kernel, code: str, wanted: str) -> str:
    """Evaluate something until it is what is wanted, at most ten seconds."""
    end = time.monotonic() + 10
    while (found := kernel.ok(code).result) != wanted and time.monotonic() < end:
        time.sleep(0.1)
    return found
