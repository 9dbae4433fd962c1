"""Which thread: by name, or the notebook's own. A name is a title, or the beginning of an id."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Final

from jan_magics.domain.errors import AmbiguousThread, ThreadNotFound
from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.overlays import CellLink
from jan_magics.domain.tree import ACTIVE_ROOT_KEY, Changes
from jan_magics.engine.asks import Turn
from jan_magics.engine.assistants import THREAD_KEY
from jan_magics.engine.cells import (
    Files,
    Here,
    asked_by,
    decide,
    formerly,
    is_elsewhere,
    known_thread,
    remembered,
    spot_of_run,
)
from jan_magics.engine.copies import copy_path
from jan_magics.engine.engine import Engine
from jan_magics.engine.naming import (
    existing_thread,
    find_again,
    next_number,
    own,
    plain_name,
    shown_title,
    sound,
    unnamed,
    usable_title,
)
from jan_magics.engine.records import KEY
from jan_magics.engine.spots import Spot
from jan_magics.engine.views import View

_NOT_COPIED: Final = (KEY, ACTIVE_ROOT_KEY, "titleSetManually")


@dataclass(slots=True)
class Threads:
    """The threads of a store as one kernel sees them; `here` is where the running call is from.

    `own_id` is the thread of the notebook that was given as `notebook`, also when the thread was
    deleted meanwhile. `names` are those that led to a thread here, with its id.
    """

    engine: Engine
    here: Callable[[], Here]
    files: Files
    own_id: str | None = None
    notebook: str = ""
    root: bool = False
    last: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    _making: RLock = field(default_factory=RLock)

    def named(self, name: str | None) -> Thread | None:
        """Return the thread of that name, without a name the notebook's own, else None.

        The own thread follows a notebook that was moved; for a copied one it is copied.
        """
        return self._find(name, writing=True) if name else self._own(writing=True)

    def seen(self, name: str | None) -> Thread | None:
        """Return what `named` does, and write nothing; a copied notebook sees the original."""
        return self._find(name, writing=False) if name else self._own(writing=False)

    def obtain(self, name: str | None) -> Thread:
        """Return the thread that is meant, or make it.

        Callers at one moment get the same; of a name also callers in several processes.
        """
        with self._making:
            return self.named(name) or self.create(name)

    def create(self, name: str | None) -> Thread:
        """Make a thread, or return the one of that name; SettingError when it cannot be a name."""
        title = usable_title(name) if name else ""
        here = self.here()
        known: dict[str, Json] = {"notebook": here.notebook} if here.notebook else {}
        if here.notebook and not title:
            known["cells"] = list[Json](remembered((), asked_by(here, self.files)))
            if number := next_number(unnamed(self.engine.store, here.notebook)):
                known["number"] = number
        thread = self.engine.new_thread(title, known)
        self.names |= {title or thread.id: thread.id, thread.id: thread.id}
        if not title:
            self._is_own(thread.id, here)
        return thread

    def note(self, thread: Thread) -> Thread:
        """Remember the cell that asks, so that its notebook is known by it later."""
        here = self.here()
        cells = own(thread).get("cells")
        if thread.id != self.own_id or not isinstance(cells, list) or here.marks <= {*cells}:
            return thread
        return self.keep(thread.id, cells=list(remembered(cells, asked_by(here, self.files))))

    def keep(self, identifier: str, **values: Json) -> Thread:
        """Keep values in a thread's metadata beside what others keep there meanwhile."""
        thread = self.engine.store.thread(identifier)
        known: dict[str, Json] = {**own(thread), **values}
        if known == own(thread):
            return thread
        self.engine.store.update_thread(identifier, metadata={KEY: known})
        return replace(thread, metadata={**thread.metadata, KEY: known})

    def spot(self, view: View) -> Spot | None:
        """Return where a call of a run without cell ids goes; None where cells are known."""
        if not self._owns(view.thread) or not self.here().headless:
            return None
        return spot_of_run(view.index, self.last, begins=self.root)

    def follow(self, turn: Turn) -> None:
        """Remember a turn as this kernel's newest in the notebook's own thread; no side turn is."""
        if self._owns(turn.thread) and turn.question.id in turn.index:
            self.last, self.root = turn.newest.id, False

    def is_same(self, view: View, link: CellLink) -> bool:
        """Tell whether a cell of that id is this notebook's: two may share a thread with a name."""
        if self._owns(view.thread) or link.notebook == self.here().notebook:
            return True
        return not is_elsewhere(link.notebook, link.cell, self.files)

    def existing(self, name: str) -> Thread:
        """Return the thread of that name. Raises ThreadNotFound with the nearest names."""
        return self.seen(name) or existing_thread(self.engine.store, name)

    def _find(self, name: str, *, writing: bool) -> Thread | None:
        """Find a thread by name; the notebook's own also by the name that its footer shows."""
        found = find_again(self.engine.store, name, self.names)
        return found or self._untitled(plain_name(name), self._own(writing=writing))

    def _untitled(self, name: str, mine: Thread | None) -> Thread | None:
        """Find a thread of this notebook by what its footer shows. Raises AmbiguousThread."""
        notebook = self.here().notebook
        others = unnamed(self.engine.store, notebook) if notebook else ()
        threads = (*others, *((mine,) if mine else ()))
        found = {each.id: each for each in threads if shown_title(each) == name}
        if len(found) > 1:
            raise AmbiguousThread(name, [*found])
        return next(iter(found.values()), None)

    def _own(self, *, writing: bool) -> Thread | None:
        here, store = self.here(), self.engine.store
        if self.own_id and self.notebook == here.given:
            # A deleted one stays the own until another is made; it is not looked for elsewhere.
            with suppress(ThreadNotFound):
                mine = store.thread(self.own_id)
                return self._followed(mine, here) if writing else mine
            return None
        rows = store.threads() if here.notebook else ()
        known = filter(None, (known_thread(row.thread.id, own(row.thread)) for row in rows))
        verdict = decide(here, list(known), self.files)
        row = next((row for row in rows if row.thread.id == verdict.thread), None)
        if row is None or not writing:
            return sound(row) if row else None
        thread = sound(row)
        if verdict.kind == "moved":
            thread = self._moved(thread, here)
        elif verdict.kind == "copied":
            thread = _copy(self.engine, thread, here)
        self._is_own(thread.id, here)
        self.root = verdict.root
        return thread

    def _owns(self, thread: Thread | None) -> bool:
        return thread is not None and thread.id == self.own_id

    def _is_own(self, identifier: str, here: Here) -> None:
        self.own_id, self.notebook = identifier, here.given
        self.root, self.last = False, None

    def _followed(self, thread: Thread, here: Here) -> Thread:
        """Follow a notebook that was renamed while its kernel lives, unless another is meant."""
        if here.notebook == here.given or own(thread).get("notebook") == here.notebook:
            return thread
        others = (row.thread for row in self.engine.store.threads())
        taken = any(own(each).get("notebook") == here.notebook for each in others)
        return thread if taken else self._moved(thread, here)

    def _moved(self, thread: Thread, here: Here) -> Thread:
        """Let a thread know where its notebook lies now, and where it lay."""
        former = formerly(own(thread), here.notebook)
        return self.keep(thread.id, notebook=here.notebook, former=list[Json](former))


def go_back(threads: Threads, identifier: str) -> None:
    """Let a notebook go on in its own thread that came back from the bin."""
    here, mine = threads.here(), own(threads.engine.store.thread(identifier))
    known = known_thread(identifier, mine)
    if known is None or not known.lay_at(here.notebook):
        return
    meanwhile = threads.own_id
    if meanwhile and meanwhile != identifier:
        with suppress(ThreadNotFound):
            # The thread made meanwhile stays, and is the notebook's own no longer.
            cells = own(threads.engine.store.thread(meanwhile)).get("cells")
            number = next_number(unnamed(threads.engine.store, here.notebook))
            threads.keep(meanwhile, cells=None, number=number)
            threads.keep(identifier, cells=[*dict.fromkeys((*mine["cells"], *(cells or ())))])
    threads.own_id, threads.notebook = identifier, here.given
    threads.root, threads.last = False, None


def _copy(engine: Engine, source: Thread, here: Here) -> Thread:
    """Make a thread that copies the active path of another, which stays as it is."""
    thread = engine.new_thread("", {"notebook": here.notebook})
    held = engine.trees.of(source.id)
    copied = copy_path(
        held.index.path(),
        held.records,
        thread=thread.id,
        notebook=here.notebook,
        new_id=engine.new_id,
    )
    engine.apply(thread, Changes(copied.messages), copied.overlays)
    # Last, for a thread that knows its cells is the notebook's own: half a copy never is.
    metadata = {k: v for k, v in source.metadata.items() if k not in _NOT_COPIED}
    known = {**own(source), "notebook": here.notebook}
    known.pop("number", None)
    whom = {key: value for key, value in source.extra.items() if key == THREAD_KEY}
    engine.store.update_thread(thread.id, metadata={**metadata, KEY: known}, extra=whom)
    return engine.store.thread(thread.id)


def former_paths(threads: Threads) -> list[str]:
    """Return the paths that this notebook had before, the newest last."""
    with suppress(ThreadNotFound):
        thread = threads.seen(None)
        return formerly(own(thread), threads.here().notebook) if thread else []
    return []
