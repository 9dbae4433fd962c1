"""MCP servers in a real kernel: added on a line, confirmed by a person, ended with the kernel."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel
from tests.magics.test_tools import step
from tests.mcp.conftest import WriteFile, check_gone, free_port, http_serving
from tests.providers.serving import serving_here

CALL = step(("weather__forecast", {"city": "巴黎"}))


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    environment = {"JAN_DATA_FOLDER": str(tmp_path / "data"), "JAN_TOOL_ROUTER": "off"}
    with running_kernel(tmp_path, **environment) as running:
        running.ok("%load_ext jan_magics")
        yield running


def started(pid: Path) -> int:
    end = time.monotonic() + 20
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < end:
        time.sleep(0.05)
    return int(pid.read_text())


def test_a_file_is_added_confirmed_used_and_taken_away(
    kernel: Kernel, mcp_file: WriteFile, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    mcp_file(weather=["--pid", str(pid)])
    kernel.ok("rows = %chat tools --mcp mcp.json")
    assert kernel.ok("rows.set_index('name').kind['weather']").result == "'mcp'"
    assert "starts with the next turn" in kernel.ok("rows.status.iloc[0]").result
    assert not pid.exists()
    assert "mcp:weather" in kernel.ok("%chat").result
    with serving_here(step(text="fine")) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m\nhow is it?", typed="y")
        assert ran.status == "ok", ran.error
        names = [tool["function"]["name"] for tool in json.loads(server.bodies[0])["tools"]]
    assert "weather__forecast" in names
    with serving_here(CALL, step(text="21 °C.")) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m\nhow is it?", typed="always")
    assert ran.turn["calls"][0]["output"] == "21 °C in 巴黎 🌤"
    kernel.ok("import jan_magics as jan; rows = jan.tools().set_index('name')")
    row = kernel.ok("[*map(str, rows.loc['weather__forecast'])]").result
    assert row == "['mcp', 'auto', '1', 'offered at every turn']"
    kernel.ok("import os; del os.environ['JAN_DATA_FOLDER']")
    kernel.ok("%chat store --init")  # another store, the same servers
    with serving_here(CALL, step(text="21 °C.")) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m\nhow is it?")
    assert ran.turn["calls"][0]["state"] == "ok"
    process = started(pid)
    kernel.ok("%chat tools --remove weather")
    assert "weather" not in kernel.ok("%chat tools").result
    with serving_here(step(text="fine")) as server:
        kernel.ok(f"%%chat -m {server.address}#m\nhow is it?")
        assert "tools" not in json.loads(server.bodies[0])
    assert process > 0
    kernel.manager.shutdown_kernel()
    check_gone(process)


def test_several_files_and_addresses_are_added_at_once(kernel: Kernel, mcp_file: WriteFile) -> None:
    mcp_file("b.json", two=[])
    at = "--mcp http://127.0.0.1:1/mcp?who=s3cretkey --mcp http://127.0.0.1:2/mcp"
    assert kernel.run("%chat tools --mcp b.json --mcp nothing.json").status == "error"
    assert "two" not in kernel.ok("%chat tools").result
    mcp_file("a.json", one=[])
    for _ in range(2):  # the same again changes nothing
        kernel.ok(f"rows = %chat tools --mcp a.json --mcp b.json {at}")
        assert kernel.ok("[*rows.name]").result == "['one', 'two', 'local', 'local_2']"
    told = kernel.ok("[*rows.status]").result
    assert "http://127.0.0.1:1/mcp?… · starts with" in told
    assert "http://127.0.0.1:2/mcp · starts with" in told
    assert "s3cretkey" not in told


def test_headless_nothing_is_started_but_with_yes(
    kernel: Kernel, mcp_file: WriteFile, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    mcp_file(weather=["--pid", str(pid)])
    kernel.ok("%chat tools --mcp mcp.json")
    with serving_here(step(text="fine")) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m\nhow is it?")
        assert "tools" not in json.loads(server.bodies[0])
    assert "weather: not started, nobody can be asked here · allow it: --yes" in ran.turn["footer"]
    assert not pid.exists()
    with serving_here(CALL, step(text="fine")) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m --yes\nhow is it?")
    assert ran.turn["calls"][0]["state"] == "ok"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_the_server_and_a_killed_kernel_takes_it_along(
    kernel: Kernel, mcp_file: WriteFile, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    mcp_file(weather=["--pid", str(pid)])
    kernel.ok("%chat tools --mcp mcp.json")
    with serving_here(CALL, step(text="fine")) as server:  # starting it may take a while
        kernel.ok(f"%%chat -m {server.address}#m --yes\nhow is it?")
    slow = step(("weather__slow", {"seconds": 60}))
    with serving_here(slow, step(text="never")) as server:
        ran = kernel.run(f"%%chat -m {server.address}#m --yes\nhow is it?", interrupt=4)
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    assert ran.interrupted_after is not None
    assert ran.interrupted_after < 1.5
    process = started(pid)
    with serving_here(CALL, step(text="fine")) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m --yes\nhow is it?")
    assert ran.turn["calls"][0]["state"] == "ok"
    assert len(pid.read_text().split()) == 1
    os.kill(kernel.process, signal.SIGKILL)
    check_gone(process)


def test_a_server_that_wants_a_key_gets_the_one_that_was_typed(kernel: Kernel) -> None:
    token = "-".join(("t0ken", "of", "the", "user"))
    with http_serving(free_port(), "--token", token) as address:
        kernel.ok(f"%chat tools --mcp {address}")
        with serving_here(step(text="fine")) as server:
            ran = kernel.ok(f"%%chat -m {server.address}#m\nhow is it?")
        assert "the MCP server 'local' wants a key (401)" in ran.turn["footer"]
        assert "wants a key" in kernel.ok("rows = %chat tools\nrows.status.iloc[-1]").result
        kernel.ok(f"%chat key {address}", typed=token)
        kernel.ok(f"%chat tools --mcp {address}")
        with serving_here(step(text="fine")) as server:
            ran = kernel.ok(f"%%chat -m {server.address}#m\nhow is it?")
            assert "local__forecast" in server.bodies[0].decode()
        assert token not in str(ran) + str(kernel.ok("jan = %chat tools\njan"))


def test_what_cannot_be_added_says_so(kernel: Kernel, tmp_path: Path) -> None:
    ran = kernel.run("%chat tools --mcp nothing.json")
    assert ran.error is not None
    assert "nothing.json" in ran.error[1]
    assert kernel.ok("%chat tools").status == "ok"
    ran = kernel.run("%chat use --tools mcp:weather")
    assert ran.error is not None
    assert "no MCP server 'weather'" in ran.error[1]
