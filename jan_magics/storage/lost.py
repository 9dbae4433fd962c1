"""The copy of a message log, for the day when the log itself is gone from the thread's folder."""

from pathlib import Path
from typing import Final

LOG: Final = "messages.jsonl"
BACKUP: Final = "messages.backup.jsonl"
_LOST: Final = "messages.lost.jsonl"


def lost_log(folder: Path) -> Path | None:
    """Return the copy of a log that is gone, None where nothing is lost."""
    lost, copy = folder / _LOST, folder / BACKUP
    if lost.exists():
        return lost
    return copy if copy.exists() and not (folder / LOG).exists() else None


def keep_lost_log(folder: Path) -> None:
    """Keep the copy of a log that is gone; call it before another log is begun."""
    if lost_log(folder) == folder / BACKUP:
        (folder / BACKUP).rename(folder / _LOST)
