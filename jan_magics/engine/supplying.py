"""What a turn is supplied with before it is made: files of its question, and what is looked up."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jan_magics.engine.asking import Asking
from jan_magics.engine.attached import Attached, Home, searched
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import OFF, looks_up
from jan_magics.engine.naming import shown_title
from jan_magics.engine.preparing import Prepared, Retrieving
from jan_magics.engine.reply import Progress
from jan_magics.engine.settings import Settings
from jan_magics.engine.turn import Show
from jan_magics.engine.views import View

if TYPE_CHECKING:
    from jan_magics.engine.retrieving import Retriever

GONE: Final = "the files of this thread cannot be searched here: attach them again with --attach"


def check(retriever: Retrieving, wanted: Asking, settings: Settings) -> None:
    """Refuse a collection that is not there, before anything is asked or made."""
    if retriever and (wanted.collection or looks_up(wanted.tools)):
        retriever().check(wanted, settings)


async def supplied(
    prepared: Prepared, settings: Settings, fit: Fit, view: View, show: Show | None = None
) -> Prepared:
    """Return a turn with its files, and with what a collection has for it, or tools for that.

    Without `show` it is only looked at what would be done. Raises RetrievalError, EmbedderError.
    """
    wanted, retriever = prepared.wanted, prepared.retriever
    home = _home(prepared, view, dry=show is None)
    if wanted.aim == "ask":
        prepared = replace(prepared, attached=Attached())
    if retriever is None:
        return prepared
    if wanted.attach:
        if show:
            show(Progress("", f"reading {', '.join(each.name for each in wanted.attach)}"))
        attached = await retriever().attach(wanted.attach, settings, fit, home)
        prepared = replace(prepared, attached=attached)
    if wanted.collection or looks_up(wanted.tools):
        given = await retriever().retrieve(wanted, settings, fit)
        if given or wanted.collection:
            return replace(prepared, given=given)
        return prepared.looking(retriever().lookups(wanted.tools or (), settings))
    if searched(prepared.files_before(view)):
        return await _with_files(prepared, retriever(), settings, fit, home)
    return prepared


async def _with_files(
    prepared: Prepared, retriever: "Retriever", settings: Settings, fit: Fit, home: Home
) -> Prepared:
    """Let the model look into the files of its thread; for one that cannot it is looked up."""
    found = retriever.files_of(settings, home)
    if found is None:
        offered, off = prepared.offered, settings.get("rag.enabled").value == "off"
        notes = (*offered.notes, OFF if off else GONE)
        return replace(prepared, offered=replace(offered, notes=notes))
    listed, place = found
    if prepared.may_call(fit):
        return prepared.looking(retriever.lookups_in(listed, place, settings))
    given = await retriever.retrieve_in(listed, prepared.wanted, settings, fit)
    note = f"the files were looked up with the prompt: {prepared.choice.model} calls no tools"
    return replace(prepared, given=replace(given, notes=(note, *given.notes)))


def _home(prepared: Prepared, view: View, *, dry: bool) -> Home:
    notebook = prepared.threads.here().notebook
    folder = Path(notebook).parent if notebook else Path.cwd()
    if view.thread is None:
        return Home(folder, dry=dry)
    return Home(folder, view.thread.id, shown_title(view.thread), dry)
