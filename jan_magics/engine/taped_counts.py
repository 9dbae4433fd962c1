"""Counts of tokens beside a deck: exact ones are recorded, and played where nobody can count."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from jan_magics.domain.messages import FilePart, Json, Role
from jan_magics.domain.models import ModelRef
from jan_magics.domain.protocols import Framing, Tokenizer
from jan_magics.engine.cassette import ModelFacts, key_of, name_of
from jan_magics.engine.live_counts import LiveCounts
from jan_magics.engine.playing import Playing
from jan_magics.engine.recording import Recording

ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Sized:
    """How the tokens of a model are counted, and what is known of it."""

    tokenizer: Tokenizer
    facts: ModelFacts


@dataclass(slots=True, eq=False)
class NotedCounts:
    """An exact tokenizer, or a server's own counts, of which every count is recorded.

    `window` is the server's, in tokens, and `lacks` what it says that its model cannot.
    """

    base: Any
    recording: Recording
    model: ModelRef
    window: int = 0
    lacks: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return who counts."""
        return str(self.base.name)

    @property
    def exact(self) -> bool:
        """Return True."""
        return True

    def count(self, text: str) -> int:
        """Return the tokens of a text. Raises LookupError as the server's counts do."""
        tokens = int(self.base.count(text))
        self.recording.note_count(count_request(self.model, text), tokens)
        return tokens

    def overhead(self, role: Role) -> int:
        """Return the marks around a message."""
        return int(self.base.overhead(role))

    def opening(self, *, system: bool) -> int:
        """Return the marks around a request, 0 where nobody says."""
        return int(self.base.opening(system=system)) if isinstance(self.base, Framing) else 0

    def image(self, part: FilePart) -> int:
        """Return the tokens of an image."""
        return int(self.base.image(part))

    async def fill(self, texts: Iterable[str]) -> None:
        """Ask for the tokens of texts. Raises ProviderError."""
        await self.base.fill(texts)


@dataclass(frozen=True, slots=True)
class PlayedCounts:
    """Counts out of a cassette; a text that is not in it is estimated."""

    playing: Playing
    model: ModelRef
    marks: Mapping[str, Any]
    estimate: Tokenizer

    @property
    def name(self) -> str:
        """Return who has counted."""
        return str(self.marks.get("name", "recorded"))

    @property
    def exact(self) -> bool:
        """Return True: it was counted."""
        return True

    def count(self, text: str) -> int:
        """Return the tokens of a text as they were counted, else about."""
        found = self.playing.recorded.get(("count", _key(count_request(self.model, text))))
        line = found[0].events[0] if found and found[0].events else None
        counted = line[-1] if isinstance(line, list) else None
        return counted if isinstance(counted, int) else self.estimate.count(text)

    def overhead(self, role: Role) -> int:
        """Return the marks around a message."""
        return int(self.marks.get("overhead", {}).get(role, 0))

    def opening(self, *, system: bool) -> int:
        """Return the marks around a request."""
        return int(self.marks.get("opening", {}).get("system" if system else "bare", 0))

    def image(self, part: FilePart) -> int:
        """Return an estimate by size."""
        return self.estimate.image(part)


def count_request(model: ModelRef, text: str) -> dict[str, Json]:
    """Return what a recorded count is found by; the text itself is in the requests already."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"model": name_of(model), "sha256": digest}


def noted(
    recording: Recording | None, model: ModelRef, tokenizer: Tokenizer, facts: ModelFacts
) -> Sized:
    """Record what is known of a model; an estimate is the same everywhere and is not recorded."""
    if recording is None:
        return Sized(tokenizer, facts)
    if tokenizer.exact:
        live = tokenizer if isinstance(tokenizer, LiveCounts) else None
        base, window = (live.server, live.server.window) if live else (tokenizer, 0)
        noting = NotedCounts(base, recording, model, window, frozenset(facts.lacks))
        facts = replace(facts, counts=_marks(noting))
        tokenizer = replace(live, server=noting, missing={}) if live else noting
    recording.learn(model, facts)
    return Sized(tokenizer, facts)


def played(playing: Playing, model: ModelRef, facts: ModelFacts, estimate: Tokenizer) -> Tokenizer:
    """Return the counts of a cassette, else an estimate."""
    return PlayedCounts(playing, model, facts.counts, estimate) if facts.counts else estimate


def _marks(counts: NotedCounts) -> dict[str, Json]:
    return {
        "name": counts.name,
        "opening": {"system": counts.opening(system=True), "bare": counts.opening(system=False)},
        "overhead": {role: counts.overhead(role) for role in ROLES},
    }


def _key(request: Json) -> str:
    return key_of("count", request)
