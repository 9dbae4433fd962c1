"""What a turn is supplied with before it is made: files of its question, and what is looked up."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jan_magics.domain.errors import PromptError
from jan_magics.engine.asking import Asking
from jan_magics.engine.attached import Attached, Home, searched
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import OFF, Retrieved, looks_up
from jan_magics.engine.naming import shown_title
from jan_magics.engine.preparing import Prepared, Retrieving
from jan_magics.engine.reply import Progress
from jan_magics.engine.settings import Settings
from jan_magics.engine.turn import Show
from jan_magics.engine.views import View

if TYPE_CHECKING:
    from jan_magics.engine.listed import Listed
    from jan_magics.engine.retrieving import Retriever

ELSEWHERE: Final = "the attached files were not searched: this turn looks in a collection"
GONE: Final = "the files of this thread cannot be searched here: attach them again with --attach"


def meant(retriever: Retrieving, wanted: Asking, settings: Settings) -> "Listed | None":
    """Return the collection that a turn looks in; None for none, and where retrieval is off.

    Raises:
        CollectionNotFound, RetrievalError, SettingError: before anything is asked or made.
    """
    if retriever and (wanted.collection or looks_up(wanted.tools)):
        return retriever().meant(wanted, settings)
    return None


async def supplied(
    prepared: Prepared, settings: Settings, fit: Fit, view: View, show: Show | None = None
) -> Prepared:
    """Return a turn with its files, and with what a collection has for it, or tools for that.

    Without `show` it is only looked at what would be done. Raises RetrievalError, EmbedderError,
    PromptError where there is neither a word nor a file to ask about.
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
        _require_content(wanted.text, attached)
        prepared = replace(prepared, attached=attached)
    listed = prepared.listed
    if wanted.collection or looks_up(wanted.tools):
        prepared = _said(prepared, ELSEWHERE) if searched(prepared.files_before(view)) else prepared
    if wanted.collection:
        given = Retrieved(notes=(OFF,))
        if listed:
            given = await retriever().retrieve_in(listed, wanted, settings, fit)
        return replace(prepared, given=given)
    if looks_up(wanted.tools):
        lookups = retriever().lookups_in(listed, settings) if listed else None
        return prepared.looking(lookups)
    if searched(prepared.files_before(view)):
        return await _with_files(prepared, retriever(), settings, fit, home)
    return prepared


def _require_content(text: str, attached: Attached) -> None:
    """Raise PromptError where there are no words, and no file can go with the question."""
    if not text.strip() and not attached.parts and not attached.metadata:
        raise PromptError(
            f"there is nothing to ask about: {'; '.join(attached.notes) or 'no file was attached'}",
            "Attach another file, or write a prompt.",
        )


async def _with_files(
    prepared: Prepared, retriever: "Retriever", settings: Settings, fit: Fit, home: Home
) -> Prepared:
    """Let the model look into the files of its thread; for one that cannot it is looked up."""
    found = retriever.files_of(settings, home)
    if found is None:
        return _said(prepared, OFF if settings.get("rag.enabled").value == "off" else GONE)
    listed, place = found
    if prepared.may_call(fit):
        return prepared.looking(retriever.lookups_in(listed, settings, place))
    given = await retriever.retrieve_in(listed, prepared.wanted, settings, fit)
    note = f"the files were looked up with the prompt: {prepared.choice.model} calls no tools"
    return replace(prepared, given=replace(given, notes=(note, *given.notes)))


def _said(prepared: Prepared, note: str) -> Prepared:
    offered = prepared.offered
    return replace(prepared, offered=replace(offered, notes=(*offered.notes, note)))


def _home(prepared: Prepared, view: View, *, dry: bool) -> Home:
    notebook = prepared.threads.here().notebook
    folder = Path(notebook).parent if notebook else Path.cwd()
    if view.thread is None:
        return Home(folder, dry=dry)
    return Home(folder, view.thread.id, shown_title(view.thread), dry)
