"""Which turns are being made just now, by any kernel that shares the data folder.

A turn is a file that its kernel keeps locked while it lasts. The system lets go of the lock when
the kernel dies, however that happens: then the turn was cut off, and its file is taken away.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

PATIENCE: Final = 0.5
"""Seconds to wait for a lock that somebody only looks at."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn that is being made; the ids are those of its thread and its messages."""

    thread: str
    question: str
    answer: str


@dataclass(slots=True)
class Held:
    """The file of a turn of this kernel, and its lock."""

    path: Path
    lock: FileLock

    def end(self) -> None:
        """Say that the turn is over."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.lock.release()
        with suppress(OSError):  # somebody looks at it just now; who comes next takes it away
            Path(self.lock.lock_file).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class LiveTurns:
    """The turns that are being made in the threads of a data folder; the folder may be missing."""

    folder: Path

    def begin(self, turn: LiveTurn) -> Held | None:
        """Say that a turn is being made; None where the folder cannot tell others."""
        name = hashlib.sha256(turn.answer.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        path = self.folder / f"{name}.json"
        lock = _lock_of(path)
        with suppress(OSError, Timeout):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=PATIENCE, poll_interval=0.01)
            path.write_text(json.dumps([turn.thread, turn.question, turn.answer]), "utf-8")
            return Held(path, lock)
        lock.release()
        return None

    def of(self, thread: str) -> Iterator[LiveTurn]:
        """Yield the turns of a thread that go on."""
        for path in self.folder.glob("*.json"):
            turn = _read(path)
            if turn is not None and turn.thread == thread and _is_held(path):
                yield turn


def _lock_of(path: Path) -> FileLock:
    return FileLock(path.with_suffix(".lock"), thread_local=False)


def _read(path: Path) -> LiveTurn | None:
    with suppress(OSError, ValueError, TypeError):
        found = json.loads(path.read_text("utf-8"))
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return LiveTurn(*found)
    return None


def _is_held(path: Path) -> bool:
    """Tell whether the kernel of a turn lives; the file of one that does not is taken away."""
    lock = _lock_of(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    Held(path, lock).end()
    return False
