"""A document that stands at an address: typed by the user, never by a model."""

from functools import partial

from jan_magics.api.host import Host
from jan_magics.domain.retrieval import Document
from jan_magics.engine.fetching import bytes_at, document_of
from jan_magics.rag.limits import Limits, Unreadable


def document_at(host: Host, url: str, limits: Limits) -> Document | Unreadable:
    """Fetch an address and read what stands there; its source is the address."""
    opening = host.opening
    found = host.bridge.call(partial(bytes_at, url, opening.settings(), limits, opening.deck))
    return found if isinstance(found, Unreadable) else document_of(found, url, limits)
