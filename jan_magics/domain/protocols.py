"""The seams of the house, on one page."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from jan_magics.domain.events import StreamEvent
from jan_magics.domain.messages import FilePart, Json, Message, Role, Thread
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.retrieval import Document, DocumentRow, Fingerprint
from jan_magics.domain.tree import Changes


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A line of the list of threads; `fault` says what is wrong with it.

    `damaged`: its own record cannot be read, and `thread` is what is known from elsewhere.
    """

    thread: Thread
    messages: int
    branches: int
    fault: str | None = None
    damaged: bool = False


Stamp: TypeAlias = object
"""What a store says of the state of a thread's tree and records; equal means unchanged."""


Vectors: TypeAlias = Any
"""A float32 array of shape (n, dim); this floor knows no numpy."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of a thread just before and just after one write."""

    before: Stamp
    after: Stamp


class Store(Protocol):
    """Threads and messages on disk.

    Calls are synchronous and durable when they return; any thread may call (an implementation
    keeps a connection per thread). Several processes may use one store at the same time.
    """

    def threads(self) -> Sequence[ThreadRow]:
        """List threads, the newest first, without the deleted ones."""
        ...

    def thread(self, thread_id: str) -> Thread:
        """Return one thread. Raises ThreadNotFound."""
        ...

    def create_thread(self, thread: Thread) -> None:
        """Write a new thread; an id that exists already is left as it is."""
        ...

    def claim_thread(self, thread: Thread) -> Thread:
        """Write a new thread unless another has its title; return the one that has it.

        Of several processes that claim a title at one moment, one writes.
        """
        ...

    def update_thread(
        self,
        thread_id: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        """Change the title, merge metadata and other keys; a None removes its key.

        Raises ThreadNotFound.
        """
        ...

    def delete_thread(self, thread_id: str) -> None:
        """Move a thread to the bin; an absent one is no error."""
        ...

    def restore_thread(self, thread_id: str) -> None:
        """Bring a thread back from the bin. Raises ThreadNotFound."""
        ...

    def messages(self, thread_id: str) -> Sequence[Message]:
        """Return all messages of a thread in the order of writing. Raises ThreadNotFound."""
        ...

    def create(self, message: Message) -> None:
        """Write a new message; an id that exists is left as it is. Raises ThreadNotFound."""
        ...

    def save(self, *messages: Message) -> Stamps | None:
        """Write the newest state of messages of one thread in one transaction; None without any.

        An unknown id is inserted, a deleted one stays deleted. Raises ThreadNotFound.
        """
        ...

    def delete(self, thread_id: str, message_id: str) -> None:
        """Delete a message, leaving a tombstone. Raises ThreadNotFound, MessageNotFound."""
        ...

    def apply(self, thread_id: str, changes: Changes, overlays: Sequence[Overlay] = ()) -> Stamps:
        """Write changes of a tree and our own records, all in one transaction.

        Messages as `save` does, the active root into the thread's metadata; a deleted id that
        does not exist is no error. Raises ThreadNotFound.
        """
        ...

    def stamp(self, thread_id: str) -> Stamp:
        """Return a value that differs after every write into a thread, whichever process wrote.

        Raises ThreadNotFound.
        """
        ...

    def overlays(self, thread_id: str) -> Sequence[Overlay]:
        """Return our own records of a thread in the order of writing. Raises ThreadNotFound."""
        ...

    def tombstones(self, thread_id: str) -> Mapping[str, str | None]:
        """Return the ids of deleted messages with their parents. Raises ThreadNotFound."""
        ...

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        ...


class Provider(Protocol):
    """One server that answers in one wire format. Lives on the engine's loop."""

    @property
    def name(self) -> str:
        """Return the provider's name, as before the colon of a model."""
        ...

    @property
    def continues(self) -> bool:
        """Tell whether a last message of the assistant is gone on with, not answered."""
        ...

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse what is known to fail before anything is sent.

        Raises SettingError, ProviderError.
        """
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamEvent]:
        """Send a request and yield events; the last one is Finish. Raises ProviderError."""
        ...

    async def idle(self) -> bool:
        """Tell whether the server has nothing to do; True where it does not say.

        Raises ProviderError.
        """
        ...

    async def models(self) -> Sequence[ModelInfo]:
        """List the models, the loaded or default one first. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close connections and end what was started."""
        ...


class Tokenizer(Protocol):
    """Counts the tokens of text as it stands inside a message.

    Synchronous and pure: what only a server can tell was asked before.
    """

    @property
    def name(self) -> str:
        """Return the name of the rule or of the vocabulary."""
        ...

    @property
    def exact(self) -> bool:
        """Tell whether `count` is the model's own count; else it is shown with ≈."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of ordinary text; `<|endoftext|>` is text."""
        ...

    def overhead(self, role: Role) -> int:
        """Return what a message costs beside its content."""
        ...

    def image(self, part: FilePart) -> int:
        """Return the tokens of an image by the model's size rule; bounded where it has no size."""
        ...


@runtime_checkable
class Framing(Protocol):
    """What a tokenizer may know besides: the tokens that a template adds to a whole request."""

    def opening(self, *, system: bool) -> int:
        """Return the tokens of the start, of the opened answer, and of a built-in system text."""
        ...


class ServerCounts(Tokenizer, Framing, Protocol):
    """A live server's own counts, of what it was asked for; `window` is its context in tokens.

    `lacks` are the capabilities that it says its model does not have.
    """

    window: int
    lacks: frozenset[str]

    async def fill(self, texts: Iterable[str]) -> None:
        """Ask for the tokens of texts. Raises ProviderError."""
        ...


@runtime_checkable
class TokenizingProvider(Protocol):
    """What a provider may know besides: how its server counts."""

    async def tokenizer(
        self, model: ModelRef, image: Callable[[FilePart], int]
    ) -> ServerCounts | None:
        """Return the server's own counts, None where it has none; nothing is started for it."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors. Synchronous; ingestion calls it from a worker thread."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable with stored ones."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return float32 rows (n, dim) of unit length, in the order of the texts.

        A row of zeros, NaN or infinite numbers is not mended here: the caller refuses it.

        Raises:
            EmbedderError: when it is not installed or its server fails.
        """
        ...

    def reads(self, text: str) -> bool:
        """Tell whether it can read the script of a text."""
        ...


class Collection(Protocol):
    """Documents, their chunks and vectors. What a question finds of them is in rag/search.py."""

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Return what its vectors are made by, None where it has none."""
        ...

    def documents(self) -> Sequence[DocumentRow]:
        """List the documents by source."""
        ...

    def document(self, source: str) -> Document:
        """Return a whole document. Raises RetrievalError."""
        ...

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        ...


class Reranker(Protocol):
    """Gives candidates a second, slower look."""

    @property
    def name(self) -> str:
        """Return what stands behind `--rerank`."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text, higher is better. Raises EmbedderError."""
        ...
