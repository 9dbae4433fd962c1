"""Which model answers, and why: the first source that names one, else what runs here."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.errors import KeyRefused
from jan_magics.domain.models import ModelInfo, ModelRef, parse_model
from jan_magics.engine.settings import Settings

OFFLINE: Final = ModelRef("offline", "quote")
FLAG: Final = "the -m flag"
USE: Final = "%chat use"
REMEMBERED: Final = "the thread's own model"
RUNS: Final = "no setting names a model, and it runs on this machine"
PLAYED: Final = "no setting names a model, and the cassette has it"


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and the reason it was taken."""

    model: ModelRef
    why: str

    @property
    def stands_in(self) -> bool:
        """Tell whether no model answers, and nobody has asked this thread for just that."""
        return self.model.provider == "offline" and self.why not in (FLAG, USE, REMEMBERED)


@dataclass(slots=True)
class Finder:
    """What answers on this machine: servers on loopback, and a model that can be started.

    `discover` is asked once, at the first turn that needs it; `startable` is cheap. `chosen` is
    told who answers where no cell says it, `why` is why the first that was found does.
    """

    discover: Callable[[], Awaitable[tuple[ModelInfo, ...]]]
    startable: Callable[[], ModelRef | None]
    chosen: Callable[[ModelRef], None] = lambda _: None
    why: str = RUNS
    _found: tuple[ModelInfo, ...] | None = field(default=None)

    def known(self) -> tuple[ModelInfo, ...]:
        """Return what was found already; nobody is asked."""
        return self._found or ()

    async def running(self) -> tuple[ModelInfo, ...]:
        """Return the models of servers on loopback, in order of preference."""
        if self._found is None:
            self._found = await self.discover()
        return self._found


async def choose(
    named: Mapping[str, str | None], remembered: str | None, settings: Settings, finder: Finder
) -> Choice:
    """Choose a model. `named` are flags by source, `remembered` is the thread's own last model.

    A stand-in that nobody has named is no thread's own: see `stands_in`.

    Raises:
        SettingError: when a name is no model's name.
    """
    for source, name in named.items():
        if name:
            return Choice(parse_model(name), source)
    if remembered:
        # Never another model than the one a thread was written with: better an error than a switch.
        return Choice(parse_model(remembered), REMEMBERED)
    # Only now: what goes before a setting is not held up by one that cannot be used.
    setting = settings.get("model")
    by_itself = parse_model(setting.value) if setting.value else None
    choice = Choice(by_itself, setting.source) if by_itself else await _found(finder)
    finder.chosen(choice.model)
    return choice


async def _found(finder: Finder) -> Choice:
    if running := await finder.running():
        return Choice(running[0].ref, finder.why)
    if startable := finder.startable():
        return Choice(
            startable, "no setting names a model, none runs here, and this one can be started"
        )
    return Choice(OFFLINE, "no model is named, none runs here, and none can be started")


def guard_foreign(choice: Choice, *, foreign_folder: bool, settings: Settings) -> None:
    """Refuse an address that only a folder from elsewhere names.

    Raises:
        KeyRefused: a `.jan` folder may have come with a project; it must not say where text goes.
    """
    address = choice.model.address
    remembered = choice.why == REMEMBERED
    if address and remembered and foreign_folder and not _named(address, settings):
        raise KeyRefused(
            f"this thread's model is at {address}, which only the project's folder names",
            f"If you trust that server: %chat use {choice.model}",
        )


def _named(address: str, settings: Settings) -> bool:
    return any(address == host.address for host in settings.hosts.values())
