"""Files that survive: durable appends, whole-file replacement, errors of the system as ours."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from jan_magics.domain.errors import StoreError, StoreLocked

PATIENCE: Final = 10.0
"""Seconds to wait for another process before giving up."""

WRITABLE: Final = "Name a data folder that you may write to"
ELSEWHERE: Final = "Name another place, where you may write"
"""What to do about a file that the user has named."""

Print: TypeAlias = tuple[int, int, int]
"""The fingerprint of a file: inode, size in bytes, time of change in nanoseconds."""


def print_of(path: Path) -> Print | None:
    """Return the fingerprint of a file, None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def append(path: Path, data: bytes) -> Print:
    """Append bytes and return when they are on the disk: all of them, or none."""
    new = not path.exists()
    with path.open("ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise
        found = os.fstat(file.fileno())
    if new:
        sync_folder(path.parent)
    return found.st_ino, found.st_size, found.st_mtime_ns


def replace_file(
    path: Path, data: bytes, *, still: Callable[[], bool] = lambda: True, durable: bool = True
) -> Print | None:
    """Put a new file in the place of the old one; a crash leaves one of the two, whole.

    `still` is asked last; when it says no, the old file stays and None is returned. Not
    `durable`: when power fails soon after, the old one may be what is left.
    """
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        found = os.fstat(file.fileno())
    if not still():
        new.unlink()
        return None
    _patiently(lambda: new.replace(path))
    if durable:
        sync_folder(path.parent)
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_at(path: Path, start: int, length: int) -> bytes:
    """Read a part of a file."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        return file.read(length)


def move_folder(folder: Path, target: Path) -> None:
    """Rename a folder; the folders around the target are made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _patiently(lambda: folder.rename(target))
    sync_folder(target.parent)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _patiently(rename: Callable[[], object]) -> None:
    # Windows refuses while another program has the file open, be it a virus scanner.
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            rename()
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


@contextmanager
def translated(path: Path, step: str = WRITABLE) -> Iterator[None]:
    """Turn errors of the file system into ours, with the next step where nothing can be written."""
    try:
        yield
    except TimeoutError as error:
        raise StoreLocked(
            f"{path} has been locked by another process for {PATIENCE:g} seconds",
            "Close the other kernel or program that uses it, or try again",
        ) from error
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StoreError(
                f"the disk of {path} is full", "Make room and send the message again"
            ) from error
        # Making the folders above says so where one of them is a file.
        inside_file = isinstance(error, FileExistsError | NotADirectoryError)
        why = "a file is where its folder should be" if inside_file else error.strerror or error
        raise StoreError(f"{path} cannot be read or written: {why}", step) from error
