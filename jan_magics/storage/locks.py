"""One writer a thread: between the threads of this process, and between processes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from jan_magics.storage.files import PATIENCE


class Locks:
    """Locks by thread id, each a file in `folder`: beside the threads, so that these can move."""

    def __init__(self, folder: Path, *, patience: float = PATIENCE) -> None:
        self._folder = folder
        self._patience = patience
        self._guard = threading.Lock()
        self._inside: dict[str, threading.Lock] = {}

    @contextmanager
    def hold(self, thread_id: str) -> Iterator[None]:
        """Hold the lock of one thread. Raises TimeoutError when it cannot be had in time."""
        with self._guard:
            inside = self._inside.setdefault(thread_id, threading.Lock())
        if not inside.acquire(timeout=self._patience):
            raise TimeoutError(thread_id)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # The default interval of 50 ms would make two kernels wait for nothing.
            with FileLock(
                self._folder / f"{thread_id}.lock", timeout=self._patience, poll_interval=0.002
            ):
                yield
        finally:
            inside.release()
