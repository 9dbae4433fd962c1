"""The verbs of the context window: budget, plan, mark, compact, clear."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.api.context import (
    clear,
    compact_or_restore,
    compact_preview,
    mark,
    planned,
    say,
)
from jan_magics.api.current import current
from jan_magics.api.host import language_of
from jan_magics.api.opening import current_host
from jan_magics.api.preview import notices
from jan_magics.magics.caller import Caller
from jan_magics.magics.line import Line

Run: TypeAlias = Callable[[Caller, Any, str], object]


def _budget(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.context_tables import budget_line, budget_table

    host = current_host()
    shown = planned(host, "")
    if parsed.live:
        from jan_magics.api.live_budget import live_budget

        return live_budget(host, shown)
    for line in (budget_line(shown.plan), *notices(shown)):
        say(line, language_of(host))
    return budget_table(shown.plan)


def _plan(magics: Caller, parsed: Any, text: str) -> object:
    return current().plan(text)


def _mark(magics: Caller, parsed: Any, _: str) -> Line:
    ids, action = parsed.id, parsed.keep_or_drop_or_pin_or_summarise
    mark(current_host(), ids, action)
    messages = f"{len(ids)} messages" if len(ids) > 1 else f"message {ids[0]}"
    return Line(f"{messages}: {action} · look: %chat plan · back: %chat undo")


def _compact(magics: Caller, parsed: Any, _: str) -> object:
    host = current_host()
    if parsed.dry_run:
        return compact_preview(host, parsed.keep, off=parsed.off)
    return Line(compact_or_restore(host, parsed.keep, off=parsed.off))


def _clear(magics: Caller, parsed: Any, _: str) -> Line:
    return Line(clear(current_host(), off=parsed.off)[1])


RUN: Final[Mapping[str, Run]] = MappingProxyType(
    {"budget": _budget, "plan": _plan, "mark": _mark, "compact": _compact, "clear": _clear}
)
