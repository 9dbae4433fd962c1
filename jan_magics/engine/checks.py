"""What `doctor` looks at: each check says what it saw and, when it is bad, what to do."""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError
from jan_magics.engine.mending import mend
from jan_magics.engine.session import Session
from jan_magics.engine.settings import Settings
from jan_magics.storage.upkeep import Upkeep

Grade: TypeAlias = Literal["ok", "warning", "error"]
PACKAGES: Final = ("jan-magics", "ipython", "ipykernel", "httpx", "apsw", "pandas", "jupyterlab")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's table."""

    name: str
    status: Grade
    detail: str
    fix: str | None = None


async def examine(
    session: Session, keys: Check | Mapping[str, tuple[str, ...]], *, fix: bool = False
) -> tuple[Check, ...]:
    """Check versions, settings, the store, what can answer, and keys by their source.

    `fix` mends the store first; what was done is a row. `keys` may be the row of a fault.
    """
    mended = mend(session.engine) if fix else ()
    running = await session.finder.running()
    startable = session.finder.startable()
    return (
        _versions(),
        _settings(session),
        _folder(session.engine.folder),
        _store(session),
        *_assistants(session),
        _check("running models", ", ".join(str(model.ref) for model in running)),
        _check("startable model", str(startable) if startable else ""),
        _answers(bool(running or startable)),
        _keys(keys),
        *((_check("mended", "; ".join(mended)),) if fix else ()),
    )


def examine_closed(
    settings: Settings, fault: JanError, keys: Check | Mapping[str, tuple[str, ...]]
) -> tuple[Check, ...]:
    """Check what can be checked where the store cannot be opened; `fault` says why."""
    faults = {each.message: each for each in (*settings.faults(), fault)}
    return (_versions(), wrong("settings", *faults.values()), _keys(keys))


def wrong(name: str, *faults: JanError) -> Check:
    """Return the row of what must be mended first."""
    said = "; ".join(fault.message for fault in faults)
    steps = dict.fromkeys(fault.next_step for fault in faults)
    return Check(name, "error", said, "; ".join(steps))


def _keys(keys: Check | Mapping[str, tuple[str, ...]]) -> Check:
    if isinstance(keys, Check):
        return keys
    named = (f"{provider}: {', '.join(sources)}" for provider, sources in keys.items())
    return _check("keys", "; ".join(named))


def _check(name: str, detail: str) -> Check:
    return Check(name, "ok", detail or "none")


def _answers(anything: bool) -> Check:  # noqa: FBT001 - private, and its name says it
    if anything:
        return Check("a model answers", "ok", "without any setting")
    return Check(
        "a model answers", "warning", "none runs here: answers are quotes of offline:quote",
        "Start Ollama, LM Studio, Jan or llama-server, or name a model: %chat use PROVIDER:NAME",
    )  # fmt: skip


def _versions() -> Check:
    found = [f"Python {sys.version.split()[0]}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return Check("versions", "ok", ", ".join(found))


def _settings(session: Session) -> Check:
    settings = session.settings()
    if faults := settings.faults():
        return wrong("settings", *faults)
    if settings.notes:
        return Check("settings", "warning", "; ".join(settings.notes), "Mend the file named.")
    return Check("settings", "ok", "readable")


def _folder(folder: Path) -> Check:
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    if _writable(existing):
        return Check("data folder", "ok", str(folder))
    return Check(
        "data folder", "error", f"{folder} cannot be written",
        "Set another one: %config JanMagics.data_folder = 'PATH'",
    )  # fmt: skip


def _assistants(session: Session) -> Iterator[Check]:
    """Say which files of assistants cannot be read; nothing where all can."""
    for row in session.assistants.rows():
        if row.fault:
            yield Check(
                "assistants", "warning", f"{row.path}: {row.fault}", "Mend or delete that file."
            )


def _writable(folder: Path) -> bool:
    """Tell whether a folder takes a new one: permissions alone do not say it for every system."""
    try:
        with tempfile.TemporaryDirectory(dir=folder):
            return True
    except OSError:
        return False


def _store(session: Session) -> Check:
    try:
        rows = session.engine.store.threads()
    except JanError as fault:
        return Check("threads", "error", fault.message, fault.next_step)
    store = session.engine.store
    if isinstance(store, Upkeep):
        faults = [*store.check()]
    else:
        faults = [f"{row.thread.id[:8]}: {row.fault}" for row in rows if row.fault]
    if faults:
        return Check("threads", "warning", "; ".join(faults), "Mend them: %chat doctor --fix")
    return Check("threads", "ok", counted(len(rows), "thread"))
