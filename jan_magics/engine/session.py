"""What `%chat use` made stick, and `send`: an asking becomes a turn in the right place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from jan_magics.context.compact import Stretch
from jan_magics.context.plan import ContextPlan
from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, parse_model
from jan_magics.domain.overlays import Change
from jan_magics.domain.tree import Changes
from jan_magics.engine.advising import advise, advising, fitting_in, is_elsewhere
from jan_magics.engine.asked_with import asked_again, told_with
from jan_magics.engine.asking import Asking, about_looking, laid_over
from jan_magics.engine.asks import Ask, Turn
from jan_magics.engine.assistants import Assistants, remembered
from jan_magics.engine.choose import FLAG, REMEMBERED, USE, Choice, Finder, choose, guard_foreign
from jan_magics.engine.compaction import ahead
from jan_magics.engine.engine import Engine
from jan_magics.engine.fitting import Fit, Fitting
from jan_magics.engine.forms import schema_from
from jan_magics.engine.instructions import find_assistant
from jan_magics.engine.migrations import bring_up_to_date
from jan_magics.engine.naming import own
from jan_magics.engine.order import Order
from jan_magics.engine.outcome import Outcome, Telling
from jan_magics.engine.placing import cut_answer_at
from jan_magics.engine.preparing import Prepared, Retrieving
from jan_magics.engine.records import model_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.reusing import make_turn
from jan_magics.engine.screening import screen
from jan_magics.engine.settings import Settings
from jan_magics.engine.supplying import meant, supplied
from jan_magics.engine.threads import Threads
from jan_magics.engine.titling import Titling
from jan_magics.engine.toolbox import Toolbox
from jan_magics.engine.tools import Desk
from jan_magics.engine.turn import Show, assemble, place, planned
from jan_magics.engine.views import View, view_of

PLAIN: Final = ChatOptions()
STAND_IN: Final = "stand_in"
"""What a thread remembers beside a model that only stood in for one."""
TRIED: Final = "this turn"
"""The source of the settings that a turn is tried with."""

Over: TypeAlias = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent, in which thread (None: a new one), who would answer, and the plan.

    `first` is what a compaction would take before it is sent; the plan is that without it.
    """

    choice: Choice
    thread: Thread | None
    request: ChatRequest
    plan: ContextPlan
    first: Stretch | None = None


@dataclass(slots=True)
class Session:
    """The state of one kernel or script. Lives on the engine's loop.

    `last` is the outcome of the newest turn, also of one that was stopped or failed; `deleted`
    are threads that went to the bin while no other was there to note it. `opened` are the settings
    that were read once, as they were then.
    """

    engine: Engine
    threads: Threads
    finder: Finder
    settings: Callable[[], Settings]
    assistants: Assistants
    titling: Titling
    foreign_folder: bool = False
    opened: Mapping[str, str | None] = field(default_factory=dict)
    sticky: Asking = field(default_factory=Asking)
    last: Outcome | None = None
    deleted: list[Change] = field(default_factory=list)
    telling: Telling = field(default_factory=Telling)
    order: Order = field(default_factory=Order)
    toolbox: Toolbox = field(default_factory=Toolbox)
    retriever: Retrieving = None
    fitting: Fitting = field(init=False)

    def __post_init__(self) -> None:
        self.fitting = Fitting(self.engine)

    async def send(
        self, asking: Asking, show: Show, over: Over = lambda _: None, desk: Desk | None = None
    ) -> Outcome:
        """Ask in the thread that is meant, after the turns that it is busy with.

        `over` is told how the turn ended, also when it was stopped or failed; `desk` is who waits
        for it, None where nobody can be asked. Raises JanError.
        """
        opened = await self.begin(asking)
        settings, prepared, thread = opened.settings, opened.prepared, opened.thread
        ended: list[Outcome] = []
        front, aside = desk is not None and desk.main, prepared.wanted.beside
        async with self.order.turn(thread.id, show, front=front, aside=aside) as (tell, waited):
            if waited:
                thread = self.engine.store.thread(thread.id)
            # Read only now: the turn goes below what the turns before it have said.
            view = view_of(self.engine, thread)
            fit = await self.fit(prepared, settings, view, tell)
            ready = await supplied(await prepared.complete(desk, tell), settings, fit, view, tell)
            ask = replace(await ready.ready(view, fit, desk, tell), told=opened.told)

            def end(turn: Turn) -> None:
                told = self.telling.outcome(
                    turn, ask, prepared.choice, new=opened.new, notes=settings.notes,
                    elsewhere=is_elsewhere(self, thread))  # fmt: skip
                ended.append(_noted(self, ask, told, prepared))
                over(told)

            with advising(ask, self), self.fitting.learning(prepared.choice.model):
                await make_turn(self.engine, ask, tell, end, reusing=_reuses(prepared.wanted))
            if not ask.side:
                await self.titling.begin(ended[0].turn, settings.get("titles").value or "")
        return ended[0]

    async def begin(self, asking: Asking) -> "Opened":
        """Return who answers a turn and in which thread, which is made here where it is new."""
        await self.titling.cancel()
        settings = self.settings().over(TRIED, asking.settings)
        name = self._name(self.merged(asking, settings), settings)
        found = self.threads.named(name)
        told = asking
        if asking.aim != "ask" and found:
            told = asked_again(asking, view_of(self.engine, found))
        wanted = self.merged(told, settings)
        bring_up_to_date(self.assistants)
        prepared = await self._prepared(asking, wanted, found, settings)
        thread = _stuck(self, asking, found or _made(self, name, prepared.ask(View())))
        return Opened(settings, prepared, thread, found is None, told_with(told, prepared.schema))

    async def _prepared(
        self, asking: Asking, wanted: Asking, found: Thread | None, settings: Settings
    ) -> Prepared:
        choice = await self._choose(asking, found, settings)
        whom = find_assistant(self.assistants, wanted, found, settings)
        box, router = self.toolbox, settings.get("tool_router").value
        listed = meant(self.retriever, wanted, settings)
        offered = box.offered(wanted.tools, lenient=asking.tools is None)
        tools = (box, offered, router, self.retriever, listed)
        form = schema_from(wanted.schema, box.names())
        idle = about_looking(asking)
        return Prepared(self.engine, self.threads, wanted, choice, whom, *tools, form, idle=idle)

    async def fit(
        self, prepared: Prepared, settings: Settings, view: View, show: Show = lambda _: None
    ) -> Fit:
        """Return how a turn is fitted into its model's window, which its server is asked for."""
        if prepared.choice.model not in self.fitting.windows:
            show(Progress("", f"asking {prepared.choice.model} for its window"))
        return await self.fitting.fit(prepared.choice.model, prepared.wanted, settings, view)

    async def preview(self, asking: Asking) -> Preview:
        """Return what `send` would send; nothing is sent and nothing is stored."""
        settings = self.settings().over(TRIED, asking.settings)
        wanted = self.merged(asking, settings)
        found = self.threads.seen(self._name(wanted, settings))
        prepared = await self._prepared(asking, wanted, found, settings)
        view = view_of(self.engine, found)
        fit = replace(await self.fit(prepared, settings, view), looking=True)
        ask = await (await supplied(prepared, settings, fit, view)).ready(view, fit, None)
        with fitting_in(ask):
            plan = await planned(ask, place(self.engine, ask))
        return _looked_at(prepared, found, ask, plan)

    def current(self) -> Thread | None:
        """Return the thread that the next turn goes to, None when it will be a new one."""
        return self.threads.named(self._name(self.sticky, self.settings()))

    def view(self) -> View:
        """Read the thread that the next turn goes to, as it is shown."""
        return view_of(self.engine, self.current())

    def glance(self) -> View:
        """Read that thread, and write nothing: a copied notebook sees the original's."""
        return view_of(self.engine, self.threads.seen(self._name(self.sticky, self.settings())))

    def merged(self, asking: Asking, settings: Settings | None = None) -> Asking:
        """Return an asking with what `use` made stick, and what settings say, filled in."""
        return laid_over(asking, self.sticky, settings.get("rerun").value if settings else None)

    async def choice(self) -> Choice:
        """Return who would answer the next turn."""
        return await self._choose(Asking(), self.current(), self.settings())

    def check(self, name: str, options: ChatOptions = PLAIN) -> ModelRef:
        """Return a model that could be asked. Raises SettingError, KeyRefused, ProviderError."""
        model = parse_model(name)
        self.engine.ready(model, options)
        return model

    def _name(self, wanted: Asking, settings: Settings) -> str | None:
        return wanted.thread or settings.get("thread").value

    async def _choose(self, asking: Asking, thread: Thread | None, settings: Settings) -> Choice:
        named = {FLAG: asking.model, USE: self.sticky.model}
        if asking.aim == "resume" and thread and not asking.model:
            # Words of two models in one answer would be nobody's.
            cut = model_of(cut_answer_at(view_of(self.engine, thread), asking.at))
            named = {REMEMBERED: cut, **named}
        choice = await choose(named, _own_model(thread), settings, self.finder)
        guard_foreign(choice, foreign_folder=self.foreign_folder, settings=settings)
        return choice


@dataclass(frozen=True, slots=True)
class Opened:
    """A turn before its thread is read; `new`: the thread was made for it.

    `told` is what it is asked with, to be kept.
    """

    settings: Settings
    prepared: Prepared
    thread: Thread
    new: bool
    told: Mapping[str, Json] = field(default_factory=dict)


def _noted(session: Session, ask: Ask, outcome: Outcome, prepared: Prepared) -> Outcome:
    """Note a turn that is over; one that failed without a word changes no thread's model."""
    turn = outcome.turn
    told = turn.answer.parts or turn.finish not in ("error", "stopped")
    if not ask.side and (told or not own(turn.thread).get("model")):
        _remember(session.threads, turn.thread, prepared)
    if turn.plan and not turn.stored:
        # An answer of several requests has the tokens of all of them.
        counted = None if ask.partial or turn.steps > 1 else turn.usage.input
        session.fitting.over(turn.thread.id, ask.fit, turn.plan, counted)
    session.last = outcome
    session.threads.follow(turn)
    return outcome


def _looked_at(prepared: Prepared, found: Thread | None, ask: Ask, plan: ContextPlan) -> Preview:
    if plan.refused:
        advise(ask, plan.refused)
    request, first = assemble(ask, plan), ahead(ask.fit, plan)
    return Preview(prepared.choice, found, request, plan, first)


def _made(session: Session, name: str | None, first: Ask) -> Thread:
    """Make a thread for its first turn; one that cannot be asked leaves no thread behind.

    Another turn may have made it while this one chose its model.
    """
    session.engine.ready(first.model, first.options)
    screen(session.engine, first)
    return session.threads.obtain(name)


def _own_model(thread: Thread | None) -> str | None:
    """Return the model that a thread keeps; it does not keep a stand-in."""
    known = own(thread) if thread else {}
    model = known.get("model")
    return model if isinstance(model, str) and not known.get(STAND_IN) else None


def _stuck(session: Session, asking: Asking, thread: Thread) -> Thread:
    """Stay in a thread, whatever it is called later; note there what was deleted before."""
    thread = session.threads.note(thread)
    if asking.thread is not None:
        return thread
    if session.sticky.thread:
        session.sticky = replace(session.sticky, thread=thread.id)
    if session.deleted:
        session.engine.apply(thread, Changes(), session.deleted)
        session.deleted.clear()
    return thread


def _reuses(wanted: Asking) -> bool:
    """Tell whether a stored answer will do; who asks for another answer gets one."""
    return wanted.rerun == "reuse" and wanted.aim == "ask" and wanted.history and not wanted.side


def _remember(threads: Threads, thread: Thread, made: Prepared) -> None:
    known: dict[str, Json] = {"model": str(made.choice.model)}
    if made.choice.stands_in or STAND_IN in own(thread):
        known[STAND_IN] = made.choice.stands_in
    if any(own(thread).get(key) != value for key, value in known.items()):
        threads.keep(thread.id, **known)
    if keys := remembered(thread, made.whom):
        threads.engine.store.update_thread(thread.id, extra=keys)
