"""MCP servers in a cassette: what they offer and what they said is replayed; none is started."""

from pathlib import Path

from tests.kernel import running_kernel
from tests.magics.test_tools import step
from tests.mcp.conftest import WriteFile
from tests.providers.serving import serving_here

CALL = step(("weather__forecast", {"city": "巴黎"}))
FILE = "lesson.jan.jsonl"


def test_tools_of_a_server_are_replayed_and_it_is_not_started(
    mcp_file: WriteFile, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    mcp_file(weather=["--pid", str(pid)])
    told = {"JAN_DATA_FOLDER": str(tmp_path / "data"), "JAN_TOOL_ROUTER": "off"}
    with (
        serving_here(CALL, step(text="21 °C.")) as server,
        running_kernel(tmp_path, **told) as kernel,
    ):
        cell = f"%%chat -m {server.address}#m --yes\nhow is it?"
        kernel.ok(f"%load_ext jan_magics\n%chat record {FILE}")
        kernel.ok("%chat tools --mcp mcp.json")
        recorded = kernel.ok(cell).turn["calls"]
    assert recorded[0]["output"] == "21 °C in 巴黎 🌤"
    assert pid.exists()
    pid.unlink()
    with running_kernel(tmp_path, **told, JAN_REPLAY=FILE) as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel.ok("%chat tools --mcp mcp.json")
        ran = kernel.ok(cell.replace(" --yes", ""))  # nobody is asked about what is not run
    assert ran.turn["calls"] == recorded
    assert ran.turn["text"] == "21 °C."
    assert not pid.exists()
