"""Playing: a cassette answers, and everything that could differ between two runs stands still.

Ids come from a counter, the time is that of the cassette, and the store is a scratch one.
"""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import NotRecorded, SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ModelInfo, ModelRef, parse_model
from jan_magics.engine.cassette import (
    SUFFIX,
    Entry,
    Header,
    Kind,
    ModelFacts,
    by_key,
    key_of,
    merged,
    name_of,
    read_cassette,
)
from jan_magics.engine.differences import told_difference

Missing: TypeAlias = Literal["error", "live", "offline"]
"""What is done about a request that is not recorded."""
MISSING: Final[tuple[Missing, ...]] = ("error", "live", "offline")


@dataclass(slots=True, weakref_slot=True, eq=False)
class Playing:
    """A cassette that answers. Equal requests are answered in the order of recording, then as last.

    `name` is what is played, for people. `faults` say which lines were skipped. `used` counts the
    answers given by kind and key, `missed` are the requests that are not recorded. `paced`: what
    was said comes as slowly as it was recorded. `path` is its file or folder.
    """

    name: str
    header: Header
    recorded: Mapping[tuple[str, str], Sequence[Entry]]
    missing: Missing = "error"
    faults: tuple[str, ...] = ()
    paced: bool = False
    path: Path | None = None
    used: dict[tuple[str, str], int] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    folder: Path = field(init=False)
    _ids: int = 0
    _lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="jan-replay-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def take(self, kind: Kind, request: Json) -> Entry | None:
        """Return what is recorded for a request, None where nothing is; it is noted as asked."""
        key = (kind, key_of(kind, request))
        with self._lock:
            found = self.recorded.get(key, ())
            if not found:
                return None
            number = self.used.get(key, 0)
            self.used[key] = number + 1
            return found[min(number, len(found) - 1)]

    def missed_for(self, kind: Kind, request: Json) -> NotRecorded:
        """Note a request that is not recorded, and return the error that says what changed."""
        entries = [each for (k, _), found in self.recorded.items() if k == kind for each in found]
        changed = told_difference(request, [each.request for each in entries])
        error = NotRecorded(self.name, changed)
        with self._lock:
            self.missed.append(error.message)
        return error

    def facts(self, model: ModelRef) -> ModelFacts | None:
        """Return what was known of a model, None for one that was not asked."""
        return self.header.models.get(name_of(model))

    def models(self) -> tuple[ModelInfo, ...]:
        """Return the recorded models: first the one that answered where no cell named one."""
        names = sorted(self.header.models, key=lambda name: (name != self.header.default, name))
        return tuple(
            ModelInfo(parse_model(name), self.header.models[name].window) for name in names
        )

    def now(self) -> datetime:
        """Return the time of the cassette, a millisecond later with every id: order is kept."""
        return self.header.time.astimezone(UTC) + timedelta(milliseconds=self._ids)

    def new_id(self) -> str:
        """Return 32 hex digits, the same at every run."""
        with self._lock:
            self._ids += 1
            return hashlib.sha256(str(self._ids).encode()).hexdigest()[:32]

    def unused(self) -> tuple[Entry, ...]:
        """Return the entries that answered nothing so far; counts are asked for as it comes."""
        return tuple(
            entry
            for key, found in self.recorded.items()
            for number, entry in enumerate(found)
            if entry.kind != "count" and number >= self.used.get(key, 0)
        )


def load(path: Path, missing: Missing, notebook: str) -> Playing:
    """Load a cassette, or every cassette of a folder as one.

    Raises:
        SettingError: when there is none, or it cannot be read.
    """
    paths = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not paths:
        raise SettingError(
            f"the folder {path.name!r} holds no cassette",
            f"A cassette is a file NAME{SUFFIX}; record one: %chat record",
        )
    headers, entries, faults = list[Header](), list[Entry](), list[str]()
    for each in paths:
        found = read_cassette(each)
        headers.extend(found.headers)
        entries.extend(found.entries)
        faults.extend(_told(each, found.faults))
    header = merged(headers, notebook)
    if header is None:
        raise SettingError(
            f"{path.name!r} is no cassette: no line says when it was recorded",
            "Record it again: %chat record FILE",
        )
    return Playing(path.name, header, by_key(entries), missing, tuple(faults), path=path)


def _told(path: Path, faults: Sequence[int]) -> Iterable[str]:
    if faults:
        lines = ", ".join(map(str, faults[:8])) + (", …" if len(faults) > 8 else "")
        which = f"line {lines} is" if len(faults) == 1 else f"lines {lines} are"
        yield f"{path.name}: {which} skipped, nobody can read that"
