"""What Python gives as DataFrames: threads, messages, turns, models, settings, checks."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jan_magics.context.segments import Seen, look
from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.models import ModelInfo
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.protocols import ThreadRow
from jan_magics.engine.assistants import AssistantRow
from jan_magics.engine.checks import Check
from jan_magics.engine.listing import Listed
from jan_magics.engine.naming import own, shown_title
from jan_magics.engine.records import (
    cost_of,
    finish_of,
    model_of,
    sources_of,
    timings_of,
    usage_of,
)
from jan_magics.engine.settings import Value
from jan_magics.engine.views import View
from jan_magics.frames import frame
from jan_magics.storage.search import Found
from jan_magics.storage.transfer import Taken

if TYPE_CHECKING:
    import pandas as pd


def threads_table(rows: Iterable[ThreadRow]) -> "pd.DataFrame":
    """Return threads, the newest first."""
    return frame("threads", (_thread(row) for row in rows))


def found_table(hits: Iterable[Found]) -> "pd.DataFrame":
    """Return messages that were found, the best first."""
    return frame(
        "found",
        (
            {
                "thread": hit.thread.id,
                "notebook": own(hit.thread).get("notebook"),
                "id": hit.message_id,
                "role": hit.role,
                "created_at": hit.created_at,
                "snippet": hit.snippet,
                "on_path": hit.on_path,
            }
            for hit in hits
        ),
    )


def imported_table(rows: Iterable[Taken]) -> "pd.DataFrame":
    """Return what became of threads that were taken in."""
    return frame("imported", (asdict(row) for row in rows))


def messages_table(
    view: View, count: Callable[[Message], int], *, everything: bool
) -> "pd.DataFrame":
    """Return the messages of the active path, or of every branch in the order of writing.

    The status is that on the active path; `count` gives the tokens of a message; the cell is the
    one that asked a question.
    """
    path = view.path()
    seen, on_path = look(path, view.records), {message.id for message in path}
    shown = view.index.messages if everything else path
    links = (each for each in view.records if isinstance(each, CellLink))
    cells = {link.message: link.cell for link in links}
    rows = (
        {**_message(view, each, on_path, seen, count), "cell": cells.get(each.id)} for each in shown
    )
    return frame("messages", rows)


def turns_table(view: View) -> "pd.DataFrame":
    """Return the turns of the active path: each answer with the question before it.

    How an answer ends that is being given just now is not known.
    """
    return frame("turns", _turns(view.path(), view.live))


def models_table(rows: Iterable[Listed]) -> "pd.DataFrame":
    """Return what can answer here, and why."""
    return frame("models", (_model(row) for row in rows))


def assistants_table(rows: Iterable[AssistantRow], marks: Mapping[str, str]) -> "pd.DataFrame":
    """Return assistants with their parameters as JSON; `marks` by id go before the status."""
    return frame("assistants", (_assistant(row, marks) for row in rows))


def config_table(values: Iterable[Value], keys: Mapping[str, Sequence[str]]) -> "pd.DataFrame":
    """Return every setting with its value and source, then the source of every key."""
    rows = [
        {
            "setting": value.setting.name,
            "value": value.value,
            "source": value.source,
            "meaning": value.setting.meaning,
        }
        for value in values
    ]
    for provider, sources in keys.items():
        meaning = f"the key of {provider}; its text is never shown"
        rows.append(
            {"setting": f"key {provider}", "source": ", ".join(sources), "meaning": meaning}
        )
    return frame("config", rows)


def doctor_table(checks: Iterable[Check]) -> "pd.DataFrame":
    """Return what was checked."""
    return frame(
        "doctor",
        (
            {"check": each.name, "status": each.status, "detail": each.detail, "fix": each.fix}
            for each in checks
        ),
    )


def _thread(row: ThreadRow) -> Mapping[str, Any]:
    known = own(row.thread)
    return {
        "thread": row.thread.id,
        "title": shown_title(row.thread) + (" (damaged)" if row.damaged else ""),
        "notebook": known.get("notebook"),
        "messages": row.messages,
        "branches": row.branches,
        "model": known.get("model"),
        "updated_at": row.thread.updated_at,
    }


def _assistant(row: AssistantRow, marks: Mapping[str, str]) -> Mapping[str, Any]:
    assistant = row.assistant
    status = f"damaged: {row.fault}" if row.fault else "saved" if row.path else "built in"
    return {
        "id": assistant.id,
        "name": assistant.name,
        "instructions": assistant.instructions,
        "parameters": json.dumps(dict(assistant.parameters), ensure_ascii=False),
        "status": marks.get(assistant.id, status),
    }


def _message(
    view: View,
    message: Message,
    on_path: AbstractSet[str],
    seen: Seen,
    count: Callable[[Message], int],
) -> Mapping[str, Any]:
    index = view.index
    version, versions = index.version(message.id)
    status = "truncated" if message.id in view.hidden else seen.status(message.id)
    return {
        "id": message.id,
        "role": message.role,
        "text": text_of(message),
        "version": version,
        "versions": versions,
        "on_path": message.id in on_path,
        "status": status,
        "tokens": count(message),
        "parent": index.parent(message.id),
        "created_at": message.created_at,
    }


def _turns(path: Sequence[Message], live: AbstractSet[str]) -> Iterator[Mapping[str, Any]]:
    question: Message | None = None
    number = 0
    for message in path:
        if message.role == "user":
            question = message
        elif message.role == "assistant":
            number += 1
            usage, timings = usage_of(message), timings_of(message)
            yield {
                "turn": number,
                "model": model_of(message),
                "prompt": text_of(question) if question else None,
                "answer": text_of(message),
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cached_tokens": usage.cached,
                "first_token_s": timings.first_token,
                "seconds": timings.total,
                "tokens_per_s": timings.tokens_per_second,
                "finish": None if message.id in live else finish_of(message),
                "sources": len(sources_of(message)),
                "cost": cost_of(message),
                "created_at": message.created_at,
            }


def _model(row: Listed) -> Mapping[str, Any]:
    info = row.info
    known = _abilities(info) if info else ()
    return {
        "model": row.model,
        "provider": row.provider,
        "window": info.window if info else None,
        "capabilities": ", ".join(known) or None,
        "source": row.source,
        "reachable": row.reachable,
        "chosen": row.chosen,
        "why": row.why,
    }


def _abilities(info: ModelInfo) -> Iterator[str]:
    """Yield what a model has, then what it lacks, each with how that is known."""
    for word, told in (("", info.capabilities), ("no ", info.lacks)):
        yield from (f"{word}{name} ({source})" for name, source in sorted(told.items()))
