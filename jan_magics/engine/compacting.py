"""`%chat compact`: the summary that is asked for, of all but the newest turns."""

from dataclasses import dataclass
from typing import Final

from jan_magics.context.compact import Stretch, is_worth, stretch_of, too_little
from jan_magics.context.segments import look
from jan_magics.context.summary import summary_text
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.overlays import Summary
from jan_magics.domain.protocols import Tokenizer
from jan_magics.engine.branches import NOTHING_HERE
from jan_magics.engine.compaction import freed, keep, summariser_for
from jan_magics.engine.session import Session
from jan_magics.engine.summarising import Show
from jan_magics.engine.views import View, view_of

FEWEST: Final = 24
"""Tokens of the shortest summary with its heading: where that frees too little, nobody is asked."""
FEWER: Final = "Keep fewer turns: %chat compact --keep 0"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A summary, what it stands for, and the thread as it was when it was made."""

    view: View
    stretch: Stretch
    summary: Summary
    tokenizer: Tokenizer

    @property
    def said(self) -> str:
        """Say what it frees."""
        return freed(self.stretch, self.summary, self.tokenizer)


async def compact(session: Session, turns: int | None, show: Show, *, dry_run: bool) -> Compacted:
    """Summarise the path but for the newest `turns`; None = as the setting says.

    With `dry_run` the summariser is asked and nothing is stored.

    Raises:
        ThreadError: when there is nothing to compact, or it would free too little.
        ProviderError: as the summariser's server says.
    """
    if turns is not None and turns < 0:
        raise SettingError(f"{turns} turns cannot be kept", "Keep none with 0, or some.")
    await session.titling.cancel()
    thread = session.current()
    if thread is None or not session.view().path():
        raise ThreadError(*NOTHING_HERE)
    settings, choice = session.settings(), await session.choice()
    provider = session.engine.ready(choice.model, ChatOptions())
    async with session.order.turn(thread.id, show, "compacting") as (tell, _):
        view = view_of(session.engine, thread)
        fit = await session.fitting.fit(
            choice.model, session.merged(session.sticky), settings, view
        )
        kept = fit.budget.keep if turns is None else turns
        stretch = stretch_of(view.path(), look(view.path(), view.records), fit.tokenizer, kept)
        if stretch is None:
            raise _nothing(view, kept)
        _check(stretch, FEWEST, kept)
        summary = await summariser_for(session.engine, provider, fit, tell).summary(stretch)
        _check(stretch, fit.tokenizer.count(summary_text(summary)), kept)
        if not dry_run:
            keep(session.engine, thread, summary)
            fit.breaker.reset()
    return Compacted(view, stretch, summary, fit.tokenizer)


def _nothing(view: View, kept: int) -> ThreadError:
    """Say why there is nothing to compact, with what can be done about it."""
    seen = look(view.path(), view.records)
    turns = sum(m.role == "user" and m.id not in seen.statuses for m in view.path())
    if not turns:
        back = "%chat clear --off" if seen.segment else "%chat compact --off"
        return ThreadError(
            "there is nothing to compact: no message here is sent word for word", f"Back: {back}"
        )
    stay = f"what is sent is {counted(turns, 'turn')}, and the last {kept} stay"
    return ThreadError(f"there is nothing to compact: {stay}", "Keep fewer: %chat compact --keep 0")


def _check(stretch: Stretch, after: int, kept: int) -> None:
    """Raise ThreadError unless a summary of `after` tokens frees a fifth of the history."""
    if not is_worth(stretch, after):
        raise ThreadError(
            too_little(stretch, after),
            "Nothing was changed. "
            + (f"{FEWER}, or begin" if kept else "Begin")
            + " anew: %chat clear",
        )
