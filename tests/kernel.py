"""A real kernel for tests: run a cell, see everything that a front end would see of it."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parent.parent
TURN = "application/vnd.jan-magics.turn+json"


@dataclass
class Ran:
    """What running a cell brought: `displays` as they stand in the end, `updates` all of them.

    `elsewhere` are updates of what other cells show, `comms` what widgets were told.
    """

    status: str
    displays: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    elsewhere: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    next_inputs: list[str] = field(default_factory=list)
    comms: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    out: str = ""
    err: str = ""
    error: tuple[str, str, list[str]] | None = None
    seconds: float = 0.0
    interrupted_after: float | None = None

    @property
    def turn(self) -> Mapping[str, Any]:
        """Return the turn that the cell shows."""
        shown: Mapping[str, Any] = self.displays[-1][TURN]
        return shown

    @property
    def result(self) -> str:
        """Return the text of what the cell returned."""
        return str(self.results[-1]["text/plain"])


class Kernel:
    """A running kernel."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.process = _process_of(manager)
        self.client = client
        self.cells = 0

    def run(
        self, code: str, *, cell_id: str = "", typed: str = "",
        interrupt: float | Callable[[], bool] | None = None,
    ) -> Ran:  # fmt: skip
        """Run a cell to its end.

        `interrupt`: it is interrupted so many seconds after it began, or once that is true.
        `typed` is what a person types when the cell asks.
        """
        pressed: list[float] = []
        over = Event()
        presser = Thread(target=self._press, args=(interrupt, over, pressed))
        begun = time.perf_counter()
        request = self._send(code, cell_id, may_ask=bool(typed))
        if interrupt is not None:
            presser.start()
        if typed:
            self.client.get_stdin_msg(timeout=30)
            self.client.input(typed)
        ran = self._watch(request)
        ended = time.perf_counter()
        if interrupt is not None:  # a cell that ended before leaves the next one in peace
            over.set()
            presser.join()
        ran.seconds = ended - begun
        ran.interrupted_after = ended - pressed[0] if pressed else None
        reply = self._reply(request)
        ran.status = reply["status"]
        payload = reply.get("payload", ())
        ran.next_inputs = [each["text"] for each in payload if "set_next_input" in each.values()]
        return ran

    def _press(
        self, when: float | Callable[[], bool] | None, over: Event, pressed: list[float]
    ) -> None:
        while callable(when) and not when():
            if over.wait(0.02):
                return
        if isinstance(when, float | int) and over.wait(when):
            return
        pressed.append(time.perf_counter())
        # The signal itself: the manager's own call belongs to the main thread's event loop.
        os.kill(self.process, signal.SIGINT)

    def _send(self, code: str, cell_id: str, *, may_ask: bool) -> str:
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": may_ask, "stop_on_error": True,
        }  # fmt: skip
        message = self.client.session.msg("execute_request", content)
        message["metadata"] = {"cellId": cell_id} if cell_id else {}
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def _watch(self, request: str) -> Ran:
        ran, places = Ran(""), dict[str, int]()
        while True:
            got = self.client.get_iopub_msg(timeout=60)
            # An update goes to the display that it names, whichever cell it comes from.
            named = got["content"].get("transient", {}).get("display_id") in places
            if got["parent_header"].get("msg_id") != request and not named:
                continue
            if got["msg_type"] == "status" and got["content"]["execution_state"] == "idle":
                return ran
            _take(ran, places, got["msg_type"], got["content"])

    def _reply(self, request: str) -> dict[str, Any]:
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = reply["content"]
                return content

    def ok(self, code: str, **options: Any) -> Ran:
        """Run a cell that must not fail."""
        ran = self.run(code, **options)
        assert ran.status == "ok", ran.error or ran.err
        return ran

    def restart(self) -> None:
        """Restart the kernel as a front end does."""
        self.manager.restart_kernel(now=True)
        self.client.wait_for_ready(timeout=60)
        self.process = _process_of(self.manager)


def _process_of(manager: KernelManager) -> int:
    found = getattr(manager.provisioner, "pid", None)
    assert isinstance(found, int)
    return found


def _take(ran: Ran, places: dict[str, int], kind: str, content: dict[str, Any]) -> None:
    if kind == "stream":
        if content["name"] == "stdout":
            ran.out += content["text"]
        else:
            ran.err += content["text"]
    elif kind == "error":
        ran.error = (content["ename"], content["evalue"], content["traceback"])
    elif kind.startswith("comm_"):
        ran.comms.append((kind, content))
    elif kind == "execute_result":
        ran.results.append(content["data"])
    elif kind in ("display_data", "update_display_data"):
        key = content.get("transient", {}).get("display_id", f"#{len(places)}")
        if kind == "display_data":
            places[key] = len(ran.displays)
            ran.displays.append(content["data"])
        elif key in places:
            ran.displays[places[key]] = content["data"]
        else:
            ran.elsewhere.append(content["data"])
        ran.updates.append(content["data"])


def homes(folder: Path) -> dict[str, str]:
    """Say that a kernel keeps its things under a folder, and nothing of the user's is touched.

    A kernel that the tests of a file share has to be told: it begins before a test is.
    """
    return {
        "JAN_DATA_FOLDER": str(folder / "data"),
        "JAN_CONFIG_FOLDER": str(folder / "config"),
        "IPYTHONDIR": str(folder / "ipython"),  # it must not run the user's start-up files
    }


@contextmanager
def running_kernel(folder: Path, *, python: str = "", **environment: str) -> Iterator[Kernel]:
    """Start a kernel in a folder, with what the tests' environment says and a little more.

    `python` is the interpreter of another environment that has ipykernel.
    """
    env = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    assert "IPYTHONDIR" in env, "it would live in the user's folders: give it homes(folder)"
    with (folder / "kernel.log").open("w") as log, TemporaryDirectory(prefix="jk") as sockets:
        # Files and no ports: of two kernels that start at one moment, both may find a port free.
        manager = KernelManager(kernel_name="python3", transport="ipc", ip=f"{sockets}/k")
        if python:
            command = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            manager._kernel_spec = KernelSpec(argv=command)
        manager.start_kernel(cwd=str(folder), env=env, stdout=log, stderr=log)
        client = manager.blocking_client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            yield Kernel(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
            manager.cleanup_resources()
