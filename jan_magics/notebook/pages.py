"""The active path of a thread as a page to read: Markdown, or a notebook that can be run again."""

import json
import re
from collections.abc import Container, Iterable
from typing import Any, Final, TypeAlias

from jan_magics.domain.legacy import read_parts, says_nothing, words_of
from jan_magics.domain.messages import (
    FilePart,
    Message,
    ReasoningPart,
    Thread,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.overlays import Summary
from jan_magics.engine.naming import shown_title
from jan_magics.engine.records import KEY, finish_of, model_of, timings_of, usage_of
from jan_magics.notebook.called import calls_of
from jan_magics.notebook.footer import Footer
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.render import Shown, bundle, plain
from jan_magics.notebook.wording import worded

Cell: TypeAlias = dict[str, Any]
_CELL_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK: Final = re.compile(r"<!-- jan_magics thread (\S+) -->")


def markdown_page(
    thread: Thread, path: Iterable[Message], hidden: Container[str] = frozenset()
) -> str:
    """Write a path as Markdown; a fence that a message leaves open ends with it."""
    blocks = [f"<!-- jan_magics thread {thread.id} -->", f"# {neutralise(shown_title(thread))}"]
    for message in path:
        if not says_nothing(message):
            name = speaker(message, hidden=message.id in hidden)
            blocks += [f"## {neutralise(name)}", *_notes(message)]
            blocks.append(neutralise(words_of(message)).rstrip("\n"))
    return "\n\n".join(filter(None, blocks)) + "\n"


def notebook_page(
    thread: Thread, path: Iterable[Message], hidden: Container[str] = frozenset()
) -> str:
    """Write a path as a notebook: questions are chat cells, with their answers as outputs."""
    cells = [_code("load", "%load_ext jan_magics")]
    question: Message | None = None
    for message in path:
        if message.role == "user":
            question = message
            cells.append(_question(message))
        elif message.role == "assistant" and question is not None:
            _answer(cells[-1], thread, question, message)
            question = None
        else:
            cells.append(_apart(message))
        if message.id in hidden:
            cells[-1]["metadata"][KEY].setdefault("hidden", []).append(message.id)
    known = {"thread": thread.id, "title": thread.title}
    metadata = {
        KEY: known,
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    # Half an emoji is no text for a file, so what is not ASCII is escaped where it must be.
    text = json.dumps(book, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def page_owner(text: str, suffix: str) -> str | None:
    """Return the id of the thread that a page was made of, None when we did not make it."""
    if suffix != ".ipynb":
        found = _MARK.match(text)
        return found[1] if found else None
    try:
        known = json.loads(text)["metadata"][KEY]["thread"]
    except (ValueError, KeyError, TypeError):
        return None
    return known if isinstance(known, str) else None


def speaker(
    message: Message, *, hidden: bool = False, live: bool = False, language: str = ""
) -> str:
    """Return who speaks, and what is to be known of how."""
    name = {"user": "You", "system": "System"}.get(message.role) or model_of(message) or "Assistant"
    finish = finish_of(message)
    cut = finish if finish in ("stopped", "interrupted", "length", "max_steps", "error") else ""
    how = "being answered" if live else cut
    said = (name, how, "hidden" if hidden else "")
    return ", ".join(worded(each, language) for each in said if each)


def summary_words(summary: Summary | None) -> str:
    """Return a summary as it is read: the model's words, then what was copied beside them."""
    if summary is None:
        return ""
    kinds = summary.ledger.items()
    lines = [f"- *{kind}*: {'; '.join(entries)}" for kind, entries in kinds if entries]
    return "\n\n".join(filter(None, (summary.text.strip(), "\n".join(lines))))


def _notes(message: Message) -> list[str]:
    """Name what a page cannot show: files, tool calls and their results."""
    notes = []
    for part in message.parts:
        match part:
            case FilePart():
                notes.append(f"file: {part.name or part.media_type}")
            case ToolCallPart():
                notes.append(f"called {part.name}")
            case ToolResultPart():
                notes.append(f"{part.name}: {part.state}")
            case _:
                pass
    return [f"*{neutralise(plain(' '.join(note.split())))}*" for note in notes]


def _code(name: str, source: str) -> Cell:
    return {
        "cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [],
        "source": source,
    }  # fmt: skip


def _question(message: Message) -> Cell:
    text = words_of(message)
    cell = _code(_cell_id(message), f"%%chat{' --literal' if '{{' in text else ''}\n{text}")
    cell["metadata"] = {KEY: {"question": message.id, "asked_at": _time(message)}}
    return cell


def _answer(cell: Cell, thread: Thread, question: Message, answer: Message) -> None:
    """Put an answer into the cell of its question, as a front end would have shown it."""
    known = read_parts(answer)
    calls = calls_of(known)
    model, usage, timings = model_of(answer) or "", usage_of(answer), timings_of(answer)
    shown = Shown(
        prompt=words_of(question),
        text=words_of(answer),
        reasoning="\n\n".join(part.text for part in known if isinstance(part, ReasoningPart)),
        model=model,
        thread=shown_title(thread),
        message=answer.id,
        finish=finish_of(answer),
        usage=usage,
        timings=timings,
        calls=calls,
        footer=Footer(
            model=model,
            usage=usage,
            timings=timings,
            thread=shown_title(thread),
            calls=len(calls),
        ),
    )
    data = bundle(shown, stable=False)
    cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    cell["metadata"][KEY] |= {"answer": answer.id, "answered_at": _time(answer)}


def _apart(message: Message) -> Cell:
    known = {"message": message.id, "role": message.role, "at": _time(message)}
    return {
        "cell_type": "markdown", "id": _cell_id(message), "metadata": {KEY: known},
        "source": neutralise(words_of(message)),
    }  # fmt: skip


def _cell_id(message: Message) -> str:
    return message.id if _CELL_ID.fullmatch(message.id) else message.id.encode().hex()[:64] or "x"


def _time(message: Message) -> str:
    return message.created_at.isoformat()
