"""A program for the storage tests: `python writer.py STORE PATH TASK NAME COUNT [SEED]`.

It prints each id after the call that wrote it has returned, so that a test can kill it.
"""

import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.protocols import Store
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.sqlite import SqliteStore

START = datetime(2026, 3, 1, tzinfo=UTC)


def ticking() -> Callable[[], datetime]:
    ticks = count()
    return lambda: START + timedelta(milliseconds=next(ticks))


def open_store(kind: str, path: str | Path) -> Store:
    if kind == "sqlite":
        return SqliteStore(Path(path) / "jan.sqlite", ticking())
    return JsonlStore(Path(path) / "threads", ticking())


def make(message_id: str, text: str) -> Message:
    return Message(message_id, "t", "user", (TextPart(text),), START, None)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def append(store: Store, name: str, number: int) -> None:
    """Write without end, or `number` messages; one in ten is then saved once more."""
    for index in range(number):
        message = make(f"{name}-{index}", "x" * 300)
        store.create(message)
        say(message.id)
        if index % 10 == 9:
            store.save(make(f"{name}-{index}", "again"))
            say(f"saved {message.id}")


def mix(store: Store, name: str, number: int, seed: int) -> None:
    """Do `number` operations on one thread; in the end print what must be there."""
    choice = random.Random(seed)  # noqa: S311 (a test's dice)
    mine: dict[str, str] = {}
    for index in range(number):
        kind = choice.choice(["create", "create", "save", "save new", "delete", "read", "list"])
        known = choice.choice(sorted(mine)) if mine else ""
        if kind in {"create", "save new"} or not known:
            message_id, text = f"{name}-{index}", str(index)
            (store.create if kind == "create" else store.save)(make(message_id, text))
            mine[message_id] = text
        elif kind == "save":
            mine[known] = f"saved {index}"
            store.save(make(known, mine[known]))
        elif kind == "delete":
            store.delete("t", known)
            store.save(make(known, "late"))
            del mine[known]
        else:
            store.messages("t") if kind == "read" else store.threads()
    for message_id, text in mine.items():
        say(f"{message_id} {text}")


if __name__ == "__main__":
    opened = open_store(sys.argv[1], sys.argv[2])
    if sys.argv[3] == "append":
        append(opened, sys.argv[4], int(sys.argv[5]))
    else:
        mix(opened, sys.argv[4], int(sys.argv[5]), int(sys.argv[6]))
