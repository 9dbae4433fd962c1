"""A turn a row of a table: siblings from one prefix, kept beside the thread, whose head stays.

A row that fails is a row, also where code that is not ours has failed. What was answered before is
not asked again.
"""

import asyncio
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final

from jan_magics.domain.errors import (
    AuthenticationFailed,
    JanError,
    KeyRefused,
    ModelNotFound,
    ModelNotReachable,
    NotRecorded,
    SettingError,
    StoreError,
)
from jan_magics.domain.messages import text_of
from jan_magics.domain.overlays import Overlay, SideTurn
from jan_magics.engine.asks import Ask, Turn
from jan_magics.engine.attached import searched
from jan_magics.engine.fitting import Fit
from jan_magics.engine.forms import data_in
from jan_magics.engine.given import looks_up
from jan_magics.engine.known_rows import KnownRows
from jan_magics.engine.preparing import Prepared
from jan_magics.engine.purse import Purse, SpentError
from jan_magics.engine.reply import SHOW_EVERY, Progress
from jan_magics.engine.screening import SENT
from jan_magics.engine.session import Opened, Session
from jan_magics.engine.side_turns import SideTurns
from jan_magics.engine.supplying import supplied
from jan_magics.engine.tallies import Done, How, Prompt, Tally
from jan_magics.engine.turn import place, planned, run_turn
from jan_magics.engine.views import View, view_of

HOPELESS: Final = (AuthenticationFailed, KeyRefused, ModelNotFound, ModelNotReachable)
"""Failures that every other row would have too."""
FATAL: Final = (NotRecorded, StoreError)
"""Failures after which a table would not be what it says."""
PATIENCE: Final = 4
"""Hopeless rows in a row, after which the others are not asked any more."""

MENDING: Final = 200
"""Tokens of saying what is wrong with the form of an answer."""
_WAITS: Final = re.compile(r"waiting \d")


@dataclass(slots=True)
class Table:
    """The rows of one map, while they are asked. Lives on the engine's loop.

    `first` is a turn as each row is one; `supplied`: it is so but for its text. `over` says why no
    further row is asked.
    """

    session: Session
    opened: Opened
    prepared: Prepared
    view: View
    first: Ask
    supplied: bool
    keeper: SideTurns
    tally: Tally
    show: Callable[[Tally], None]
    purse: Purse | None = None
    over: str = ""
    _hopeless: int = 0
    _shown: float = 0.0
    _same: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def run(self, prompts: Sequence[Prompt], how: How) -> None:
        """Ask what is missing, so many rows at a time. Raises JanError when nobody answers."""
        missing = self._missing(prompts, again=how.again)
        rows = iter(missing)
        # Out of a cassette ids come in the order of the rows.
        playing = self.session.engine.deck.playing is not None
        workers = 1 if playing else max(1, min(how.concurrency, len(missing)))
        tasks = [asyncio.ensure_future(self._work(rows)) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self.keeper.close()

    def _missing(self, prompts: Sequence[Prompt], *, again: bool) -> list[tuple[int, str, str]]:
        """Return number, prompt and key of the rows that must be asked; the others are over."""
        before = place(self.session.engine, self.first).before
        rows = KnownRows(self.prepared, self.view, self.first, before)
        keys = [rows.key(prompt.text) for prompt in prompts]
        known = [None] * len(prompts) if again else rows.found(prompts, keys)
        missing = []
        for n, (prompt, turn) in enumerate(zip(prompts, known, strict=True)):
            if prompt.fault:
                self._end(n, Done(error=prompt.fault))
            elif turn is None:
                missing.append((n, prompt.text, keys[n]))
            else:
                self.tally.before += rows.is_elsewhere(turn)
                data = data_in(text_of(turn.answer), self.first.schema)
                self._end(n, Done(turn.answer, data=data, stored=True))
        return missing

    async def _work(self, rows: Iterator[tuple[int, str, str]]) -> None:
        for n, text, key in rows:
            if self.over:
                self._end(n, Done(error=f"not asked: {self.over}", asked=False))
            elif self.session.engine.deck.recording:
                # What is asked several times is played in the order of recording.
                async with self._same.setdefault(key, asyncio.Lock()):
                    self._end(n, await self._done(text, key))
            else:
                self._end(n, await self._done(text, key))

    async def _done(self, text: str, key: str) -> Done:
        turns: list[Turn] = []
        try:
            await self._turn(await self._ask(text, key), turns.append)
        except FATAL:
            raise
        except SpentError as reason:
            self.over = str(reason)
            return Done(error=f"not asked: {reason}", asked=False)
        except Exception as failure:  # noqa: BLE001 - tools and readers are not ours
            self._note_hopeless(failure)
            said = turns[-1].answer if turns and turns[-1].answer.parts else None
            return Done(said, told(failure))
        self._hopeless = 0
        answer = turns[-1].answer
        return Done(answer, data=data_in(text_of(answer), self.first.schema))

    async def _ask(self, text: str, key: str) -> Ask:
        ask = self.first
        if not self.supplied:
            settings, ready = self.opened.settings, self.prepared
            ready = replace(ready, wanted=replace(ready.wanted, text=text))
            ready = await supplied(ready, settings, ask.fit, self.view, self._note)
            ask = as_row(await ready.ready(self.view, ask.fit, None, self._note), self.keeper)
        return replace(ask, text=text, row=key, at_once=self.first.at_once)

    async def _turn(self, ask: Ask, over: Callable[[Turn], None]) -> None:
        engine, ended = self.session.engine, list[Turn]()

        def end(turn: Turn) -> None:
            ended.append(turn)
            self.tally.away += [note for note in turn.notes if note.startswith(SENT)]
            over(turn)

        with self.session.fitting.learning(ask.model):
            if self.purse is None:
                await run_turn(engine, ask, self._note, end)
                return
            ask = bounded(ask)
            plan = await planned(ask, place(engine, ask))
            amount = most_of(ask, plan.tokens, self.purse)
            await self.purse.take(amount)
            try:
                await run_turn(engine, ask, self._note, end)
            finally:
                paid = sum(self.purse.paid(*spent_by(turn, plan.tokens, ask)) for turn in ended)
                self.purse.settle(amount, paid)
                self.tally.spent = self.purse.spent

    def _note_hopeless(self, failure: Exception) -> None:
        """Give up where nobody answers any more; where nobody ever has, raise the failure."""
        self._hopeless = self._hopeless + 1 if isinstance(failure, HOPELESS) else 0
        if self._hopeless < min(PATIENCE, self.tally.total):
            return
        if len(self.tally.rows) == self.tally.failed + self.tally.unasked:
            raise failure
        self.over = told(failure)

    def _note(self, progress: Progress) -> None:
        # Of so many rows only the waits of all of them are told.
        if _WAITS.match(progress.note):
            self.tally.note = progress.note
            self._show()

    def _end(self, n: int, done: Done) -> None:
        self.tally.end(n, done)
        self._show()

    def _show(self) -> None:
        """Tell how far it is, not more often than anybody looks: each time another thread wakes."""
        if (now := perf_counter()) >= self._shown + SHOW_EVERY:
            self._shown = now
            self.show(self.tally)


async def map_rows(
    session: Session, opened: Opened, prompts: Sequence[Prompt], how: How, tally: Tally,
    show: Callable[[Tally], None],
) -> None:  # fmt: skip
    """Ask a turn a row; `tally` has what is over, also when this is cancelled or fails.

    Raises:
        SettingError: when a cost is limited and nobody says a price.
        JanError: when nobody at all answers.
    """

    def note(progress: Progress) -> None:
        tally.note = progress.note
        show(tally)

    engine, settings = session.engine, opened.settings
    async with session.order.turn(opened.thread.id, note, aside=True):
        view = view_of(engine, engine.store.thread(opened.thread.id))
    fit = for_rows(await session.fit(opened.prepared, settings, view, note), view.records)
    prepared = await opened.prepared.complete(None, note)
    keeper = SideTurns(engine, opened.thread)
    first = as_row(await prepared.ready(view, fit, None, note), keeper)
    first = replace(first, at_once=how.concurrency if how.said else 0)
    tally.model, tally.schema, tally.began = str(first.model), first.schema, perf_counter()
    made = (session, opened, prepared, view, first, not _needs_more(prepared, view))
    table = Table(*made, keeper, tally, show)
    if how.max_cost is not None:
        table.purse, tally.spent = purse_of(fit, how.max_cost), 0.0
    await table.run(prompts, how)


def as_row(ask: Ask, keeper: SideTurns) -> Ask:
    """Return a turn that is a row: kept beside its thread, behind the user's own turns."""
    return replace(ask, side=True, purpose="map", keeping=keeper.keep, overlays=())


def for_rows(fit: Fit, records: Sequence[Overlay]) -> Fit:
    """Return how rows are fitted: what is beside the path is not looked at, nor summarised."""
    own = tuple(each for each in records if not isinstance(each, SideTurn))
    budget = fit.budget
    if budget.overflow == "compact":
        # A summary a row would be asked for, and thrown away.
        budget = replace(budget, overflow="trim")
    return replace(fit, records=own, budget=budget, earlier=None)


def purse_of(fit: Fit, limit: float) -> Purse:
    """Return what may be spent. Raises SettingError where nobody says a price."""
    if fit.price is None:
        raise SettingError(
            f"what {fit.model} costs is not known, so its cost cannot be limited",
            f"Write its prices into your config.toml: [providers.{fit.model.provider}] "
            "prices = {input = 2.0, output = 8.0}   or leave --max-cost out.",
        )
    return Purse(limit, fit.price)


def bounded(ask: Ask) -> Ask:
    """Return a turn whose answer has an end: what may cost anything cannot be reserved."""
    longest = ask.options.max_tokens or ask.fit.budget.reserve_output
    return replace(ask, options=replace(ask.options, max_tokens=longest))


def most_of(ask: Ask, read: int, purse: Purse) -> float:
    """Return what a row may cost at most: its request, and those that may follow it.

    `read` are the tokens of the first. A step after calls may fill the window; an answer of
    another form is asked for once more.
    """
    budget, written = ask.fit.budget, ask.options.max_tokens or 0
    steps = ask.bench.max_steps - 1 if ask.bench.offered else 0
    whole = max(read, budget.window or 0)
    again = purse.cost(whole if steps else read + written + MENDING, written)
    # What was estimated may be more.
    first = purse.cost(math.ceil(read / budget.safety), written)
    return first + steps * purse.cost(whole, written) + (again if ask.schema else 0.0)


def spent_by(turn: Turn, sent: int, ask: Ask) -> tuple[int, int, int]:
    """Return tokens read, written and cached of a row, estimated where its server did not count."""
    usage, written = turn.usage, ask.fit.tokenizer.count(text_of(turn.answer))
    read = sent if usage.input is None else usage.input
    return read, written if usage.output is None else usage.output, usage.cached or 0


def told(failure: Exception) -> str:
    """Return what a row says of its failure."""
    words = failure.message if isinstance(failure, JanError) else str(failure)
    return f"{type(failure).__name__}: {words}"


def _needs_more(prepared: Prepared, view: View) -> bool:
    """Tell whether a row needs more than its prompt: files, what is looked up, tools."""
    wanted = prepared.wanted
    looked = wanted.collection or looks_up(wanted.tools) or wanted.attach
    return bool(looked or prepared.offered.tools or searched(prepared.files_before(view)))
