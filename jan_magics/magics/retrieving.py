"""The verbs of `%rag` that look at chunks, search and judge; collecting.py has the others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from IPython.core.error import UsageError

from jan_magics.api.collection import Collection
from jan_magics.api.context import say
from jan_magics.api.host import language_of
from jan_magics.api.opening import current_host
from jan_magics.magics.collecting import RUN as COLLECTING
from jan_magics.magics.collecting import Run, cutting, variable
from jan_magics.magics.keeping import keep
from jan_magics.magics.reading import axes


def _chunks(magics: Any, parsed: Any, _: str) -> object:
    from pathlib import Path

    from jan_magics.api.chunks import chunks
    from jan_magics.engine.fetching import is_address

    path = parsed.path if is_address(parsed.path) else Path(parsed.path)
    return chunks(path, grid=axes(parsed.grid) or None, **cutting(parsed))


def _search(magics: Any, parsed: Any, text: str) -> object:
    found = Collection(parsed.collection).search(text, **_how(parsed))
    for line in found.attrs["jan"]["said"]:
        say(line, language_of(current_host()))
    if not parsed.live:
        return found
    from jan_magics.api.live import live
    from jan_magics.api.live_scores import score_view

    keep(magics.shell, parsed.o, found)  # the view moves, the table does not
    return live(current_host(), found, lambda: score_view(parsed.collection, text, _how(parsed)))


def _explain(magics: Any, parsed: Any, text: str) -> object:
    if not parsed.chunk:
        raise UsageError(
            "%rag explain: which chunk is not said\nTake its id from: %rag search --all TEXT"
        )
    how = {name: value for name, value in _how(parsed).items() if name != "all"}
    found = Collection(parsed.collection).explain(text, parsed.chunk, **how)
    for line in (found.attrs["jan"]["said"], *found.attrs["jan"]["notes"]):
        say(line, language_of(current_host()))
    return found


def _questions(magics: Any, parsed: Any, _: str) -> object:
    return Collection(parsed.collection).questions(**({} if parsed.n is None else {"n": parsed.n}))


def _evaluate(magics: Any, parsed: Any, _: str) -> object:
    questions, per_question = variable(magics, parsed.file_or_df), parsed.per_question
    found = Collection(parsed.collection)
    report = found.evaluate(questions, grid=axes(parsed.grid) or None, per_question=per_question)
    for line in report.attrs["jan"]["notes"]:
        say(line, language_of(current_host()))
    return report


def _how(parsed: Any) -> dict[str, Any]:
    names = ("k", "mode", "threshold", "rerank", "where", "all")
    return {name: value for name in names if (value := getattr(parsed, name, None)) is not None}


RUN: Final[Mapping[str, Run]] = MappingProxyType({
    **COLLECTING, "chunks": _chunks, "search": _search, "explain": _explain,
    "questions": _questions, "evaluate": _evaluate,
})  # fmt: skip
