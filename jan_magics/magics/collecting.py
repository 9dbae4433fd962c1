"""The verbs of `%rag` that look after collections: each is a few lines over `jan.Collection`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from IPython.core.error import UsageError

from jan_magics.api.collection import Collection
from jan_magics.api.context import say
from jan_magics.api.host import language_of
from jan_magics.api.opening import current_host
from jan_magics.api.shelf import Shelf, collections, retriever_of, status_of
from jan_magics.domain.counting import counted
from jan_magics.magics.line import Line
from jan_magics.rag.matching import typed

Run: TypeAlias = Callable[[Any, Any, str], object]


def cutting(parsed: Any) -> dict[str, Any]:
    """Return how documents are to be cut, as Python takes it; None is what no flag says."""
    how = {"size": parsed.size, "overlap": parsed.overlap}
    return how | ({"splitter": parsed.splitter} if parsed.splitter else {})


def _status(magics: Any, parsed: Any, _: str) -> Line:
    return Line(status_of(Shelf()))


def _collections(magics: Any, parsed: Any, _: str) -> object:
    return collections()


def _use(magics: Any, parsed: Any, _: str) -> Line:
    collections_here = retriever_of(current_host()).collections
    if parsed.name_or_path is None:
        collections_here.default = None
        return Line("the notebook's own collection is the default again")
    collections_here.existing(parsed.name_or_path)
    collections_here.default = parsed.name_or_path
    return Line(status_of(Shelf()))


def _add(magics: Any, parsed: Any, _: str) -> object:
    found = Collection(parsed.collection)
    how = {name: value for name, value in cutting(parsed).items() if value is not None}
    given = [variable(magics, each) for each in parsed.path]
    if any(not isinstance(each, str) for each in given) and len(given) > 1:
        raise UsageError("%rag add: a table is added by itself, without files beside it")
    what = given[0] if len(given) == 1 else given
    return _told(
        found.add(what, embedder=parsed.embedder, text=parsed.text, dask=parsed.dask, **how)
    )


def variable(magics: Any, word: str) -> Any:
    """Return a table that a variable of the user holds, else the word: a path."""
    from jan_magics.frames import is_frame

    value = magics.shell.user_ns.get(word) if word.isidentifier() else None
    return value if is_frame(value) else word


def _documents(magics: Any, parsed: Any, _: str) -> object:
    return Collection(parsed.collection).documents()


def _remove(magics: Any, parsed: Any, _: str) -> Line:
    removed = Shelf(name=parsed.collection).remove(parsed.source)
    if len(removed) == 1:
        return Line(f"{removed[0]} is forgotten: nothing of it is found any more")
    return Line(
        f"{counted(len(removed), 'document')} of {parsed.source} are forgotten: nothing of them is"
        " found any more"
    )


def _delete(magics: Any, parsed: Any, _: str) -> Line:
    shelf, found = Shelf(name=parsed.name), Collection(parsed.name)
    if parsed.off:
        found.delete(off=True)
        return Line(f"{parsed.name} is back\n{status_of(shelf)}")
    here = shelf.retriever().collections
    before, listed = here.default, shelf.found()
    size = f" with {counted(len(found), 'chunk')}" if listed and not listed.fault else ""
    found.delete()
    lines = [f"{parsed.name}{size} is in the bin · back: %rag delete {typed(parsed.name)} --off"]
    if before != here.default:
        lines.append("the notebook's own collection is the default again")
    return Line("\n".join(lines))


def _push(magics: Any, parsed: Any, _: str) -> object:
    return _told(Collection(parsed.collection).push(parsed.url))


def _pull(magics: Any, parsed: Any, _: str) -> object:
    return _told(Collection(parsed.collection).pull(parsed.url))


def _told(table: Any) -> object:
    for line in table.attrs["jan"]["said"]:
        say(line, language_of(current_host()))
    return table


def _doctor(magics: Any, parsed: Any, _: str) -> object:
    return Collection(parsed.collection).doctor(vacuum=parsed.vacuum)


RUN: Final[Mapping[str, Run]] = MappingProxyType({
    "": _status, "collections": _collections, "use": _use, "add": _add, "documents": _documents,
    "remove": _remove, "delete": _delete, "push": _push, "pull": _pull, "doctor": _doctor,
})  # fmt: skip
