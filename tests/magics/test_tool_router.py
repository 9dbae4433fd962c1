"""Many tools in a real kernel: who chooses among them, and what the footer says of it."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import require
from tests.engine.many_tools import CHINESE, ENGLISH
from tests.kernel import Kernel, running_kernel
from tests.magics.test_tools import step
from tests.providers.serving import serving_here

NAMES = [*ENGLISH, *(f"tool_{n}" for n in range(len(CHINESE)))]
DEFINED = "import jan_magics as jan\n" + "\n".join(
    f"@jan.tool(safe=True)\ndef {name}(text: str = '') -> str:\n    {text!r}\n    return text"
    for name, text in zip(NAMES, [*ENGLISH.values(), *CHINESE.values()], strict=True)
)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    with running_kernel(tmp_path, JAN_DATA_FOLDER=str(tmp_path / "data")) as running:
        running.ok(f"%load_ext jan_magics\n{DEFINED}")
        running.ok(f"%chat use --tools {','.join(NAMES)} --window 6000")
        yield running


def offered(body: bytes) -> list[str]:
    return [tool["function"]["name"] for tool in json.loads(body).get("tools", ())]


def test_the_embedder_of_this_machine(kernel: Kernel) -> None:
    require("embedders", find_spec("wordllama"), "static is not installed")
    kernel.ok("%config JanMagics.tool_router = 'embedder'")
    with serving_here(step(text="Yes."), step(text="好")) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m\nDo I need an umbrella today?")
        kernel.ok(f"%%chat -m {server.address}#m\n我饿了，去哪里吃晚饭")
        first, second = map(offered, server.bodies)
    assert "get_weather" in first
    assert len(first) <= 12
    assert not any(name.startswith("tool_") for name in first)  # they are told in Chinese
    assert {*first} < {*second}
    assert f"tool_{list(CHINESE).index('附近餐厅')}" in second
    assert " of 62 tools are offered, by words and vectors of the prompt" in ran.turn["footer"]


def test_the_model(kernel: Kernel) -> None:
    kernel.ok("%config JanMagics.tool_router = 'model'")
    with serving_here(step(text="get_weather\nplot_data"), step(text="Yes.")) as server:
        ran = kernel.ok(f"%%chat -m {server.address}#m\nDo I need an umbrella today?")
        first, second = server.bodies
    assert offered(first) == []
    assert offered(second) == ["get_weather", "plot_data"]
    assert "2 of 62 tools are offered, as " in ran.turn["footer"]
    assert "left out: send_mail" in ran.turn["footer"]
    kernel.ok("messages = jan.current().messages()")
    assert kernel.ok("len(messages)").result == "2"
