"""Files that name the server of these tests, and one that runs on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("server.py")

WriteFile = Callable[..., Path]


@pytest.fixture
def mcp_file(tmp_path: Path) -> WriteFile:
    """Write a file as other programs do: servers by name, each with more arguments."""

    def write(name: str = "mcp.json", **servers: Any) -> Path:
        table = {
            key: {"command": sys.executable, "args": [str(SERVER), "--name", key, *each]}
            if isinstance(each, list)
            else each
            for key, each in servers.items()
        }
        path = tmp_path / name
        path.write_text(json.dumps({"mcpServers": table}, ensure_ascii=False), encoding="utf-8")
        return path

    return write


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child that nobody has waited for yet is dead all the same.
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def check_gone(pid: int, seconds: float = 8.0) -> None:
    """Wait until a process has ended; end it and fail where it does not."""
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    left = alive(pid)
    if left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "the server outlives its kernel"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@contextmanager
def http_serving(port: int, *more: str) -> Iterator[str]:
    """Serve over streamable HTTP; gives the address."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--http", str(port), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with socket.socket() as look:
                if look.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="package")
def http_server() -> Iterator[str]:
    """The address of the server over streamable HTTP."""
    with http_serving(free_port()) as address:
        yield address
