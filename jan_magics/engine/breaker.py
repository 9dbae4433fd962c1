"""What keeps a thread from being compacted again and again for nothing."""

from dataclasses import dataclass
from typing import Final

FAILURES: Final = 3
"""Failures after which no compaction begins by itself in a thread."""


@dataclass(slots=True)
class Breaker:
    """What keeps a thread from being compacted again and again for nothing.

    `failures` are those in a row. After a summary that freed too little none is asked for before
    `enough` tokens can be compacted; `told`: that was explained.
    """

    failures: int = 0
    enough: int = 0
    told: bool = False

    @property
    def closed(self) -> bool:
        """Tell whether another compaction may begin by itself."""
        return self.failures < FAILURES

    def reset(self) -> None:
        """Begin anew, after a compaction that went well."""
        self.failures, self.enough, self.told = 0, 0, False
