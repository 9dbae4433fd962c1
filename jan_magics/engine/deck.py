"""What is recorded or played in a kernel: one deck, and all chats of the kernel share it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ModelRef
from jan_magics.engine.playing import Playing, load
from jan_magics.engine.recording import Recording

OFF: Final = "%chat replay --off"


@dataclass(slots=True)
class Deck:
    """A recording, or a cassette that is played; never both at once.

    `earlier` is what was played before, to go on with.
    """

    recording: Recording | None = None
    playing: Playing | None = None
    earlier: list[Playing | None] = field(default_factory=list)
    _asked: bool = False

    def load(self, setting: str | None, folder: Path, notebook: str) -> None:
        """Play what the setting `replay` says, when a kernel asks for the first time.

        Raises:
            SettingError: when a cassette cannot be read.
        """
        if not self._asked and setting:
            try:
                self.playing = load(folder / Path(setting).expanduser(), "error", notebook)
            except SettingError as fault:
                fault.next_step = f"The setting replay names it. Go on without: {OFF}"
                raise
        self._asked = True

    @property
    def sealed(self) -> bool:
        """Tell whether nothing may be sent: a cassette is played, and nobody wants it live."""
        return self.playing is not None and self.playing.missing != "live"

    def put_in(self, playing: Playing) -> None:
        """Play something else from now on."""
        self.earlier.append(self.playing)
        self.playing = playing

    def take_out(self) -> None:
        """Go on with what was played before; what a setting says ends for this kernel."""
        self.playing, self._asked = self.earlier.pop() if self.earlier else None, True

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
