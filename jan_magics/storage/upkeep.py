"""What a doctor asks of a store beside its daily work, and a whole thread on its way elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from jan_magics.domain.messages import Json, Message, Thread
from jan_magics.domain.protocols import ThreadRow


@dataclass(frozen=True, slots=True)
class WholeThread:
    """All that a store knows of one thread; `records` also those of kinds we do not know."""

    thread: Thread
    messages: Sequence[Message]
    records: Sequence[Mapping[str, Json]]
    tombstones: Mapping[str, str | None]


@runtime_checkable
class Upkeep(Protocol):
    """A store that can be checked, mended, copied and emptied of what was deleted."""

    def check(self) -> Sequence[str]:
        """Return what is wrong, a line each; nothing is changed."""
        ...

    def repair(self) -> Sequence[str]:
        """Mend what can be mended without losing anything; return what was done."""
        ...

    def vacuum(self) -> None:
        """Empty the bin for good and give its room back."""
        ...

    def backup(self, path: Path) -> None:
        """Write a copy of everything to a new file. Raises StoreError when it exists."""
        ...

    def binned(self) -> Sequence[ThreadRow]:
        """List the threads in the bin, the last deleted first."""
        ...

    def whole(self, thread_id: str) -> WholeThread:
        """Return all that is known of a thread. Raises ThreadNotFound."""
        ...

    def adopt(self, whole: WholeThread) -> None:
        """Write a whole thread as it is, its times included. Raises StoreError if it exists."""
        ...
