"""Ingestion on Dask: workers read, cut and embed files; the collection is written here, in order.

A worker only does work ahead. What it has not done, because it died or knows another embedder, is
done here, so that the result is the same without it. Dask's transport pickles: it is left to run on
this machine, or between machines that know each other by TLS.
"""

import ipaddress
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from jan_magics.domain.errors import EmbedderError, SettingError
from jan_magics.domain.protocols import Embedder, Vectors
from jan_magics.domain.retrieval import Chunk, Document, Fingerprint, Recipe
from jan_magics.rag import embedders
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import Counter, counter_here
from jan_magics.rag.documents import read
from jan_magics.rag.fitting import Measuring, fitted
from jan_magics.rag.ingest import clean
from jan_magics.rag.limits import Limits, Unreadable

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE: Final = 10
"""Seconds to wait for a scheduler."""
_AHEAD: Final = 4
"""Files for each thread of the workers that are on their way at a time."""
_MOST: Final = 50_000
"""Vectors that wait to be asked for; what is dropped is made here."""
Read: TypeAlias = Document | Unreadable


@dataclass(frozen=True, slots=True)
class Job:
    """A file, and what a worker does with it; `content` is what the collection has of it already.

    `counter` and `fingerprint` are those here: another one's work would be of no use.
    """

    path: str
    source: str
    limits: Limits
    recipe: Recipe
    counter: str
    fingerprint: Fingerprint | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What a worker made of a file: its chunks, None where they are left to others, and vectors."""

    read: Read
    chunks: tuple[Chunk, ...] | None = None
    vectors: dict[str, bytes] = field(default_factory=dict)


def make(job: Job) -> Made:
    """Read a file, cut it, and embed its chunks; runs on a worker."""
    found = read(Path(job.path), job.limits, job.source)
    counter = counter_here()
    if isinstance(found, Unreadable) or counter.name != job.counter:
        return Made(found)
    document = clean(found)
    if document.content == job.content:
        return Made(found)
    chunks = tuple(cut(document, job.recipe, counter))
    return Made(found, chunks, _embedded(document, job, chunks))


def _embedded(document: Document, job: Job, chunks: Sequence[Chunk]) -> dict[str, bytes]:
    if job.fingerprint is None:
        return {}
    try:
        embedder = _loaded(job.fingerprint.id)
    except EmbedderError:
        return {}
    if embedder.fingerprint != job.fingerprint:
        return {}
    whole = fitted(document, job.recipe, chunks, embedder, job.fingerprint.max_tokens)
    texts = list(dict.fromkeys(document.text[each.start : each.end] for each in whole))
    if not texts:
        return {}
    rows = np.asarray(embedder.embed(texts), "<f4")
    return {text: row.tobytes() for text, row in zip(texts, rows, strict=True)}


@cache
def _loaded(name: str) -> Embedder:
    """Return an embedder, loaded once a worker and not once a file. Raises EmbedderError."""
    return embedders.make(name)


@dataclass(slots=True)
class Ahead:
    """What workers have made of files, taken in the order of the jobs."""

    client: "Client"
    jobs: Iterator[Job]
    counter: Counter
    _waiting: "deque[tuple[Job, Future]]" = field(default_factory=deque)
    _chunks: dict[tuple[str, str, Recipe], tuple[Chunk, ...]] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)

    def read(self, path: Path) -> Read | None:
        """Return the next file as it was read, None where it is not that of the next job."""
        self._send()
        if not self._waiting or self._waiting[0][0].path != str(path):
            return None
        job, future = self._waiting.popleft()
        made = _result(job, future)
        if isinstance(made.read, Document) and made.chunks is not None:
            document = clean(made.read)
            self._chunks = {(document.source, document.content, job.recipe): made.chunks}
            self.vectors |= made.vectors
            # Of texts that the collection has already nobody asks for the vector.
            for text in list(self.vectors)[: max(0, len(self.vectors) - _MOST)]:
                del self.vectors[text]
        return made.read

    def cut(self, document: Document, recipe: Recipe) -> Sequence[Chunk]:
        """Return the chunks of a document, cut here where no worker has."""
        known = self._chunks.get((document.source, document.content, recipe))
        return cut(document, recipe, self.counter) if known is None else known

    def _send(self) -> None:
        """Keep workers busy, and no more than that: what they make waits in memory."""
        most = _AHEAD * max(1, sum(self.client.nthreads().values()))
        while len(self._waiting) < most and (job := next(self.jobs, None)):
            self._waiting.append((job, self.client.submit(make, job, pure=False)))


def _result(job: Job, future: "Future") -> Made:
    """Return what a worker made; where it died again and again, do it here."""
    import distributed

    try:
        made: Made = future.result()
    except (distributed.KilledWorker, distributed.CancelledError, OSError, TimeoutError):
        return make(job)
    return made


class Prepared:
    """An embedder with the vectors that workers made ahead; each is given once."""

    def __init__(self, embedder: Embedder, ahead: Ahead) -> None:
        self.embedder = embedder
        self.ahead = ahead

    @property
    def fingerprint(self) -> Fingerprint:
        """Return the embedder's own."""
        return self.embedder.fingerprint

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return float32 rows (n, dim); what no worker made is made here. Raises EmbedderError."""
        known = {} if query else {text: self.ahead.vectors.pop(text, None) for text in set(texts)}
        missing = [text for text in dict.fromkeys(texts) if known.get(text) is None]
        made = dict(zip(missing, self.embedder.embed(missing, query=query), strict=True)) if (
            missing
        ) else {}  # fmt: skip
        rows = [
            made[text] if (row := known.get(text)) is None else np.frombuffer(row, "<f4")
            for text in texts
        ]
        return np.array(rows, np.float32).reshape(len(texts), self.fingerprint.dim)

    def reads(self, text: str) -> bool:
        """Tell whether it can read the script of a text."""
        return self.embedder.reads(text)


class PreparedMeasuring(Prepared):
    """The same of one that measures texts."""

    def tokens(self, text: str) -> int:
        """Return the tokens that it reads of a text."""
        assert isinstance(self.embedder, Measuring)  # noqa: S101 - for the type checker
        return self.embedder.tokens(text)


def prepared(embedder: Embedder, ahead: Ahead) -> Prepared:
    """Return an embedder with what workers made ahead."""
    return (PreparedMeasuring if isinstance(embedder, Measuring) else Prepared)(embedder, ahead)


@contextmanager
def connected(address: str) -> Iterator["Client"]:
    """Give the client of a scheduler.

    Raises:
        SettingError: when the address leaves this machine unprotected, Dask is not installed, or
            nobody answers.
    """
    check(address)
    try:
        from distributed import Client
    except ImportError as error:
        raise SettingError("Dask is not installed", "pip install 'jan-magics[dask]'") from error
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise SettingError(
            f"no Dask scheduler answers at {address!r}", "Start one: dask scheduler"
        ) from error
    with client:
        yield client


def check(address: Any) -> None:
    """Refuse an address to which documents would go unprotected. Raises SettingError."""
    parts = urlsplit(address if "://" in str(address) else f"tcp://{address}")
    if parts.scheme == "tls" and parts.hostname:
        return
    if parts.scheme == "tcp" and _is_here(parts.hostname or ""):
        return
    raise SettingError(
        f"{address!r} is not on this machine, and what goes there can be read and changed",
        "Use tls://host:port, or a scheduler of this machine: tcp://127.0.0.1:8786",
    )


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
