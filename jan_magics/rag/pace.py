"""How much is done at once: little at first, so that somebody sees how far it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SMALLEST: Final = 16
LARGEST_SLICE: Final = 256
"""Texts that are embedded between two calls of `progress` at most."""
LARGEST_BATCH: Final = 2048
"""Chunks that are written together at most, more or less."""


class Pace:
    """How much is done at once: about as much as takes so many seconds; little at first."""

    def __init__(self, seconds: float, first: int, most: int) -> None:
        self.size = first
        self._seconds = seconds
        self._most = most

    @contextmanager
    def measured(self, done: int) -> Iterator[None]:
        """Learn from how long so much takes."""
        begun = time.monotonic()
        yield
        seconds = max(time.monotonic() - begun, 1e-6)
        fitting = int(self._seconds * done / seconds)
        self.size = max(SMALLEST, min(self._most, fitting, 4 * self.size))
