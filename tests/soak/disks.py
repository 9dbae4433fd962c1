"""Real disks for tests: small ones that fill up, and some that take nothing. They need root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import require


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount an empty disk of so many bytes at a new folder."""
    folder.mkdir()
    done = _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    require("mount", done == 0, "no disk can be mounted: this takes root on Linux")
    try:
        yield folder
    finally:
        _run("umount", "--lazy", str(folder))


def close(folder: Path) -> None:
    """Let a mounted disk be read only from now on."""
    assert _run("mount", "-o", "remount,ro", str(folder)) == 0


def fill(folder: Path, left: int) -> Path:
    """Lay a file on the disk so that at most this many bytes are left; returns the file."""
    ballast = folder / "ballast"
    found = os.statvfs(folder)
    with ballast.open("wb") as file:
        file.write(bytes(max(0, found.f_bavail * found.f_frsize - left)))
    return ballast


def _run(*command: str) -> int:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode
    except FileNotFoundError:
        return -1
