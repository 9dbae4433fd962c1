"""A notebook's chat cells and their outputs as a thread: one that was exported, or any other."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Json, Message, Part, ReasoningPart, Role, TextPart, Thread
from jan_magics.engine.records import KEY
from jan_magics.notebook.render import MIME

_CHAT: Final = re.compile(r"\s*%%(?:chat|jan)\b([^\n]*)\n?(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said:
    """What a cell says; ids and times are None where the notebook does not tell them."""

    role: Role
    text: str
    id: str | None = None
    at: str | None = None
    reasoning: str = ""
    known: Mapping[str, Json] = field(default_factory=dict)


def read_notebook(text: str | bytes, name: str, now: datetime) -> tuple[Thread, list[Message]]:
    """Read a notebook as a thread of one path.

    Raises:
        StoreError: when it is no notebook, or nothing was asked in it.
    """
    try:
        book = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{name} is not JSON: {error}", "Name a notebook that opens") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise StoreError(f"{name} is no notebook", "Name a notebook of version 4 or later")
    said = [each for cell in cells if isinstance(cell, dict) for each in _said(cell)]
    if not said:
        raise StoreError(f"{name} has no chat cell", "Name a notebook with %%chat cells")
    known = _own(book)
    title = known.get("title")
    named = known.get("thread")
    identity = named if isinstance(named, str) and named else _digest(name, said[0].text)
    times = [_moment(each.at, now) for each in said]
    thread = Thread(
        identity, title if isinstance(title, str) else name.removesuffix(".ipynb"),
        min(times), max(times),
    )  # fmt: skip
    return thread, _path(thread.id, said, now)


def hidden_in(text: str | bytes) -> tuple[str, ...]:
    """Return the ids of the messages that an exported notebook says are hidden."""
    cells = json.loads(text)["cells"]
    named = (_own(cell).get("hidden") for cell in cells if isinstance(cell, dict))
    lists = (each for each in named if isinstance(each, list))
    return tuple(each for found in lists for each in found if isinstance(each, str))


def _path(thread_id: str, said: list[Said], now: datetime) -> list[Message]:
    made: list[Message] = []
    seen: set[str] = set()
    parent: str | None = None
    for number, each in enumerate(said):
        identity = each.id or _digest(thread_id, parent or "", each.role, each.text)
        if identity in seen:
            continue
        seen.add(identity)
        parts: tuple[Part, ...] = (ReasoningPart(each.reasoning),) if each.reasoning else ()
        at = _moment(each.at, now) + timedelta(milliseconds=0 if each.at else number)
        made.append(
            Message(
                identity, thread_id, each.role, (*parts, TextPart(each.text)), at, parent,
                metadata={KEY: dict(each.known)} if each.known else {},
            )
        )  # fmt: skip
        parent = identity
    return made


def _said(cell: dict[str, Any]) -> Iterator[Said]:
    own, source = _own(cell), _joined(cell.get("source"))
    if cell.get("cell_type") == "markdown":
        role = own.get("role")
        if "message" in own and role in ("system", "assistant"):
            yield Said(role, source, _text(own, "message"), _text(own, "at"))
        return
    chat = _CHAT.fullmatch(source)
    turn, words = _output(cell)
    if turn is None and chat is None:
        return
    prompt = _text(turn or {}, "prompt")
    if prompt is None:
        prompt = chat[2].rstrip("\n") if chat else ""
        if chat and "--literal" not in chat[1].split():
            prompt = prompt.replace(r"\{{", "{{")
    if prompt.strip():
        yield Said("user", prompt, _text(own, "question"), _text(own, "asked_at"))
    answer = _text(turn or {}, "text") or words
    if answer:
        yield _answer(own, turn or {}, answer)


def _answer(own: Mapping[str, Any], turn: Mapping[str, Any], words: str) -> Said:
    identity = _text(own, "answer") or _text(turn, "message")
    known = {name: value for name in ("model", "finish") if (value := _text(turn, name))}
    reasoning = _text(turn, "reasoning") or ""
    return Said("assistant", words, identity, _text(own, "answered_at"), reasoning, {**known})


def _output(cell: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the last turn that a cell shows, and the words of its last output."""
    turn, words = None, ""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        if not isinstance(data, dict):
            continue
        found = data.get(MIME)
        turn = found if isinstance(found, dict) else turn
        words = _joined(data.get("text/markdown") or data.get("text/plain")) or words
    return turn, words


def _own(value: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = value.get("metadata")
    found = metadata.get(KEY) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _moment(text: str | None, now: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(text) if text else now
    except ValueError:
        return now
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _digest(*texts: str) -> str:
    content = json.dumps(texts).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()
