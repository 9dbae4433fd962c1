"""Recording: what is asked and answered goes into a cassette as it happens. Nothing is sent."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ModelRef
from jan_magics.engine.cassette import (
    SUFFIX,
    Cassette,
    Entry,
    Header,
    Kind,
    ModelFacts,
    key_of,
    line_of,
    merged,
    name_of,
    read_cassette,
)
from jan_magics.storage.files import ELSEWHERE, append, print_of, replace_file, translated

FAILED: Final = "failure"


@dataclass(slots=True)
class Recording:
    """A cassette that is written. Any thread may call; what was called is on the disk.

    What is asked again takes the place of what an earlier recording has of it; what is asked
    several times in this one is kept in order. The clock of templates stands where the cassette
    was begun, so that each of its entries is found again.
    """

    path: Path
    header: Header
    entries: list[Entry] = field(default_factory=list)
    faults: tuple[int, ...] = ()
    _mine: set[tuple[str, str]] = field(default_factory=set)
    _learned: set[str] = field(default_factory=set)
    _counted: dict[tuple[str, str], tuple[Json, int]] = field(default_factory=dict)
    _whole: bool = False
    _print: object = None
    _lock: RLock = field(default_factory=RLock)

    def add(self, kind: Kind, request: Json, events: Sequence[Json]) -> None:
        """Write an entry. Raises StoreError."""
        self.add_all(kind, [(request, events)])

    def add_all(self, kind: Kind, asked: Iterable[tuple[Json, Sequence[Json]]]) -> None:
        """Write entries of one kind at once. Raises StoreError."""
        with self._lock:
            self._catch_up()
            lines = [line_of(entry) for entry in self._put_counts()]
            for each, events in asked:
                # What is computed is the same each time, and kept once.
                if kind not in ("embed", "rerank") or not self._has(kind, each):
                    lines.append(line_of(self._put(kind, each, events)))
            self._write(lines)

    def learn(self, model: ModelRef, facts: ModelFacts) -> None:
        """Note what is known of a model; its counts were corrected as at the first turn."""
        with self._lock:
            name = name_of(model)
            if name in self._learned:
                facts = replace(facts, observed=self.header.models[name].observed)
            self._learned.add(name)
            if self.header.models.get(name) != facts:
                models = {**self.header.models, name: facts}
                self.header, self._whole = replace(self.header, models=models), True

    def note_default(self, model: ModelRef) -> None:
        """Note who answered where no cell named a model."""
        with self._lock:
            if self.header.default != name_of(model):
                self.header = replace(self.header, default=name_of(model))
                self._whole = True

    def note_count(self, request: Json, tokens: int) -> None:
        """Note how a text was counted; it is written with the next entry."""
        with self._lock:
            key = ("count", key_of("count", request))
            if key not in self._mine:
                self._counted[key] = (request, tokens)

    def begin(self) -> None:
        """Write the file, so that one that cannot be written is known now. Raises StoreError."""
        with self._lock:
            self._whole = True
            self._write([])

    def finish(self) -> None:
        """Write what was learned since the last entry. Raises StoreError."""
        with self._lock:
            self._catch_up()
            self._write([line_of(entry) for entry in self._put_counts()])

    def _put_counts(self) -> list[Entry]:
        counted, self._counted = self._counted, {}
        return [
            self._put("count", request, [[0, "tokens", tokens]])
            for request, tokens in counted.values()
        ]

    def _has(self, kind: Kind, request: Json) -> bool:
        return (kind, key_of(kind, request)) in self._mine

    def _put(self, kind: Kind, request: Json, events: Sequence[Json]) -> Entry:
        key = key_of(kind, request)
        places = [n for n, each in enumerate(self.entries) if (each.kind, each.key) == (kind, key)]
        entry = Entry(kind, key, 1, request, tuple(events))
        again = (kind, key) in self._mine
        self._mine.add((kind, key))
        if not places:
            self.entries.append(entry)
        elif again and not _failed(self.entries[places[-1]]):
            entry = replace(entry, n=len(places) + 1)
            self.entries.append(entry)
        elif again:  # the failure was mended, and the answer stands for both
            entry = replace(entry, n=len(places))
            self.entries[places[-1]], self._whole = entry, True
        else:
            self.entries[places[0]], self._whole = entry, True
            for place in reversed(places[1:]):
                del self.entries[place]
        return entry

    def _catch_up(self) -> None:
        """Take in what another kernel has written meanwhile."""
        if self._print is None or print_of(self.path) == self._print:
            return
        known, found = {(e.kind, e.key) for e in self.entries}, read_cassette(self.path)
        new = [each for each in found.entries if (each.kind, each.key) not in known]
        self.entries.extend(new)
        self._whole = True

    def _write(self, lines: Sequence[str]) -> None:
        with translated(self.path, ELSEWHERE):
            if self._whole:
                whole = [line_of(self.header), *map(line_of, self.entries)]
                self._print = replace_file(self.path, _bytes(whole))
                self._whole = False
            elif lines:
                self._print = append(self.path, _bytes(lines))


def begin_recording(path: Path, now: Callable[[], datetime], notebook: str) -> Recording:
    """Begin a cassette, or go on with the one that is there. Raises SettingError, StoreError."""
    found = read_cassette(path) if path.exists() else Cassette()
    if found.faults and not found.headers and not found.entries:
        raise SettingError(
            f"{path.name!r} is there, and is no cassette",
            f"Name another file, so that this one is not lost: %chat record NAME{SUFFIX}",
        )
    header = merged(found.headers, notebook) or Header(now().astimezone(), notebook)
    recording = Recording(path, header, list(found.entries), found.faults)
    recording.begin()
    return recording


def _failed(entry: Entry) -> bool:
    last = entry.events[-1] if entry.events else None
    return isinstance(last, list) and len(last) > 1 and last[1] == FAILED


def _bytes(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8")
