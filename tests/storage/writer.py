"""A program for the storage tests: `python writer.py STORE PATH TASK ...`, and what it writes.

It says what it did after each call that wrote has returned, so that a test can kill it.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import TypeAlias

from jan_magics.domain.messages import Message, Role, TextPart, Thread
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes
from jan_magics.storage.jsonl import JsonlStore
from jan_magics.storage.postgres import PostgresStore
from jan_magics.storage.sqlite import SqliteStore
from tests.storage.servers import schema_at

START = datetime(2026, 3, 1, tzinfo=UTC)
State: TypeAlias = dict[str, str]
"""The texts of messages by id."""
Step: TypeAlias = tuple[Callable[[Store], object], State]
"""A call, and the state when it has returned."""


def ticking() -> Callable[[], datetime]:
    ticks = count()
    return lambda: START + timedelta(milliseconds=next(ticks))


def open_store(kind: str, path: str | Path) -> Store:
    if kind == "sqlite":
        return SqliteStore(Path(path) / "jan.sqlite", ticking())
    if kind == "postgres":
        return PostgresStore(schema_at(path), ticking())
    return JsonlStore(Path(path) / "threads", ticking())


def make(message_id: str, text: str, thread: str = "t", role: Role = "user") -> Message:
    return Message(message_id, thread, role, (TextPart(text),), START, None)


def say(line: str) -> None:
    # One call of the system a line: it is told whole or not at all.
    os.write(1, f"{line}\n".encode())


def mix(store: Store, name: str, number: int, seed: int) -> None:
    """Do `number` operations on one thread; in the end print what must be there."""
    choice = random.Random(seed)  # noqa: S311 (a test's dice)
    mine: State = {}
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


def turns(thread: str, name: str) -> Iterator[Step]:
    """Talk without end, always in the same words: questions, growing answers, edits, deletions."""
    dice, state = random.Random(name), State()  # noqa: S311 (a test's dice)
    for number in count():
        question = make(f"{name}-q{number}", "why? " * dice.randrange(1, 200), thread)
        answer = replace(make(f"{name}-a{number}", "", thread, "assistant"), parent_id=question.id)
        link = CellLink("n.ipynb", name, number, question.id)
        state = state | {question.id: text(question)}
        yield applying(Changes((question,)), link), state
        for size in sorted(dice.sample(range(1, 900), dice.randrange(4))):
            grown = replace(answer, parts=(TextPart("word " * size),))
            state = state | {answer.id: text(grown)}
            yield saving(grown), state
        done = replace(answer, parts=(TextPart(f"that is all, number {number}"),))
        state = state | {answer.id: text(done)}
        yield applying(Changes((replace(question, active_child_id=answer.id), done))), state
        if number % 3 == 2:
            gone = f"{name}-a{number - 1}"
            state = {key: value for key, value in state.items() if key != gone}
            yield burying(thread, gone), state


def text(message: Message) -> str:
    [part] = message.parts
    return part.text if isinstance(part, TextPart) else ""


def applying(changes: Changes, *links: CellLink) -> Callable[[Store], object]:
    return lambda store: store.apply(changes.save[0].thread_id, changes, links)


def burying(thread: str, message_id: str) -> Callable[[Store], object]:
    return lambda store: store.apply(thread, Changes(deleted=(message_id,)))


def saving(message: Message) -> Callable[[Store], object]:
    return lambda store: store.save(message)


def states(thread: str, name: str, number: int) -> Iterator[State]:
    """Return the states before the first step and after each of the first `number` ones."""
    yield {}
    yield from (state for _, state in islice(turns(thread, name), number))


def talk(store: Store, thread: str, name: str) -> None:
    for number, (call, _) in enumerate(turns(thread, name), 1):
        call(store)
        say(str(number))


def claim(store: Store, name: str, number: int) -> None:
    """Claim titles as soon as a line says so, and tell which thread has each."""
    store.threads()
    say("ready")
    sys.stdin.readline()
    for index in range(number):
        thread = Thread(f"{name}-{index}", f"title {index}", START, START)
        say(store.claim_thread(thread).id)


def nursery(kind: str, path: str) -> None:
    """For each line `THREAD NAME` start a writer, and say its number; when it is dead, `over`."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            talk(open_store(kind, path), *line.split())
        say(f"pid {child}")
        os.waitpid(child, 0)
        say("over")


if __name__ == "__main__":
    kind, path, task, *rest = sys.argv[1:]
    match task:
        case "mix":
            mix(open_store(kind, path), rest[0], int(rest[1]), int(rest[2]))
        case "talk":
            talk(open_store(kind, path), *rest)
        case "claim":
            claim(open_store(kind, path), rest[0], int(rest[1]))
        case "nursery":
            nursery(kind, path)
