"""The process of a local llama-server: launch it, wait until it answers, end it."""

import asyncio
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from jan_magics.domain.errors import ModelNotReachable, ModelTimeout, ServerFailed, StreamBroken
from jan_magics.providers.complaints import redact
from jan_magics.providers.failures import Asked
from jan_magics.providers.http import Line
from jan_magics.providers.keys import Key, origin_of
from jan_magics.providers.local_files import LocalFiles, environment_for

_PATIENCE: Final = 300.0  # seconds that weights may take to load
_LOOK: Final = 0.05  # seconds between two looks while it starts
_ILLEGAL_INSTRUCTION: Final = 132


@dataclass(frozen=True, slots=True)
class Running:
    """A started server: its address and key, and the launcher that ends it with us."""

    address: str
    key: Key
    process: "subprocess.Popen[bytes]"
    log: IO[bytes]

    @property
    def alive(self) -> bool:
        """Tell whether the server still runs."""
        return self.process.poll() is None

    @property
    def unfit(self) -> bool:
        """Tell whether the program ended because it was built for another processor."""
        return self.process.poll() == _ILLEGAL_INSTRUCTION

    def end(self) -> None:
        """Close the launcher's pipe and wait until the server has ended."""
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def last_words(self) -> str:
        """Return the end of the server's log, without secrets."""
        self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, self.log.tell() - 4096))
        lines = self.log.read().decode("utf-8", "replace").splitlines()
        return redact(" | ".join(line.strip() for line in lines[-3:] if line.strip()), self.key)


def launch(files: LocalFiles, window: int) -> Running:
    """Start the launcher, which starts the server, on a free port with a key of its own."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}/v1"
    secret = secrets.token_urlsafe(32)
    log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
    server: list[str | Path] = [
        files.program,
        "-m",
        files.weights,
        "--alias",
        files.name,
        "--jinja",
    ]
    if files.template:
        server += ["--chat-template-file", files.template]
    limits = ["-c", str(window), "-np", "1", "-t", str(_processors())]
    where = ["--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603 - programs that the user installed
        # -I -S: nothing of the user's may run in it, and it starts at once.
        [sys.executable, "-I", "-S", _launcher(), *server, *limits, *where],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=environment_for(files, os.environ, secret),
        start_new_session=True,
    )
    key = Key(secret, source="the local server's start", origin=origin_of(address))
    return Running(address, key, process, log)


async def ready(running: Running, files: LocalFiles) -> None:
    """Wait until the server answers. Raises ModelNotReachable, and ends it, when it does not."""
    # Without the key: until it answers, somebody else may listen there.
    asked = Asked(f"local:{files.name}", "local", running.address)
    line = Line(running.address)
    answered = False
    error: ModelNotReachable | None = None
    try:
        answered = await _healthy(running, line, asked)
        error = None if answered else _not_started(running, asked)
    finally:
        if not answered:
            # Also when nobody waits any longer: a server that is not known is never ended.
            await asyncio.shield(asyncio.to_thread(running.end))
        await line.close()
    if error:
        raise error


async def _healthy(running: Running, line: Line, asked: Asked) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while running.alive and time.monotonic() < deadline:
        with suppress(ModelNotReachable, ModelTimeout, ServerFailed, StreamBroken):
            await line.get("/health", asked, read=2.0)
            return True
        await asyncio.sleep(_LOOK)
    return False


def _not_started(running: Running, asked: Asked) -> ModelNotReachable:
    status = running.process.poll()
    if status is None:
        return ModelNotReachable(
            f"{asked.model} was not loaded within {_PATIENCE:g} s",
            "Choose smaller weights: %config JanMagics.gguf = 'PATH'",
            model=asked.model,
        )
    if running.unfit:
        return ModelNotReachable(
            f"{asked.model} cannot run: this llama-server was built for another processor",
            "Put a llama-server for this machine on PATH, or use Ollama: %chat use ollama:MODEL",
            model=asked.model,
        )
    said = running.last_words() or "it said nothing"
    return ModelNotReachable(
        f"llama-server ended while it started ({status}): {said}",
        "Check the weights and the setting gguf, then run the cell again.",
        model=asked.model,
    )


def _launcher() -> Path:
    # As a file: the launcher must not wait for any import of ours.
    return Path(__file__).with_name("launcher.py")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _processors() -> int:
    # The affinity, where the system knows it: a container may have fewer than the machine.
    known = getattr(os, "sched_getaffinity", None)
    return len(known(0)) if known else os.cpu_count() or 1
