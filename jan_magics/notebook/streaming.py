"""Turns that pages in JupyterLab follow word by word: only what is new goes out."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from jan_magics.notebook.live import FASTEST, Display
from jan_magics.notebook.markdown import neutralise
from jan_magics.notebook.render import MIME, live_turn
from jan_magics.notebook.wording import worded

KEEP_EVERY: Final = 3.0
"""Seconds between two displays of all of the text, which a page that comes late begins with."""
WORK: Final = 5
"""At least so many times the seconds that making the text safe takes lie between two looks."""

Say = Callable[[Mapping[str, object]], None]


@dataclass(slots=True)
class Stream:
    """A turn that runs: `id` is that of its display, `cell` where it began, "" where nobody says.

    `markdown` is the text so far, safe in any front end. `stop` ends the turn.
    """

    id: str
    cell: str = ""
    markdown: str = ""
    note: str = ""
    stop: Callable[[], None] | None = None


@dataclass(slots=True)
class Streams:
    """The turns of a kernel that run. `say` speaks to every page; `followed`: there is one."""

    say: Say
    followed: Callable[[], bool]
    running: dict[str, Stream] = field(default_factory=dict)

    def begin(self, cell: str) -> Stream:
        """Begin a turn."""
        stream = Stream(secrets.token_hex(16), cell)
        self.running[stream.id] = stream
        return stream

    def tell(self, stream: Stream, markdown: str, note: str) -> None:
        """Send pages what is new of a turn; what stood there before may have changed too."""
        if (markdown, note) == (stream.markdown, stream.note):
            return
        kept = _shared(stream.markdown, markdown)
        stream.markdown, stream.note = markdown, note
        self._send(stream, kept)

    def again(self) -> None:
        """Send the whole of each turn, for a page that has been loaded since it began."""
        for stream in tuple(self.running.values()):
            self._send(stream, 0)

    def _send(self, stream: Stream, kept: int) -> None:
        """Send the text of a turn but for so many characters, which pages have."""
        self.say({
            "kind": "turn", "turn": stream.id, "cell": stream.cell,
            "at": _units(stream.markdown[:kept]), "text": stream.markdown[kept:],
            "note": stream.note,
        })  # fmt: skip

    def end(
        self, stream: Stream, bundle: Mapping[str, object] | None = None, said: str = ""
    ) -> None:
        """Say that a turn is over; `bundle` goes to pages where no display of it is.

        `said` is why there is none.
        """
        if self.running.pop(stream.id, None) is not None:
            self.say({
                "kind": "over", "turn": stream.id, "cell": stream.cell, "bundle": bundle,
                "said": said,
            })  # fmt: skip

    def stop(self, turn: str) -> bool:
        """Stop a turn, from any thread; False where none of that name runs."""
        stream = self.running.get(turn)
        if stream is None or stream.stop is None:
            return False
        stream.stop()
        return True


@dataclass(slots=True)
class PageDisplay:
    """A display of the running cell that pages follow; other front ends see it now and then."""

    streams: Streams
    cell: str
    language: str = ""
    stream: Stream = field(init=False)
    _handle: Any = None
    _next: float = 0.0
    _keep: float = 0.0

    def __post_init__(self) -> None:
        self.stream = self.streams.begin(self.cell)
        self._keep = perf_counter() + KEEP_EVERY

    def open(self, note: str) -> None:
        """Take a place in the running cell at once."""
        self.stream.note = worded(note, self.language)
        self._send(self._whole())

    def update(self, text: str, note: str) -> None:
        """Send what is new; may be called more often than it sends."""
        now = perf_counter()
        if now < self._next:
            return
        if self._handle is None:
            self.open(note)
        markdown = neutralise(text)
        self.streams.tell(self.stream, markdown, worded(note, self.language))
        self._next = now + max(FASTEST, WORK * (perf_counter() - now))
        if now >= self._keep and markdown:
            self._keep = now + KEEP_EVERY + len(markdown) / 20_000
            self._send(self._whole())

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Show the final form."""
        self._send(bundle)
        self.streams.end(self.stream)

    def clear(self, said: str = "no answer") -> None:
        """Say that nothing came; the error below says why."""
        if self._handle is not None:
            self._send({"text/plain": worded(said, self.language)})
        self.streams.end(self.stream)

    def _whole(self) -> dict[str, object]:
        stream = self.stream
        return live_turn(stream.id, stream.cell, stream.markdown, stream.note)

    def _send(self, bundle: Mapping[str, object]) -> None:
        from IPython.display import display  # the notebook floor loads without a front end

        if self._handle is None:
            self._handle = display(dict(bundle), raw=True, display_id=self.stream.id)
        else:
            self._handle.update(dict(bundle), raw=True)


@dataclass(slots=True)
class PageTurn:
    """A turn that a page has asked for; `shown` is where the answer stood before, if it is here."""

    streams: Streams
    cell: str
    shown: Display | None = None
    language: str = ""
    stream: Stream = field(init=False)
    _next: float = 0.0

    def __post_init__(self) -> None:
        self.stream = self.streams.begin(self.cell)

    def open(self, note: str) -> None:
        """Say what happens."""
        self.streams.tell(self.stream, "", worded(note, self.language))

    def update(self, text: str, note: str) -> None:
        """Send what is new; may be called more often than it sends."""
        now = perf_counter()
        if now >= self._next:
            said = worded(note, self.language)
            self.streams.tell(self.stream, neutralise(text), said)
            self._next = now + max(FASTEST, WORK * (perf_counter() - now))

    def finish(self, bundle: Mapping[str, object]) -> None:
        """Show the final form where the answer stood; without an answer that one stays."""
        if MIME not in bundle:
            self.clear(str(bundle.get("text/plain", "")))
            return
        if self.shown is not None:
            self.shown.finish(bundle)
        self.streams.end(self.stream, bundle)

    def clear(self, said: str = "no answer") -> None:
        """Say why there is no answer."""
        self.streams.end(self.stream, None, worded(said, self.language))


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _units(text: str) -> int:
    """Count as JavaScript does: a character beyond the first plane is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
