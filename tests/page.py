"""A page in JupyterLab as seen from a kernel: comms on a subshell, and what comes back."""

import time
from typing import Any

import jsonschema

from jan_magics.notebook.buttons import ANSWER, PAGE, PROTOCOL
from tests.kernel import Kernel, Ran, _take
from tests.protocol_types import definitions

PATIENCE = 30.0
KINDS = {
    "turn": "PageTurn", "over": "PageOver", "welcome": "PageWelcome", "reply": "PageReply",
    "changed": "PageChanged", "ingest": "PageIngest", "busy": "PageBusy",
    "asking": "PageAsking",
}  # fmt: skip


def check(name: str, value: object) -> Any:
    """Check a message against its definition, and return it."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": dict(definitions())}
    jsonschema.validate(value, schema)
    return value


class FollowingPage:
    """A page with our extension that follows the turns of a kernel."""

    def __init__(self, kernel: Kernel, language: str = "en") -> None:
        self.kernel = kernel
        self.asked = 0
        control = kernel.client.session.msg("create_subshell_request", {})
        kernel.client.control_channel.send(control)
        self.subshell = kernel.client.get_control_msg(timeout=30)["content"]["subshell_id"]
        told = {"protocol": PROTOCOL, "language": language}
        self._send("comm_open", "stop", {"target_name": ANSWER, "data": told})
        self._send("comm_open", "line", {"target_name": PAGE, "data": told})
        self.welcome = self._until(lambda said: said.get("kind") == "welcome")[-1]

    def stop(self, turn: str) -> None:
        """Press the stop button of a turn."""
        self._send("comm_msg", "stop", {"data": {"stop": turn}})

    def ask(self, kind: str, **data: Any) -> dict[str, Any]:
        """Ask the kernel for something and return the reply."""
        self.asked += 1
        request = check("PageRequest", {"kind": kind, "n": self.asked, **data})
        self._send("comm_msg", "line", {"data": request})
        return self._until(lambda said: said.get("n") == self.asked)[-1]

    def run(self, code: str, cell: str, stop: str = "") -> tuple[Ran, list[dict[str, Any]]]:
        """Run a cell; returns it, and what the kernel said meanwhile.

        The turn is stopped as soon as it says `stop`.
        """
        request = self.kernel._send(code, cell, may_ask=False)
        ran, places, said = Ran(""), dict[str, int](), list[dict[str, Any]]()
        while True:
            got = self.kernel.client.get_iopub_msg(timeout=PATIENCE)
            kind, content = got["msg_type"], got["content"]
            if kind == "comm_msg" and "method" not in content["data"]:  # else a widget's
                said.append(_checked(content["data"]))
                if stop and stop in str(content["data"].get("text")):
                    self.stop(content["data"]["turn"])
            elif got["parent_header"].get("msg_id") == request:
                if kind == "status" and content["execution_state"] == "idle":
                    break
                _take(ran, places, kind, content)
        ran.status = self.kernel._reply(request)["status"]
        return ran, said

    def events(self, turn: str) -> list[dict[str, Any]]:
        """Return what the kernel says of a turn until it is over."""
        said = self._until(lambda said: said.get("kind") == "over" and said["turn"] == turn)
        return [each for each in said if each.get("turn") == turn]

    def _send(self, kind: str, comm: str, content: dict[str, Any]) -> None:
        message = self.kernel.client.session.msg(kind, {"comm_id": comm, **content})
        message["header"]["subshell_id"] = self.subshell
        self.kernel.client.shell_channel.send(message)

    def _until(self, last: Any) -> list[dict[str, Any]]:
        said: list[dict[str, Any]] = []
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            got = self.kernel.client.get_iopub_msg(timeout=PATIENCE)
            if got["msg_type"] == "comm_msg" and "method" not in got["content"]["data"]:
                said.append(_checked(got["content"]["data"]))
                if last(said[-1]):
                    return said
        raise TimeoutError(f"the kernel said only {said}")


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = check(KINDS[data["kind"]], data)
    return checked
