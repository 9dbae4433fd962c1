"""What `%chat use` made stick, and `send`: an asking becomes a turn in the right thread."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, cast

from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, parse_model
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.choose import REMEMBERED, Choice, Finder, choose, guard_foreign
from jan_magics.engine.engine import Engine
from jan_magics.engine.records import KEY, model_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.settings import Settings
from jan_magics.engine.threads import Threads, own
from jan_magics.engine.turn import Ask, Turn, assemble, place, run_turn

_OBVIOUS: Final = ("the -m flag", "%chat use", REMEMBERED)


@dataclass(frozen=True, slots=True)
class Asking:
    """What a cell or a call asks for; None = as `use` says, else as the thread or settings say."""

    text: str = ""
    thread: str | None = None
    model: str | None = None
    system: str | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished turn, and what its footer says beside it.

    `state` is "new" or "continued" at the first turn of this kernel in that thread.
    """

    turn: Turn
    version: int
    versions: int
    state: Literal["new", "continued"] | None
    messages: int
    flags: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be sent, in which thread (None: a new one), and who would answer."""

    choice: Choice
    thread: Thread | None
    request: ChatRequest


@dataclass(slots=True)
class Session:
    """The state of one kernel or script. Lives on the engine's loop.

    `last` is the outcome of the newest turn, also of one that was stopped or failed.
    """

    engine: Engine
    threads: Threads
    finder: Finder
    settings: Callable[[], Settings]
    foreign_folder: bool = False
    sticky: Asking = field(default_factory=Asking)
    last: Outcome | None = None
    _answered_by: dict[str, str] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    async def send(self, asking: Asking, show: Callable[[Progress], None]) -> Outcome:
        """Ask in the thread that is meant. Raises SettingError, ThreadError, ProviderError."""
        settings = self.settings()
        wanted = self.merged(asking)
        name = self._name(wanted, settings)
        found = self.threads.named(name)
        # Chosen before a thread is made: a wrong model's name leaves no empty thread behind.
        choice = await self._choose(asking, found, settings)
        thread = found or self.threads.create(name)
        index = self.engine.tree(thread)
        show(Progress(note=f"asking {choice.model}"))

        def over(turn: Turn) -> None:
            notes = settings.notes
            self.last = self._outcome(turn, index, choice, new=found is None, notes=notes)

        self.last = None
        await run_turn(self.engine, _ask(wanted, thread, index, choice), show, over)
        if wanted.history:
            self._remember(thread, choice)
        return cast(Outcome, self.last)

    async def preview(self, asking: Asking) -> Preview:
        """Return what `send` would send; nothing is sent and nothing is stored."""
        settings = self.settings()
        wanted = self.merged(asking)
        found = self.threads.named(self._name(wanted, settings))
        choice = await self._choose(asking, found, settings)
        thread = found or Thread("", "", self.engine.now(), self.engine.now())
        index = self.engine.tree(found) if found else TreeIndex()
        ask = _ask(wanted, thread, index, choice)
        return Preview(choice, found, assemble(ask, place(self.engine, ask)[0]))

    def current(self) -> Thread | None:
        """Return the thread that the next turn goes to, None when it will be a new one."""
        return self.threads.named(self._name(self.sticky, self.settings()))

    def merged(self, asking: Asking) -> Asking:
        """Return an asking with what `use` made stick filled in."""
        sticky = self.sticky
        options = replace(
            asking.options,
            temperature=_first(asking.options.temperature, sticky.options.temperature),
            max_tokens=_first(asking.options.max_tokens, sticky.options.max_tokens),
            parameters={**sticky.options.parameters, **asking.options.parameters},
        )
        return replace(
            asking,
            thread=_first(asking.thread, sticky.thread),
            model=_first(asking.model, sticky.model),
            system=_first(asking.system, sticky.system),
            options=options,
        )

    async def choice(self) -> Choice:
        """Return who would answer the next turn."""
        return await self._choose(Asking(), self.current(), self.settings())

    def check(self, name: str) -> ModelRef:
        """Return a model that could be asked. Raises SettingError, KeyRefused."""
        model = parse_model(name)
        self.engine.provider(model)
        return model

    def _name(self, wanted: Asking, settings: Settings) -> str | None:
        return wanted.thread or settings.get("thread").value

    async def _choose(self, asking: Asking, thread: Thread | None, settings: Settings) -> Choice:
        named = {"the -m flag": asking.model, "%chat use": self.sticky.model}
        remembered = own(thread).get("model") if thread else None
        choice = await choose(named, remembered, settings, self.finder)
        guard_foreign(choice, foreign_folder=self.foreign_folder, settings=settings)
        return choice

    def _remember(self, thread: Thread, choice: Choice) -> None:
        known: dict[str, Json] = dict(own(thread))
        if known.get("model") != str(choice.model):
            known["model"] = str(choice.model)
            self.engine.store.update_thread(thread.id, metadata={KEY: known})

    def _outcome(
        self, turn: Turn, index: TreeIndex, choice: Choice, *, new: bool, notes: tuple[str, ...]
    ) -> Outcome:
        path = index.path()
        before = self._answered_by.get(turn.thread.id)
        state: Literal["new", "continued"] | None
        state = None if before else ("new" if new or not path else "continued")
        lines = [note for note in notes if note not in self._told]
        self._told.update(lines)
        if before != str(choice.model) and choice.why not in _OBVIOUS:
            lines.append(f"why {choice.model}: {choice.why}")
        self._answered_by[turn.thread.id] = str(choice.model)
        return Outcome(turn, 1, 1, state, len(path), _flags(turn, index), tuple(lines))


def _ask(wanted: Asking, thread: Thread, index: TreeIndex, choice: Choice) -> Ask:
    return Ask(
        thread, index, wanted.text, choice.model, wanted.system or "", wanted.options,
        wanted.history,
    )  # fmt: skip


def _flags(turn: Turn, index: TreeIndex) -> tuple[str, ...]:
    before = [model for message in index.path() if (model := model_of(message))]
    flags = {
        "stopped": turn.finish == "stopped",
        "cut at the token limit": turn.finish == "length",
        "offline (no model)": turn.request.model.provider == "offline",
        "model changed": bool(before) and before[-1] != str(turn.request.model),
        "not in the thread": not turn.request.stable and bool(before),
    }
    return tuple(flag for flag, holds in flags.items() if holds)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
