"""What is recorded or played in a kernel: one deck, and all chats of the kernel share it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ModelRef
from jan_magics.engine.playing import Missing, Playing, load
from jan_magics.engine.recording import Recording


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asked to be played; `path` None: nothing, whatever a setting says."""

    path: Path | None
    missing: Missing = "error"


@dataclass(frozen=True, slots=True)
class State:
    """What is played, and why."""

    wanted: Wanted | None = None
    playing: Playing | None = None
    loaded: Wanted | None = None


@dataclass(slots=True)
class Deck:
    """A recording, or a cassette that is played; never both at once.

    `wanted` goes before the setting `replay`; `earlier` is what was played before.
    """

    recording: Recording | None = None
    playing: Playing | None = None
    wanted: Wanted | None = None
    earlier: list[State] = field(default_factory=list)
    _loaded: Wanted | None = None

    def put_in(self, wanted: Wanted) -> State:
        """Want something else to be played, from its beginning; returns what was played so far."""
        before = State(self.wanted, self.playing, self._loaded)
        self.wanted, self.playing, self._loaded = wanted, None, None
        return before

    def put_back(self, before: State) -> None:
        """Go on with what was played before."""
        self.wanted, self.playing, self._loaded = before.wanted, before.playing, before.loaded

    def load(self, setting: str | None, folder: Path, notebook: str) -> Playing | None:
        """Return what is played now; a cassette that plays already goes on.

        Raises:
            SettingError: when a cassette cannot be read.
        """
        wanted = self.wanted or (Wanted(folder / Path(setting).expanduser()) if setting else None)
        if wanted is None or wanted.path is None:
            self.playing, self._loaded = None, None
        elif self.playing is None or self._loaded != wanted:
            self.playing, self._loaded = load(wanted.path, wanted.missing, notebook), wanted
        return self.playing

    def note_default(self, model: ModelRef) -> None:
        """Note who answers where no cell names a model."""
        if self.recording:
            self.recording.note_default(model)

    def told_time(self, now: Callable[[], datetime]) -> datetime:
        """Return the time of templates, in the user's zone: it stands still in a cassette."""
        if self.playing:
            return self.playing.header.time
        return self.recording.header.time if self.recording else now().astimezone()

    def told_notebook(self, name: str) -> str:
        """Return the notebook's name in templates: a headless kernel does not know its own."""
        if self.playing:
            return self.playing.header.notebook
        return self.recording.header.notebook if self.recording else name


def refuse_recording(deck: Deck) -> None:
    """Refuse to play while a recording goes on. Raises SettingError."""
    if deck.recording:
        raise SettingError(
            f"{deck.recording.path.name!r} is being recorded", "End it first: %chat record --off"
        )
