"""What stands at an address: typed by the user, never by a model."""

import re
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.retrieval import Document
from jan_magics.engine.deck import Deck
from jan_magics.engine.settings import Settings
from jan_magics.providers.fetch import Allowed, Fetched, fetch
from jan_magics.rag.documents import READERS, read_bytes
from jan_magics.rag.limits import Limits, Unreadable

_ADDRESS: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_SUFFIXES: Final = MappingProxyType({
    "text/html": "html", "application/xhtml+xml": "html", "application/pdf": "pdf",
    "application/json": "json", "text/csv": "csv", "text/markdown": "md",
    "application/x-ndjson": "jsonl", "application/x-ipynb+json": "ipynb",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
})  # fmt: skip


def is_address(text: str) -> bool:
    """Tell whether a text is an address and nothing else."""
    return _ADDRESS.fullmatch(text.strip()) is not None


async def bytes_at(
    url: str, settings: Settings, limits: Limits, deck: Deck
) -> Fetched | Unreadable:
    """Fetch an address; while a cassette plays nothing is fetched.

    Hosts that the user's config names may be asked although they are not on the public network.
    """
    if deck.playing:
        return Unreadable(url, "nothing is fetched while a cassette is played")
    named = {urlsplit(each.address).hostname for each in settings.hosts.values()}
    allowed = Allowed(limits.file_bytes, hosts=frozenset(filter(None, named)))
    try:
        return await fetch(url.strip(), allowed)
    except RetrievalError as fault:
        return Unreadable(url.partition("?")[0], fault.message.partition(" is not fetched: ")[2])


def document_of(found: Fetched, url: str, limits: Limits) -> Document | Unreadable:
    """Read what was fetched; its source is the address."""
    return read_bytes(_as_utf8(found), url.strip(), limits, _suffix(found))


def _suffix(found: Fetched) -> str:
    """Return the ending of a file of what the server says it is, else that of the address."""
    path = PurePosixPath(urlsplit(found.url).path.lower()).suffix.lstrip(".")
    told = _SUFFIXES.get(found.media_type, "")
    # Servers call nearly everything text or bytes: then the name knows more.
    return told or (path if path in READERS else "")


def _as_utf8(found: Fetched) -> bytes:
    if not found.charset or not found.media_type.startswith("text/"):
        return found.content
    try:
        return found.content.decode(found.charset).encode()
    except (LookupError, UnicodeError):
        return found.content  # it says what it is not
