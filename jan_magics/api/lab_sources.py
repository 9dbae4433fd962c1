"""A source of a stored answer, in its document as that is now."""

from collections.abc import Iterator, Mapping
from typing import Any

from jan_magics.api.host import Host
from jan_magics.api.shelf import retriever_of
from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.messages import Message
from jan_magics.engine.collections import Collections
from jan_magics.engine.listed import Listed, is_path
from jan_magics.engine.records import sources_of
from jan_magics.widgets.chunk_places import in_place


def source_of(host: Host, answer: Message, n: object) -> Mapping[str, object]:
    """Return the chunk that an answer numbers `n`, with what stands around it.

    Raises:
        RetrievalError: when there is none, or its document has changed since.
    """
    known = next((each for each in sources_of(answer) if each.get("n") == n), None)
    if known is None:
        raise RetrievalError(f"this answer has no source {n!r}", "Look at: answer.sources")
    source, chunk = str(known.get("source")), known.get("chunk")
    collections = retriever_of(host).collections
    for listed in _places(collections, known):
        collection = collections.open(listed)
        if chunk in collection.chunk_ids(source):
            text = collection.document(source).text
            return in_place(text, int(known["start"]), int(known["end"]))
    raise RetrievalError(
        f"what was sent of {source!r} is in no collection any more: removed, or indexed anew",
        "Ask again for what is there now: %chat retry",
    )


def _places(collections: Collections, known: Mapping[str, Any]) -> Iterator[Listed]:
    """Yield the collections that a source may be from; older answers do not say which."""
    named = known.get("collection")
    if isinstance(named, str) and (found := _of_path(collections, named)):
        yield found
    for each in (*collections.listed(), *collections.servers.listed()):
        if not each.fault and named in (None, each.name):
            yield each


def _of_path(collections: Collections, named: str) -> Listed | None:
    return collections.find(named) if is_path(named) else None
