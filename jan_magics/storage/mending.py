"""Repairs of one thread of the JSONL layout, whose lock is held. Nothing is thrown away."""

from collections.abc import Collection
from itertools import count
from pathlib import Path

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.storage.codec import decode_message
from jan_magics.storage.folder import Folder
from jan_magics.storage.guessing import guessed_thread
from jan_magics.storage.log import read_log
from jan_magics.storage.lost import lost_log
from jan_magics.storage.writing import fold


def mend(folder: Folder, taken: Collection[str]) -> list[str]:
    """Bring a lost log back, put damaged lines out of sight, rebuild a damaged record.

    `taken` are the notebooks that have a thread of their own. Returns what was done.
    """
    done: list[str] = []
    lost = lost_log(folder.path)
    if lost is not None:
        done.append(_restore(folder, lost))
    # Ordinary, as at every opening: what waited in the journal goes into the log.
    fold(folder)
    if folder.quarantine_path.exists():
        target = _free(folder.path, "messages.damaged", ".jsonl")
        folder.quarantine_path.rename(target)
        kept = f"; an older log is {folder.backup_path}" if folder.backup_path.exists() else ""
        done.append(f"its damaged lines are in {target}{kept}")
    try:
        folder.thread()
    except (ThreadNotFound, StoreError):
        done.append(_rebuild(folder, taken))
    return done


def _restore(folder: Folder, lost: Path) -> str:
    """Write the messages of a log's copy that are lost; those written since stay as they are."""
    log, gone = folder.log(), folder.journal().gone
    found = read_log(lost.read_bytes()).entries
    entries = {key: entry for key, entry in found.items() if key not in gone}
    folder.set_aside(log)
    folder.write_log([*{**entries, **log.entries}.values()])
    lost.replace(folder.backup_path)
    back = counted(len(entries.keys() - log.entries.keys()), "message")
    return f"{back} brought back from {folder.backup_path.name}"


def _rebuild(folder: Folder, taken: Collection[str]) -> str:
    said = "its thread.json was made anew"
    text = folder.left()
    if folder.exists():
        kept = _free(folder.path, "thread.damaged", ".json")
        kept.write_bytes(folder.thread_path.read_bytes())
        said += f"; the damaged one is {kept.name}"
    messages = [decode_message(value) for _, value in folder.log().entries.values()]
    thread = guessed_thread(
        folder.path.name,
        text,
        messages,
        folder.journal().kept,
        changed=folder.changed_at(),
        taken=taken,
    )
    folder.write_thread(thread)
    return said


def _free(folder: Path, stem: str, suffix: str) -> Path:
    names = (folder / f"{stem}{f'~{n}' if n else ''}{suffix}" for n in count())
    return next(path for path in names if not path.exists())
