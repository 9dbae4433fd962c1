"""Recording and replaying from Python: `jan.replay`, and what the verbs of the same names do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

from jan_magics.api.host import Host
from jan_magics.api.opening import current_host, resolved
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError, SettingError
from jan_magics.domain.secrets import GUESSED, PEOPLE
from jan_magics.engine.cassette import SUFFIX
from jan_magics.engine.deck import refuse_recording
from jan_magics.engine.paging import LongResults
from jan_magics.engine.playing import MISSING, Missing, Playing, load
from jan_magics.engine.recording import Recording, begin_recording

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {"sqlite": "as sqlite: one file, jan.db", "jsonl": "as jsonl: Jan's own files, in threads/"}
)


@contextmanager
def replay(file: str | Path, missing: Missing = "error") -> Iterator[None]:
    """Answer from a cassette, or from those of a folder, as long as this lasts.

    What is asked and said meanwhile goes into a scratch store. `missing`: what is done about a
    request that is not recorded: error, live (its model is asked) or offline (a quote).

    Raises:
        SettingError: when there is no such cassette.
        NotRecorded: at a request that is not in it.
    """
    host = current_host()
    begin_replay(host, file, missing)
    try:
        yield
    finally:
        end_replay(host)


def cassette_path(host: Host, file: str | Path | None, verb: str = "replay") -> Path:
    """Return a cassette's path: as named, else beside the notebook. Raises SettingError."""
    if file:
        return resolved(host, file)
    notebook = host.opening.path()
    if notebook is None:
        raise SettingError(
            "nothing here says which notebook this is, so its cassette needs a name",
            f"Name one: %chat {verb} lesson{SUFFIX}",
        )
    return beside(notebook)


def played_path(host: Host, file: str | Path | None) -> Path:
    """Return what is to be played: without a name, the notebook's own cassette if it has one.

    Else what is played already: a copy of a notebook has none beside it. Raises SettingError.
    """
    playing, notebook = host.opening.deck.playing, host.opening.path()
    own = notebook and beside(notebook)
    if file or playing is None or playing.path is None or (own and own.exists()):
        return cassette_path(host, file)
    return playing.path


def beside(notebook: Path) -> Path:
    """Return the path of a notebook's own cassette."""
    return notebook.with_name(f"{notebook.stem}{SUFFIX}")


def this_notebook(host: Host) -> Path:
    """Return the path of this notebook. Raises SettingError where nothing tells it."""
    if notebook := host.opening.path():
        return notebook
    raise SettingError(
        "nothing here says which notebook this is",
        "Say it: %config JanMagics.notebook = 'lesson.ipynb'   or on the command line:"
        " jan-magics replay lesson.ipynb --check",
    )


def begin_replay(host: Host, file: str | Path | None, missing: str = "error") -> Playing:
    """Play a cassette from its beginning. Raises SettingError; all is as before then."""
    named = _missing(missing)
    deck, notebook = host.opening.deck, host.opening.path()
    _settle(host)
    path = played_path(host, file)
    refuse_recording(deck)
    _refuse_running(host)
    playing = load(path, named, notebook.name if notebook else "")
    deck.put_in(playing)
    try:
        session = host.session()
    except JanError:
        deck.take_out()
        raise
    session.toolbox.long = LongResults()  # their names count from 1, as they did
    return playing


def change_missing(host: Host, missing: str) -> Playing | None:
    """Change what is done about a request that is not recorded; None where nothing is played.

    The cassette goes on from where it is, and the thread with it. Raises SettingError.
    """
    named = _missing(missing)
    playing = host.opening.deck.playing if _settle(host) else None
    if playing:
        playing.missing = named
    return playing


def end_replay(host: Host) -> bool:
    """Go on as before the replay; False where nothing was played."""
    deck = host.opening.deck
    if not _settle(host):
        return True
    if deck.playing is None:
        return False
    _refuse_running(host)
    deck.take_out()
    host.session()
    return True


def begin_record(host: Host, file: str | Path | None) -> str:
    """Record into a cassette from now on, and say so. Raises SettingError, StoreError."""
    deck, session = host.opening.deck, host.session()
    if deck.playing:
        return f"not recorded: {deck.playing.name} is being replayed"
    path, notebook = cassette_path(host, file, "record"), host.opening.path()
    name = notebook.name if notebook else ""
    deck.recording = begin_recording(path, session.engine.now, name)
    session.toolbox.long = LongResults()
    lines = [f"recording into {path.name}"]
    if answers := _answers(deck.recording):
        began = f"{deck.recording.header.time:%Y-%m-%d %H:%M}"
        lines.append(f"it holds {counted(answers, 'answer')}, and its clock stands at {began}")
    if faults := deck.recording.faults:
        lines.append(f"{counted(len(faults), 'line')} that cannot be read: left out")
    if length := len(session.glance().path()):
        lines.append(
            f"a replay begins without the {counted(length, 'message')} of this thread: run all"
            " cells from the first, or begin anew with %chat new"
        )
    return "\n".join(lines)


def end_record(host: Host) -> str:
    """End a recording, and say what it holds."""
    from jan_magics.engine.leak_search import leaks_in_file

    deck = host.opening.deck
    recording, deck.recording = deck.recording, None
    if recording is None:
        return "nothing is being recorded"
    recording.finish()
    name, held = recording.path.name, counted(_answers(recording), "answer")
    found = sum(each.kind not in (*PEOPLE, GUESSED) for each in leaks_in_file(recording.path, name))
    warned = (
        f"\nit holds what looks like {counted(found, 'key')}: %chat leaks {name}" if found else ""
    )
    return f"{name} holds {held} · replay it: %chat replay {name}{warned}"


def _answers(recording: Recording) -> int:
    return sum(entry.kind == "chat" for entry in recording.entries)


def told(playing: Playing) -> str:
    """Say what is played, and which of its lines nobody can read."""
    answers = sum(len(found) for (kind, _), found in playing.recorded.items() if kind == "chat")
    said = f"replaying {counted(answers, 'answer')} of {playing.name}; no model is asked"
    return "\n".join((said, *playing.faults))


def kept_in(host: Host) -> str:
    """Say where threads are kept, and what is recorded or replayed."""
    session = host.session()
    deck = session.engine.deck
    if deck.playing:
        return f"a scratch one, while {deck.playing.name} is replayed"
    taped = f", recording into {deck.recording.path.name}" if deck.recording else ""
    return f"{session.engine.folder}{taped}"


def how_kept(host: Host) -> str:
    """Say where threads are kept, and in which way."""
    session, place = host.session(), kept_in(host)
    store = session.opened["store"] or "sqlite"
    if session.engine.deck.playing:
        return place
    return f"{place}, {_KINDS[store]}" if store in _KINDS else f"{store}, all else in {place}"


def _missing(named: str) -> Missing:
    for each in MISSING:
        if each == named:
            return each
    raise SettingError(f"missing is {named!r}", f"It can be: {', '.join(MISSING)}")


def _settle(host: Host) -> bool:
    """Let what a setting names be played first; False where it cannot be, and is let go of."""
    deck = host.opening.deck
    try:
        host.session()
    except SettingError:
        deck.take_out()
        host.session()
        return False
    return True


def _refuse_running(host: Host) -> None:
    if host.bridge.running:
        raise SettingError("a turn is still going on", "Wait for it, or end it: %chat stop")
