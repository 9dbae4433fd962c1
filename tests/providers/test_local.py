"""The model server that we start: told, shared, begun again, and gone with the kernel."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jan_magics.domain.errors import ModelNotFound, ModelNotReachable
from jan_magics.domain.events import Finish, Loading, StreamEvent, TextDelta
from jan_magics.domain.models import ModelRef
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.local_files import find_files
from jan_magics.providers.local_process import launch
from tests.providers import fake_server
from tests.providers.asking import asking, collect
from tests.providers.doubles import untimed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the double is a script with a #!")


@dataclass(frozen=True)
class Double:
    """A program that stands for llama-server, and weights that tell it how to behave."""

    program: Path
    weights: Path
    pid_file: Path

    def server(self) -> LocalServer:
        return LocalServer(weights=self.weights, program=self.program)

    def pid(self) -> int:
        return int(self.pid_file.read_text())


@pytest.fixture
def double(tmp_path: Path) -> Callable[[str], Double]:
    def make(mode: str) -> Double:
        program = tmp_path / "llama-server"
        source = Path(fake_server.__file__).read_text()
        program.write_text(f"#!{sys.executable}\n{source}")
        program.chmod(0o700)
        weights = tmp_path / "tiny.Q4.gguf"
        pid_file = tmp_path / "pid"
        weights.write_text("GGUF" + json.dumps({"mode": mode, "pid": str(pid_file)}))
        return Double(program, weights, pid_file)

    return make


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def gone(pid: int, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def appeared(path: Path, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return path.exists()


async def ask(server: LocalServer) -> list[StreamEvent]:
    provider = LocalProvider(server)
    try:
        return untimed(await collect(provider, asking("hi", model="local:tiny.Q4")))
    finally:
        await provider.close()


ANSWER = [TextDelta("hello"), Finish("stop")]


def test_starting_is_told_and_the_server_is_used_again(double: Callable[[str], Double]) -> None:
    async def go() -> None:
        made = double("ok")
        server = made.server()
        first = await ask(server)
        pid = made.pid()
        second = await ask(server)
        assert first == [Loading("starting tiny …"), *ANSWER]
        assert (second, made.pid()) == (ANSWER, pid)
        assert server.running
        await server.close()
        assert gone(pid)
        assert await ask(server) == first  # a closed one starts again
        await server.close()

    asyncio.run(go())


def test_the_time_of_a_start_is_told_once(double: Callable[[str], Double]) -> None:
    async def go() -> list[Finish]:
        provider = LocalProvider(double("ok").server(), own=True)
        asked = asking("hi", model="local:tiny.Q4")
        found = [(await collect(provider, asked))[-1] for _ in range(2)]
        await provider.close()
        return [each for each in found if isinstance(each, Finish)]

    first, second = asyncio.run(go())
    assert first.timings
    assert first.timings.load
    assert first.timings.load > 0.1
    assert second.timings is None


def test_two_requests_share_one_start(double: Callable[[str], Double]) -> None:
    async def go() -> tuple[list[list[StreamEvent]], int, int]:
        made = double("ok")
        server = made.server()
        found = await asyncio.gather(ask(server), ask(server))
        running = server.running
        assert running
        await server.close()
        return list(found), made.pid(), running.process.returncode

    found, pid, _ = asyncio.run(go())
    assert found == [[Loading("starting tiny …"), *ANSWER]] * 2
    assert gone(pid)


def test_a_crashed_server_is_started_again_by_the_next_request(
    double: Callable[[str], Double],
) -> None:
    async def go() -> tuple[int, int, list[StreamEvent]]:
        made = double("ok")
        server = made.server()
        await ask(server)
        first = made.pid()
        os.kill(first, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while server.running and time.monotonic() < deadline:  # noqa: ASYNC110 - a process ends
            await asyncio.sleep(0.02)
        events = await ask(server)
        second = made.pid()
        await server.close()
        return first, second, events

    first, second, events = asyncio.run(go())
    assert first != second
    assert events == [Loading("starting tiny …"), *ANSWER]


def test_a_server_that_dies_at_its_start_is_quoted_without_its_key(
    double: Callable[[str], Double],
) -> None:
    async def go() -> None:
        server = double("die").server()
        try:
            await ask(server)
        finally:
            await server.close()

    with pytest.raises(ModelNotReachable, match="unknown model architecture") as raised:
        asyncio.run(go())
    assert "(3)" in raised.value.message
    assert "(key [key])" in raised.value.message
    assert "setting gguf" in raised.value.next_step


def test_a_server_that_dies_without_a_word_is_told_so(double: Callable[[str], Double]) -> None:
    async def go() -> None:
        server = double("silent").server()
        try:
            await ask(server)
        finally:
            await server.close()

    with pytest.raises(ModelNotReachable, match=r"\(3\): it said nothing"):
        asyncio.run(go())


def test_a_program_for_another_processor_is_not_offered_again(
    double: Callable[[str], Double],
) -> None:
    async def go() -> ModelRef | None:
        server = double("illegal").server()
        assert server.available() == ModelRef("local", "tiny.Q4")
        with pytest.raises(ModelNotReachable, match="another processor"):
            await ask(server)
        return server.available()

    assert asyncio.run(go()) is None


def test_giving_up_while_it_starts_leaves_nothing_behind(double: Callable[[str], Double]) -> None:
    async def go() -> int:
        made = double("slow")
        server = made.server()
        task = asyncio.create_task(ask(server))
        assert await asyncio.to_thread(appeared, made.pid_file)
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait({task})
        await server.close()
        return made.pid()

    assert gone(asyncio.run(go()))


def test_the_key_is_on_no_command_line(double: Callable[[str], Double]) -> None:
    made = double("ok")
    running = launch(find_files(made.weights, made.program), 4096)
    try:
        assert appeared(made.pid_file)
        lines = [Path(f"/proc/{pid}/cmdline") for pid in (running.process.pid, made.pid())]
        shown = b"".join(line.read_bytes() for line in lines if line.exists())
        assert running.key.reveal(running.key.origin).encode() not in shown
        assert b"--port" in shown or sys.platform != "linux"
    finally:
        running.end()
    assert gone(made.pid())


PARENT = """
import asyncio, os, signal, sys, time
from pathlib import Path
from jan_magics.providers.local import LocalProvider, LocalServer
from tests.providers.asking import asking, collect
from tests.providers.doubles import untimed
async def go():
    server = LocalServer(weights=Path(sys.argv[1]), program=Path(sys.argv[2]))
    await collect(LocalProvider(server), asking("hi", model="local:tiny.Q4"))
    if sys.argv[3] == "fork" and os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
    print("ready", flush=True)
    await asyncio.sleep(60)
asyncio.run(go())
"""


@pytest.mark.parametrize("way", ["plain", "fork"])
def test_a_killed_kernel_takes_its_server_along(double: Callable[[str], Double], way: str) -> None:
    made = double("ok")
    arguments = [str(made.weights), str(made.program), way]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *arguments], stdout=subprocess.PIPE, start_new_session=True
    ) as kernel:
        assert kernel.stdout
        assert kernel.stdout.readline() == b"ready\n"
        pid = made.pid()
        os.killpg(kernel.pid, signal.SIGINT)  # as Jupyter interrupts
        assert kernel.stdout.readline() == b"interrupted\n"
        assert not gone(pid, 0.5)
        os.kill(kernel.pid, signal.SIGKILL)
        kernel.wait()
        ended = gone(pid)
        if way == "fork":
            os.killpg(kernel.pid, signal.SIGKILL)  # the forked process, which holds the pipe
        assert ended


def test_another_model_than_the_servers(double: Callable[[str], Double]) -> None:
    provider = LocalProvider(double("ok").server())
    with pytest.raises(ModelNotFound, match=r"has 'tiny\.Q4', not 'other'"):
        asyncio.run(collect(provider, asking("hi", model="local:other")))


def test_models_start_nothing(double: Callable[[str], Double]) -> None:
    made = double("ok")
    (info,) = asyncio.run(LocalProvider(made.server()).models())
    assert (str(info.ref), info.window, info.loaded) == ("local:tiny.Q4", 4096, False)
    assert not made.pid_file.exists()
