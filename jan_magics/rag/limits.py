"""How much a file may hold before it is refused rather than read."""

from dataclasses import dataclass
from typing import Final

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes: of a file, of all that an archive unfolds to; and how often one may unfold.

    `files` are the most that one folder or pattern may give.
    """

    file_bytes: int = 100 * MEGABYTE
    unpacked_bytes: int = 200 * MEGABYTE
    ratio: int = 200
    files: int = 100_000


USUAL: Final = Limits()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A source that gave no text, and why: the others are read all the same."""

    source: str
    reason: str
