"""Where a chat is opened: in a kernel, a terminal or a script; and the one that cells use."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from jan_magics.api.foreign import Frames
from jan_magics.api.host import Host
from jan_magics.domain.errors import SettingError, StoreError
from jan_magics.engine.assemble import Opening
from jan_magics.engine.deck import Deck
from jan_magics.engine.places import FOLDER
from jan_magics.engine.toolbox import Toolbox
from jan_magics.notebook.buttons import buttons_of
from jan_magics.notebook.identity import (
    NotebookFiles,
    cell_marks,
    in_kernel,
    notebook_path,
    told_by_front_end,
)
from jan_magics.storage.files import translated
from jan_magics.storage.postgres_url import is_postgres
from jan_magics.storage.upkeep import Upkeep

ATTRIBUTE: Final = "jan_magics_host"
"""Where the one engine of a kernel hangs on its shell; it survives %reload_ext."""


def shell_here() -> Any:
    """Return the running IPython shell, None in a plain script."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def host_here(
    explicit: Mapping[str, object] | None = None,
    api_key: str | None = None,
    deck: Deck | None = None,
) -> Host:
    """Make a host for this kernel, terminal or script; nothing is opened yet.

    `deck` is what is recorded or played; all that is opened in a kernel shares one.
    """
    shell, deck = shell_here(), deck or Deck()
    # One for all that is opened here: servers of tools go on when the store is changed.
    box = Toolbox(lambda: shell.user_ns if shell else vars(sys.modules["__main__"]), Frames())
    if shell is None:
        opening = Opening(
            NotebookFiles(),
            explicit=explicit or {},
            toolbox=lambda: box,
            deck=deck,
            api_key=api_key,
        )
        return Host(opening)
    buttons_of(shell)  # a page must have answered before the first question
    opening = Opening(
        NotebookFiles(),
        notebook=partial(_notebook, shell),
        marks=partial(cell_marks, shell),
        configured=lambda: configured(shell),
        explicit=explicit or {},
        toolbox=lambda: box,
        deck=deck,
        api_key=api_key,
    )
    return Host(opening, shell)


def host_for(data_folder: str | Path | None, store: str, api_key: str | None) -> Host:
    """Return a host for a chat that Python opens. Raises SettingError for what none can have."""
    if api_key is not None and not isinstance(api_key, str):
        # Not quoted: it may be a key all the same.
        raise SettingError(f"api_key is text, not {type(api_key).__name__}", "Write it as text.")
    if store not in ("sqlite", "jsonl") and not is_postgres(str(store)):
        kinds = '"sqlite", "jsonl", "postgresql://host/database#schema"'
        raise SettingError(f"store is {store!r}", f"It can be: {kinds}")
    if not isinstance(data_folder, str | Path | None):
        raise SettingError(f"data_folder is {data_folder!r}", "Name a folder as text.")
    explicit: dict[str, object] = {"data_folder": data_folder}
    if store != "sqlite":
        explicit["store"] = store
    return host_here(explicit, api_key, current_host().opening.deck)


def _notebook(shell: Any, configured: str | None, named: str | None) -> Path | None:
    """Return the notebook's path: what `%config` says wins; a terminal has none by itself."""
    if not in_kernel(shell):
        return notebook_path(configured)
    return notebook_path(configured, *told_by_front_end(shell), named)


def configured(shell: Any) -> Mapping[str, object]:
    """Return what `%config JanMagics` sets, when the extension is loaded."""
    magics = shell.magics_manager.registry.get("JanMagics")
    return magics.configured() if magics is not None else {}


def current_host() -> Host:
    """Return the host of the chat that cells use; it is made at the first call."""
    shell = shell_here()
    if shell is None:
        return _of_script()
    host: Host | None = getattr(shell, ATTRIBUTE, None)
    # In one step: a page may ask in a thread of its own while the first cell runs.
    return host or vars(shell).setdefault(ATTRIBUTE, host_here())


def init_folder(host: Host) -> Path:
    """Make a `.jan` folder beside the notebook and keep threads in it from now on.

    Those so far stay where they are: a name that `use` made stick is that of a new thread there.

    Raises:
        SettingError: when a setting names another data folder, which would win, or a turn goes on.
        StoreError: when the folder cannot be made.
    """
    session = host.session()
    named = session.settings().get("data_folder")
    if named.value:
        raise SettingError(
            f"data_folder is set by {named.source}, and that wins",
            "Take that setting back first: %chat config lists it.",
        )
    folder = host.opening.folder() / FOLDER
    if folder == session.engine.folder:
        return folder
    if host.bridge.running:
        raise SettingError("a turn is still going on", "Wait for it, or end it: %chat stop")
    with translated(folder):
        folder.mkdir(exist_ok=True)
    stuck = session.threads.seen(session.sticky.thread) if session.sticky.thread else None
    if stuck is not None:
        # Its id means nothing in another store.
        session.sticky = replace(session.sticky, thread=stuck.title or None)
    host.reopen()
    return folder


def resolved(host: Host, path: str | Path) -> Path:
    """Return a path that the user has named, relative to the notebook. Raises SettingError."""
    if not isinstance(path, str | Path):
        raise SettingError(f"{path!r} cannot be a path", "Name a file or folder as text.")
    try:
        named = Path(path).expanduser()
    except RuntimeError as error:  # ~nobody
        raise SettingError(f"{str(path)!r}: {error}", "Name the folder itself.") from error
    if not str(path).strip() or "\0" in str(path):
        raise SettingError(f"{str(path)!r} cannot be a path", "Name a file or folder.")
    return named if named.is_absolute() else host.opening.folder() / named


def back_up(host: Host, file: str) -> Path:
    """Copy everything that is kept to a new file, named relative to the notebook."""
    path = resolved(host, file)
    _upkeep(host).backup(path)
    return path


def empty_bin(host: Host) -> tuple[int, int]:
    """Delete what is in the bin for good; returns how many threads and collections there were."""
    store, session = _upkeep(host), host.session()
    count = len(store.binned())
    store.vacuum()
    # Where there are no collections, the libraries of retrieval need not be loaded.
    if not (session.engine.folder / "collections").exists() or session.retriever is None:
        return count, 0
    from jan_magics.engine.restoring import empty_bin as empty

    return count, empty(session.retriever().collections)


def _upkeep(host: Host) -> Upkeep:
    store = host.session().engine.store
    if not isinstance(store, Upkeep):
        raise StoreError("this store looks after itself", "Ask who runs its server.")
    return store


@cache
def _of_script() -> Host:
    return host_here()
