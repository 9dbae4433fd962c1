"""Threads to files and back, whole stores to the other form; paths are relative to the notebook."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from jan_magics.api.opening import current_host, resolved
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError, StoreError
from jan_magics.domain.messages import Thread
from jan_magics.domain.overlays import Hidden
from jan_magics.domain.protocols import Store
from jan_magics.engine.engine import Engine
from jan_magics.engine.naming import own
from jan_magics.engine.views import view_of
from jan_magics.notebook.pages import markdown_page, notebook_page, page_owner
from jan_magics.notebook.reading import hidden_in, read_notebook
from jan_magics.storage.convert import Converted, Kind, convert, is_there
from jan_magics.storage.files import ELSEWHERE, replace_file, translated
from jan_magics.storage.overlays import encode_overlay
from jan_magics.storage.thread_file import owner_of, write_thread_file
from jan_magics.storage.thread_folder import write_thread_folder
from jan_magics.storage.transfer import READABLE, Incoming, WholeStore, read_threads, take_in
from jan_magics.storage.upkeep import WholeThread

if TYPE_CHECKING:
    import pandas as pd

    from jan_magics.api.host import Host

_FORMATS: Final = ".json (all of the thread), .md or .ipynb (its active path), or a new folder"


@dataclass(frozen=True, slots=True)
class Exported:
    """What `%chat export` wrote, as a link beside the notebook."""

    path: Path
    folder: Path

    def __repr__(self) -> str:
        return f"exported to {self._relative()}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        shown = self._relative()
        link = f'exported to <a href="{escape(quote(shown))}">{escape(shown)}</a>'
        return {"text/plain": repr(self), "text/html": link}

    def _relative(self) -> str:
        try:
            return Path(os.path.relpath(self.path, self.folder)).as_posix()
        except ValueError:  # another drive
            return str(self.path)


def export_thread(host: "Host", path: str | Path) -> Path:
    """Write the current thread to a file or a data folder of Jan's, and return where it is.

    Raises:
        SettingError: for an unknown kind of file, or one that somebody else has made.
    """
    session = host.session()
    thread = session.current()
    if thread is None:
        raise SettingError("there is no thread to export yet", "Ask something first.")
    target = resolved(host, path)
    suffix = target.suffix.lower()
    with translated(target, ELSEWHERE):
        if target.is_dir() or not suffix:
            write_thread_folder(_whole_store(session.engine.store).whole(thread.id), target)
            return target
        if suffix not in (".json", ".md", ".ipynb"):
            raise SettingError(f"no thread can be written as {suffix!r}", f"Name a {_FORMATS}.")
        _check_free(target, thread)
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, _text(session.engine, thread, suffix).encode())
    return target


def import_threads(path: str | Path) -> "pd.DataFrame":
    """Read threads from a file of `export`, a notebook, or a data folder of Jan's.

    Ids are kept where they are free, and doing it twice changes nothing. A row for each thread
    says what became of it: added, unchanged, replaced (it took in what was new) or failed.

    Raises:
        SettingError: for a kind of file that holds no whole thread.
        StoreError: when there is nothing to read.
    """
    from jan_magics.api.tables import imported_table

    host = current_host()
    engine = host.session().engine
    store = _whole_store(engine.store)
    source = resolved(host, path)
    if not source.exists():
        raise StoreError(f"there is no {source}", "Name a file or folder that exists.")
    if source.suffix.lower() in (".md", ".markdown", ".txt", ".html"):
        raise SettingError(
            f"a {source.suffix} file cannot be read back: it has words, but no messages",
            "Export the thread as .json instead, which holds all of it.",
        )
    return imported_table([take_in(store, each) for each in _incoming(engine, source)])


def convert_store(kind: Kind) -> Converted:
    """Copy the store of the other kind into one of this kind; settings stay as they are.

    Raises:
        SettingError: when threads are kept in that kind already, and there are none of the other.
    """
    session = current_host().session()
    engine = session.engine
    other: Kind = "sqlite" if kind == "jsonl" else "jsonl"
    if session.settings().get("store").value == kind and not is_there(engine.folder, other):
        raise SettingError(
            f"threads are kept in {kind} already, and there are none in {other}",
            f"Copy them to the other kind: %chat store --convert {other}",
        )
    return convert(engine.folder, kind, engine.now)


def converted_text(kind: Kind, made: Converted) -> str:
    """Say what was copied, what could not be, and how to use it."""
    rows = (*made.threads, *made.binned)
    failed = [row for row in rows if row.status == "failed"]
    good = sum(row.status != "failed" for row in made.threads)
    lines = [
        f"{counted(good, 'thread')} and {len(rows) - len(failed) - good} in the bin are in "
        f"the {kind} store now; nothing was taken out of the other one",
        *(f"{row.thread} was not copied: {row.reason}" for row in failed),
        f"use it with: %config JanMagics.store = {kind!r}",
    ]
    return "\n".join(lines)


def _incoming(engine: Engine, source: Path) -> Iterator[Incoming]:
    if source.suffix.lower() != ".ipynb":
        yield from read_threads(source, engine.now())
        return
    with translated(source, READABLE):
        text = source.read_bytes()
    thread, messages = read_notebook(text, source.name, engine.now())
    answers = {message.id for message in messages if message.role == "assistant"}
    here = _thread_of(engine.store, source)
    if here is not None and answers <= {each.id for each in engine.store.messages(here.id)}:
        whole = WholeThread(here, (), (), {})
        yield Incoming(here.id, whole, "this notebook's own thread is here", partial=True)
        return
    records = [encode_overlay(Hidden(each)) for each in hidden_in(text)]
    yield Incoming(thread.id, WholeThread(thread, messages, records, {}), partial=True)


def _thread_of(store: Store, notebook: Path) -> Thread | None:
    threads = (row.thread for row in store.threads())
    return next((t for t in threads if own(t).get("notebook") == str(notebook)), None)


def _text(engine: Engine, thread: Thread, suffix: str) -> str:
    if suffix == ".json":
        return write_thread_file(_whole_store(engine.store).whole(thread.id))
    view = view_of(engine, thread)
    if suffix == ".md":
        return markdown_page(thread, view.path(), view.hidden)
    return notebook_page(thread, view.path(), view.hidden)


def _check_free(target: Path, thread: Thread) -> None:
    """Refuse to overwrite anything but an earlier export of the same thread."""
    if not target.exists():
        return
    text = target.read_text(encoding="utf-8", errors="replace")
    suffix = target.suffix.lower()
    owner = owner_of(text) if suffix == ".json" else page_owner(text, suffix)
    if owner != thread.id:
        raise SettingError(
            f"{target} exists and is no export of this thread",
            "Choose another name, or move that file away.",
        )


def _whole_store(store: Store) -> WholeStore:
    if not isinstance(store, WholeStore):
        raise StoreError("this store hands out no whole threads", "Set store to sqlite or jsonl")
    return store
