"""`%chat leaks` and `jan.leaks`: what a notebook, its cassette and its threads should not hold."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jan_magics.api.context import say
from jan_magics.api.host import Host, language_of
from jan_magics.api.opening import current_host, resolved
from jan_magics.api.shelf import retriever_of
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.secrets import PEOPLE
from jan_magics.engine.leak_search import (
    checkpoint_of,
    leaks_at,
    leaks_in_file,
    without_secrets,
)
from jan_magics.engine.leak_stores import (
    collections_below,
    leaks_in_bin,
    leaks_in_collections,
    leaks_in_store,
)
from jan_magics.engine.leak_texts import Leak
from jan_magics.frames import frame
from jan_magics.storage.files import replace_file, translated

if TYPE_CHECKING:
    import pandas as pd

REVOKE: Final = "whoever has seen a key has it: revoke it where it was made"


def leaks(path: str | Path) -> "pd.DataFrame":
    """Return what a notebook, any file, a folder or a data folder holds and should not, masked.

    Raises:
        SettingError: when there is no such file.
        StoreError: when a store cannot be read.
    """
    return _found(current_host(), path)


def leaks_here(path: str | None) -> "pd.DataFrame":
    """Return what stands at a path; None: in this notebook, its cassette and the threads."""
    host = current_host()
    found = _table(_of_here(host)) if path is None else _found(host, path)
    if found.empty:
        say("nothing found", language_of(host))
    return found


def scrub(path: str | Path | None) -> "pd.DataFrame":
    """Take secrets out of a notebook and its checkpoint; returns what was in them.

    Addresses of people stay: code may need them. No copy is kept, as it would have them all.

    Raises:
        SettingError: when it is no notebook, or the one that is open in this kernel.
    """
    host = current_host()
    notebook = _closed(host, path)
    files = [each for each in (notebook, checkpoint_of(notebook)) if each.is_file()]
    found = [leak for each in files for leak in leaks_in_file(each, each.name)]
    language = language_of(host)
    removed = sum(leak.kind not in PEOPLE for leak in found)
    if removed:
        for each in files:
            _rewrite(each)
        stay = len(found) - removed
        people = f"; e-mail and phone stay ({stay})" if stay else ""
        say(
            f"{notebook.name}: {counted(removed, 'secret')} removed, no copy is kept{people}",
            language,
        )
        say(REVOKE, language)
    else:
        say(f"{notebook.name}: no secret found, so it is as it was", language)
    return _table(found)


def _of_here(host: Host) -> Iterator[Leak]:
    """Yield what this notebook, its cassette, the threads, their bin and the collections hold."""
    notebook, engine = host.opening.path(), host.session().engine
    if notebook and notebook.exists():
        yield from leaks_at(notebook, engine.now)
    yield from leaks_in_store(engine.store)
    yield from leaks_in_bin(engine.folder, engine.now)
    kept = retriever_of(host).collections.folder
    yield from leaks_in_collections(collections_below(kept), engine.now)


def _found(host: Host, path: str | Path) -> "pd.DataFrame":
    return _table(leaks_at(resolved(host, path), host.session().engine.now))


def _closed(host: Host, path: str | Path | None) -> Path:
    """Return the notebook at a path, where this kernel does not run it. Raises SettingError."""
    here = host.opening.path()
    if path is None and here is None:
        raise SettingError(
            "which notebook is meant is not said", "Name it: %chat leaks --scrub PATH"
        )
    notebook = resolved(host, path) if path is not None else here
    assert notebook is not None  # noqa: S101 - for the type checker
    if not notebook.is_file() or notebook.suffix != ".ipynb":
        raise SettingError(f"{str(path)!r} is no notebook", "Name one: %chat leaks --scrub X.ipynb")
    if _runs(host, notebook, here):
        raise SettingError(
            f"{notebook.name!r} is open here, and saving it would write the secrets back",
            f"Close it, then in a shell: jan-magics leaks --scrub {notebook.name}",
        )
    return notebook


def _runs(host: Host, notebook: Path, here: Path | None) -> bool:
    """Tell whether a notebook is the one whose cell runs; without a path, by its cells."""
    if here is not None:
        return here.exists() and here.samefile(notebook)
    file, marks = host.opening.files.at(str(notebook)), host.opening.marks()
    return bool(file and file.marks and not marks.isdisjoint(file.marks))


def _rewrite(notebook: Path) -> None:
    path = notebook.resolve()  # behind a link lies the file itself
    with translated(path):
        mode = path.stat().st_mode
        clean = without_secrets(json.loads(path.read_text("utf-8")))
        told = json.dumps(clean, indent=1, ensure_ascii=False) + "\n"
        replace_file(path, told.encode("utf-8", "surrogatepass"))
        path.chmod(mode)


def _table(found: Iterable[Leak]) -> "pd.DataFrame":
    return frame("leaks", ({"place": x.place, "kind": x.kind, "sample": x.sample} for x in found))
