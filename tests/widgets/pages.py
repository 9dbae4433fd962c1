"""A page for tests: it opens what a cell has shown, and speaks to the kernel by the widget's comm.

Every message, in both directions, is held against the protocol.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.kernel import Kernel, Ran

WIDGET = "application/vnd.jupyter.widget-view+json"
PROTOCOL: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "jan_magics/widgets/protocol.json").read_text(encoding="utf-8")
)


def check_message(view: str, direction: str, message: object) -> None:
    """Raise ValidationError for a message that the protocol does not know."""
    schema = {"$defs": PROTOCOL["$defs"], **PROTOCOL["views"][view][direction]}
    Draft202012Validator(schema).validate(message)


class Page:
    """A page that shows the view of one output; `said` is what the kernel has told it."""

    def __init__(self, kernel: Kernel, ran: Ran, view: str) -> None:
        self.kernel, self.view = kernel, view
        shown = [*ran.results, *ran.displays]
        self.comm = next(each[WIDGET]["model_id"] for each in reversed(shown) if WIDGET in each)
        opened = [c for kind, c in ran.comms if kind == "comm_open" and c["comm_id"] == self.comm]
        self.state: dict[str, Any] = opened[0]["data"]["state"]
        self.said: list[dict[str, Any]] = []
        self.bytes = 0
        self.hear(ran)

    def hear(self, ran: Ran) -> None:
        """Take what the kernel said while a cell ran."""
        for kind, content in ran.comms:
            self._take(kind, content)

    def say(self, **message: Any) -> None:
        """Send a message, as the page's code does."""
        check_message(self.view, "toKernel", message)
        client = self.kernel.client
        content = {"comm_id": self.comm, "data": {"method": "custom", "content": message}}
        client.shell_channel.send(client.session.msg("comm_msg", content))

    def ask(self, wanted: str, **message: Any) -> dict[str, Any]:
        """Send a message and return the next one of the kernel that is of a kind."""
        self.say(**message)
        return self.wait(wanted)

    def wait(self, wanted: str, seconds: float = 30) -> dict[str, Any]:
        """Return the next message of a kind; what comes before it is kept in `said`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got = self.kernel.client.get_iopub_msg(timeout=seconds)
            message = self._take(got["msg_type"], got["content"])
            if message is not None and message["kind"] == wanted:
                return message
        raise AssertionError(f"no {wanted!r} within {seconds} s")

    def _take(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any] | None:
        if kind != "comm_msg" or content["comm_id"] != self.comm:
            return None
        if content["data"].get("method") != "custom":
            return None
        message: dict[str, Any] = content["data"]["content"]
        check_message(self.view, "toPage", message)
        self.said.append(message)
        self.bytes += len(json.dumps(content))
        return message
