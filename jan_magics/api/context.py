"""The context window as tables, and what changes what is sent."""

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jan_magics.api.asking import checked_text, merged, text_or_none
from jan_magics.api.context_tables import (
    budget_table,
    dry_run_table,
    grid_row,
    grid_table,
    plan_table,
)
from jan_magics.api.edited import action_of, edited, prompt_of
from jan_magics.api.grid_keys import check_keys
from jan_magics.api.host import Host, Showing, display_of, language_of
from jan_magics.api.preview import notices
from jan_magics.context.counting import count_message
from jan_magics.context.plan import ContextPlan
from jan_magics.domain.errors import JanError, ProviderError, SettingError
from jan_magics.domain.messages import Message
from jan_magics.domain.models import parse_model
from jan_magics.domain.overlays import MarkAction
from jan_magics.engine import marking
from jan_magics.engine.asking import Asking
from jan_magics.engine.budgets import OF_BUDGET
from jan_magics.engine.compacting import Compacted, compact
from jan_magics.engine.fitting import NOBODY
from jan_magics.engine.naming import own
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Preview, Session
from jan_magics.engine.setting_list import BY_NAME
from jan_magics.engine.settings import checked
from jan_magics.engine.views import View
from jan_magics.notebook.wording import worded

if TYPE_CHECKING:
    import pandas as pd


def say(what: str, language: str = "") -> None:
    """Write what was changed where the caller reads it."""
    sys.stdout.write(f"{worded(what, language)}\n")


def counter(host: Host) -> Callable[[Message], int]:
    """Return what counts the tokens of a message as the thread's own model does."""
    session = host.session()
    thread = session.current()
    name = own(thread).get("model") if thread else None
    model = parse_model(name) if isinstance(name, str) else NOBODY
    tokenizer = session.fitting.tokenizer(model, session.settings())
    return lambda message: count_message(message, tokenizer)


def planned(host: Host, text: str) -> Preview:
    """Plan the request for a prompt, also for none yet; nothing is sent."""
    if text != "":
        checked_text(text)
    return host.preview(Asking(text))


def plan_frame(host: Host, text: str) -> "pd.DataFrame":
    """Return the plan of a prompt; where it would not be sent so, that is printed."""
    shown = _shown(host, text)
    return plan_table(shown, text, host.session().view())


def budget_frame(host: Host, text: str) -> "pd.DataFrame":
    """Return the pieces of the window for a prompt; where it does not fit, that is printed."""
    return budget_table(_shown(host, text).plan)


def _shown(host: Host, text: str) -> Preview:
    shown = planned(host, text)
    for notice in notices(shown):
        say(notice, language_of(host))
    return shown


def apply_plan(host: Host, frame: "pd.DataFrame") -> View:
    """Make the actions of an edited plan stick. Raises SettingError naming the row."""
    prompt = prompt_of(frame)
    shown = planned(host, prompt)
    table = plan_table(shown, prompt, host.session().view())
    stored = {message.id: message for message in shown.plan.measured.path}
    return marking.apply(host.session(), shown.plan, edited(frame, table, stored))


def mark(host: Host, ids: object, action: str, session: Session | None = None) -> View:
    """Decide about messages of this branch, or of the one that a session of its own is in."""
    named = [ids] if isinstance(ids, str) or not isinstance(ids, Iterable) else list(ids)
    texts = [each for each in named if isinstance(each, str)]
    if not texts or len(texts) < len(named):
        raise SettingError(f"{ids!r} names no messages", "Name one by its id, or a list of them.")
    known = action_of(action)
    if session is not None:
        return marking.mark(session, texts, known)
    return marking.mark(host.session(), texts, known, _plan_of_next(host, known))


def _plan_of_next(host: Host, action: MarkAction) -> ContextPlan | None:
    """Return the plan by which it is seen whether what is to be kept fits."""
    if action in ("keep", "pin"):
        with suppress(JanError):  # nobody answers here now: marks are ours
            return planned(host, "").plan
    return None


def clear(host: Host, *, off: bool) -> tuple[View, str]:
    """Archive what is sent, or restore what was archived last; returns what was done, in words."""
    session = host.session()
    if off:
        return marking.restore(session, "clear"), "the context is as before it was cleared"
    view, count = marking.clear(session)
    messages = "message" if count == 1 else "messages"
    return view, f"context cleared · {count} {messages} · back: %chat clear --off"


def compacted(host: Host, keep: int | None, *, dry_run: bool) -> Compacted:
    """Summarise all but the newest turns, and show how that goes on."""
    if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int)):
        raise SettingError(f"keep is {keep!r}", "It is a number of turns: chat.compact(keep=2)")
    session, display = host.session(), display_of(host, Showing())

    def update(progress: Progress) -> None:
        display.update(progress.text, progress.note)

    try:
        return host.bridge.run(lambda put: compact(session, keep, put, dry_run=dry_run), update)
    finally:
        display.clear("")


def _refuse_beside_off(keep: int | None, *, dry_run: bool, off: bool) -> None:
    """Raise SettingError for a compaction that is asked for and taken back at once."""
    if off and (dry_run or keep is not None):
        other = "a dry run" if dry_run else "a number of turns to keep"
        raise SettingError(
            f"taking a compaction back has no use for {other}", "Leave it out: %chat compact --off"
        )


def compact_or_restore(host: Host, keep: int | None, *, off: bool) -> str:
    """Compact, or take the last compaction back; returns what was done, in words."""
    _refuse_beside_off(keep, dry_run=False, off=off)
    if off:
        marking.restore(host.session(), "compact")
        return "the messages are sent word for word again"
    return f"{compacted(host, keep, dry_run=False).said} · back: %chat compact --off"


def compact_preview(host: Host, keep: int | None, *, off: bool = False) -> "pd.DataFrame":
    """Return what a compaction would change; the summariser is asked and nothing is stored."""
    _refuse_beside_off(keep, dry_run=True, off=off)
    return dry_run_table(compacted(host, keep, dry_run=True))


def grid(
    host: Host, asking: Asking, lists: Mapping[str, Any], needle: str | None = None
) -> "pd.DataFrame":
    """Ask the same under every combination of settings; the head does not move.

    `lists` are flags of `%%chat`, settings of the budget (strategy, keep, …) or parameters of the
    model by name, each with values to try. `attrs["jan"]["said"]` has what the footers would say.
    """
    if not lists:
        raise SettingError("a grid has no settings to try", "Name some: overflow=['trim', 'error']")
    if needle is not None and not str(text_or_none("needle", needle)).strip():
        raise SettingError(
            f"the needle is {needle!r}", "It is text that each answer should hold: needle='42'"
        )
    check_keys(lists)
    values = {name: _several(value) for name, value in lists.items()}
    if empty := [name for name, tried in values.items() if not tried]:
        raise SettingError(
            f"the grid has no values of {', '.join(empty)} to try",
            f"Name some: {empty[0]}=[…], or leave it out.",
        )
    tried = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    # All of them are read before the first is asked.
    asked = [_with(replace(asking, side=True, cell=None), settings) for settings in tried]
    for name in {each.model for each in asked if each.model}:
        host.session().check(name)
    rows, said = [], list[str]()
    for settings, each in zip(tried, asked, strict=True):
        outcome, failure = _side(host, each)
        rows.append({**settings, **grid_row(outcome, failure, needle)})
        named = ", ".join(f"{name}={value}" for name, value in settings.items())
        said += [f"{named}: {note}" for note in (outcome.turn.notes if outcome else ())]
    return grid_table(list(values), rows, said)


def _with(asking: Asking, settings: Mapping[str, Any]) -> Asking:
    """Return an asking with a combination laid over it; the settings are checked here."""
    tried = {name: value for name, value in settings.items() if name in OF_BUDGET}
    for name, value in tried.items():
        try:
            checked(BY_NAME[name], value, "the grid")
        except SettingError as fault:
            raise SettingError(fault.message, fault.next_step.partition("   until")[0]) from None
    others = {name: value for name, value in settings.items() if name not in OF_BUDGET}
    return replace(merged(asking, others), settings=tried)


def _side(host: Host, asking: Asking) -> tuple[Outcome | None, ProviderError | None]:
    session, display = host.session(), display_of(host, Showing())

    def update(progress: Progress) -> None:
        display.update("", progress.note or progress.text[-60:])

    try:
        return host.bridge.run(lambda put: session.send(asking, put), update), None
    except ProviderError as failure:
        # The others are worth having: a combination that fails is a row too.
        return None, failure
    finally:
        display.clear("")


def _several(value: object) -> Sequence[object]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value)
