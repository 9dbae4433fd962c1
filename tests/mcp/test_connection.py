"""One connection, over stdio and over HTTP: the tools as they are, and every way to fail."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeAlias

import pytest

from jan_magics.domain.errors import ToolServerFailed
from jan_magics.domain.messages import Json
from jan_magics.providers.mcp import McpConnection, McpResult
from jan_magics.providers.mcp_config import McpServer, server_at
from tests.mcp.conftest import SERVER, check_gone

Call: TypeAlias = tuple[str, dict[str, Json]]


def here(*args: str, **more: str) -> McpServer:
    return McpServer("weather", sys.executable, (str(SERVER), *args), env=more)


async def asked(server: McpServer, *calls: Call) -> list[McpResult]:
    connection = McpConnection(server)
    try:
        await connection.open()
        return [await connection.call(name, given) for name, given in calls]
    finally:
        await connection.close()


CALLS: tuple[Call, ...] = (
    ("forecast", {"city": "巴黎", "days": 2}),
    ("failing", {}),
    ("picture", {}),
    ("nothing", {}),
    ("forecast", {"days": "many"}),
)


def check_results(found: list[McpResult]) -> None:
    said, failed, picture, unknown, wrong = found
    assert said == McpResult("22 °C in 巴黎 🌤")
    assert failed.failed
    assert "no such 城市" in str(failed.output)
    assert picture == McpResult("[image/png: not shown]")
    assert unknown.failed
    assert "nothing" in str(unknown.output)
    assert wrong.failed


def test_stdio() -> None:
    check_results(asyncio.run(asked(here(), *CALLS)))


def test_http(http_server: str) -> None:
    check_results(asyncio.run(asked(server_at(http_server), *CALLS)))


def test_tools_are_told_with_their_schemas() -> None:
    async def go() -> None:
        connection = McpConnection(here("--tools", "3"))
        specs = {spec.name: spec for spec in await connection.open()}
        await connection.close()
        assert specs["forecast"].description == "Tell the weather of a city."
        assert specs["forecast"].parameters["required"] == ["city"]
        assert {"气温.now", "extra_0", "extra_2"} <= specs.keys()

    asyncio.run(go())


def test_a_server_sees_its_own_variables_and_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    calls: tuple[Call, Call] = (
        ("variable", {"name": "OPENAI_API_KEY"}),
        ("variable", {"name": "TOKEN"}),
    )
    ours, own = asyncio.run(asked(here(TOKEN="its-own"), *calls))  # noqa: S106 - no real one
    assert (ours.output, own.output) == ("not set", "its-own")


def failure(server: McpServer, *calls: Call) -> ToolServerFailed:
    with pytest.raises(ToolServerFailed) as raised:
        asyncio.run(asked(server, *calls))
    return raised.value


def test_what_does_not_start_says_why_without_secrets() -> None:
    failed = failure(here("--fail"))
    assert "cannot start: no licence" in failed.message
    assert "s3cret" not in str(failed)
    assert "%chat tools --mcp" in failed.next_step


def test_a_program_that_is_not_there() -> None:
    assert "no program 'nowhere-at-all'" in failure(McpServer("x", "nowhere-at-all")).message


def test_what_is_no_server_is_waited_for_and_ended(tmp_path: Path) -> None:
    wait = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    server = McpServer("x", sys.executable, ("-c", f"{wait}time.sleep(600)"))

    async def go() -> None:
        with pytest.raises(ToolServerFailed, match="did not answer within 2 s"):
            await McpConnection(server, patience=2).open()

    asyncio.run(go())
    check_gone(int((tmp_path / "pid").read_text()))


def test_nobody_listens() -> None:
    assert "'local'" in failure(server_at("http://127.0.0.1:9/mcp")).message


def test_no_mcp_at_that_address(http_server: str) -> None:
    assert failure(server_at(http_server.replace("/mcp", "/nothing"))).message


def test_a_server_that_dies_is_gone_and_its_last_words_are_told() -> None:
    failed = failure(here(), ("dies", {}))
    assert failed.gone
    assert "I am dying" in failed.message
    assert "abc123" not in failed.message


def test_an_interrupted_start_leaves_nothing(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def go() -> None:
        opening = asyncio.create_task(McpConnection(here("--pid", str(pid))).open())
        while not pid.exists():
            await asyncio.wait({opening}, timeout=0.01)
        opening.cancel()
        await asyncio.wait({opening})

    asyncio.run(go())
    check_gone(int(pid.read_text()))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_server_that_ignores_the_end_of_its_input_ends_with_its_kernel(tmp_path: Path) -> None:
    pid, launcher = tmp_path / "pid", SERVER.parents[2] / "jan_magics/providers/launcher.py"
    deaf = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    command = [sys.executable, "-I", "-S", str(launcher), "--talking", sys.executable, "-c", deaf]
    code = (
        "import subprocess, time\n"
        f"subprocess.Popen({command!r}, stdin=subprocess.PIPE, start_new_session=True)\n"
        "time.sleep(600)"
    )
    kernel = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 20
    while not (pid.exists() and pid.read_text()) and time.monotonic() < end:
        time.sleep(0.05)
    kernel.kill()
    kernel.wait()
    check_gone(int(pid.read_text()))


def test_a_call_that_is_given_up_does_not_hold_the_next(tmp_path: Path) -> None:
    async def go() -> float:
        connection = McpConnection(here())
        await connection.open()
        begun = time.monotonic()
        try:
            async with asyncio.timeout(0.3):
                await connection.call("slow", {"seconds": 30})
        except TimeoutError:
            pass
        found = await connection.call("forecast", {"city": "x"})
        assert not found.failed
        elapsed = time.monotonic() - begun
        await connection.close()
        return elapsed

    assert asyncio.run(go()) < 5


def test_nothing_secret_is_in_a_repr() -> None:
    server = McpServer("x", "run", ("--key", "k3y"), {"T": "s3cret"}, headers={"A": "h3ad"})
    shown = repr(McpConnection(server)) + repr(server)
    assert not any(each in shown for each in ("k3y", "s3cret", "h3ad"))


def test_the_sdk_is_loaded_only_when_it_is_used() -> None:
    code = (
        "import sys, jan_magics.engine.session, jan_magics.api.chat\n"
        "sys.exit(any(name in sys.modules for name in ('mcp', 'mcp_types', 'pydantic', 'httpx2')))"
    )
    environment = os.environ | {"PYTHONPATH": str(SERVER.parents[2])}
    assert (
        subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
    )
