"""What is attached becomes parts and metadata of its question: inline, or into a collection.

A file that cannot be read fails itself: the footer names it, and the turn goes on.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError
from jan_magics.domain.messages import FilePart, Json
from jan_magics.domain.protocols import Embedder, Tokenizer
from jan_magics.domain.retrieval import Chunk, Document, DocumentRow, Recipe
from jan_magics.engine.attached import Attached, Attachment, Home
from jan_magics.engine.collections import Collections
from jan_magics.engine.deck import Deck
from jan_magics.engine.embedding import Embedders
from jan_magics.engine.fetching import bytes_at, document_of, is_address
from jan_magics.engine.fitting import Fit
from jan_magics.engine.listed import PROJECT, THREAD
from jan_magics.engine.media import fault_of_media, media_type_of
from jan_magics.engine.settings import Settings
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import counter_here
from jan_magics.rag.documents import bytes_of, read_bytes
from jan_magics.rag.embedders import WordsAlone
from jan_magics.rag.finding import found, source_of
from jan_magics.rag.ingest import add
from jan_magics.rag.limits import Limits, Unreadable
from jan_magics.rag.recipes import SMALLEST_STORED, Keeping, completed, recipe_of
from jan_magics.rag.row_collection import RowCollection
from jan_magics.sanitize.attachments import ATTACHED_KEY, INLINE_KEY
from jan_magics.sanitize.media import is_taken

Mode: TypeAlias = Literal["inline", "embeddings"]
Piece: TypeAlias = FilePart | Document | Unreadable
Into: TypeAlias = Callable[[list[Document], Callable[[], bool]], Iterator[DocumentRow]]
"""Takes documents into a collection until it is told to stop; a row for each."""

Fetching: TypeAlias = Callable[[str], Awaitable[Piece]]
"""Returns what stands at an address."""

SHARE: Final = 0.5
"""Of the input that all files of a question may take inline; the rest is for what was said."""
LONGEST_TOKEN: Final = 16
"""Characters; a text with more than so many for each token that has room need not be counted."""
EMPTY: Final = "it is empty"
OFF: Final = "it is too long to be sent whole, and retrieval is off (rag.enabled)"
_ORDER: Final = ("image", "audio", "video")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where files go that are not sent whole, and what it is called.

    `into` None: nothing may be taken in, and `fault` says why. `always`: no file is sent whole.
    `wanted` is the setting `attach`.
    """

    into: Into | None
    place: str = "this thread"
    fault: str = ""
    always: bool = False
    wanted: str = "auto"


@dataclass(slots=True)
class _Made:
    """What was made of attachments so far."""

    inline: list[Json] = field(default_factory=list)
    listed: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def route(tokens: int | None, room: int, *, wanted: str = "auto", project: bool = False) -> Mode:
    """Return whether a document goes into its question or into a collection.

    `tokens` None: nothing readable, or nobody has counted. Files of a project are always taken
    into its collection.
    """
    if project or not tokens or wanted == "embeddings":
        return "embeddings"
    return "inline" if wanted == "inline" or tokens <= room else "embeddings"


def in_order(parts: Iterable[FilePart]) -> tuple[FilePart, ...]:
    """Return images first, then audio, then video; each once."""
    known = {(each.media_type, sha256(each.data or b"").digest()): each for each in parts}
    return tuple(sorted(known.values(), key=lambda part: _ORDER.index(_kind(part))))


def shelf_of(
    collections: Collections, embedders: Embedders, settings: Settings, home: Home
) -> Shelf:
    """Return where files of a turn are taken in: its project's collection, else its thread's."""
    project = settings.get("project").value
    place = f"the project {project!r}" if project else "this thread"
    wanted = settings.get("attach").value or "auto"
    if settings.get("rag.enabled").value == "off":
        return Shelf(None, place, OFF, wanted="inline" if wanted == "inline" else "auto")
    if home.dry:
        return Shelf(only_named, place, always=bool(project), wanted=wanted)

    def into(documents: list[Document], is_stopped: Callable[[], bool]) -> Iterator[DocumentRow]:
        try:
            listed = collections.of_owner(*owner_of(settings, home))
            collection = collections.open(listed)
            embedder = embedders.for_adding(collection, None)
        except JanError as fault:
            return (DocumentRow(each.source, "failed", fault.message) for each in documents)
        return into_collection(collection, embedder)(documents, is_stopped)

    return Shelf(into, place, always=bool(project), wanted=wanted)


def owner_of(settings: Settings, home: Home) -> tuple[str, str]:
    """Return who owns the collection of a turn's files, and its name where it is made."""
    if project := settings.get("project").value:
        return PROJECT + project, project
    return THREAD + home.thread, home.title


async def attach(
    given: Sequence[Attachment], fit: Fit, limits: Limits, base: Path, shelf: Shelf, fetch: Fetching
) -> Attached:
    """Return what goes with a question; `base` is what the names of files are relative to."""
    fetched = [await fetch(each.url) for each in given if each.url]
    pieces = await asyncio.to_thread(lambda: [*_pieces(given, limits, base), *fetched])
    made, room = _Made(), int(fit.budget.input * SHARE)
    waiting: list[Document] = []
    for document in _once(pieces):
        tokens = _tokens(document.text, fit.tokenizer, room)
        if route(tokens, room, wanted=shelf.wanted, project=shelf.always) == "inline":
            room = max(0, room - (tokens or 0))
            made.inline.append({"name": _shown(document.source), "content": document.text})
        else:
            waiting.append(document)
    await _taken_in(waiting, shelf, made)
    for each in pieces:
        if isinstance(each, Unreadable):
            made.notes.append(f"not attached: {_shown(each.source)}: {each.reason}")
    files = {INLINE_KEY: made.inline, ATTACHED_KEY: made.listed}
    metadata: dict[str, Json] = {key: rows for key, rows in files.items() if rows}
    media = in_order(each for each in pieces if isinstance(each, FilePart))
    return Attached(media, metadata, (*made.notes, *_not_taken(media, fit)))


async def _taken_in(documents: list[Document], shelf: Shelf, made: _Made) -> None:
    """Take documents into a collection, and say what became of each."""
    if not documents:
        return
    if shelf.into is None:
        made.notes.extend(f"not attached: {_shown(d.source)}: {shelf.fault}" for d in documents)
        return
    stopped = threading.Event()
    try:
        rows = await asyncio.to_thread(
            lambda: list(shelf.into(documents, stopped.is_set) if shelf.into else ())
        )
    finally:
        stopped.set()  # an interrupt ends the work between two documents
    at_once = shelf.always or shelf.wanted == "embeddings"
    for document, row in zip(documents, rows, strict=False):
        name = _shown(document.source)
        if row.status in ("failed", "skipped"):
            made.notes.append(f"not attached: {name}: {row.reason}")
            continue
        made.listed.append(_listed(document, row, name))
        chunks = "" if row.chunks is None else f" ({counted(row.chunks, 'chunk')})"
        why = "" if at_once else " is too long to be sent whole and"
        made.notes.append(f"{name}{why} can be searched in {shelf.place}{chunks}")


def _listed(document: Document, row: DocumentRow, name: str) -> Json:
    told: dict[str, Json] = {
        "file_id": document.id, "name": name, "chunks": row.chunks, "mode": "embeddings",
        "digest": document.content[:16],
    }  # fmt: skip
    return {key: value for key, value in told.items() if value is not None}


def only_named(documents: list[Document], _: Callable[[], bool]) -> Iterator[DocumentRow]:
    """Take nothing in: a dry run says what would be."""
    return (DocumentRow(document.source, "added") for document in documents)


def into_collection(collection: RowCollection, embedder: Embedder | WordsAlone | None) -> Into:
    """Return what takes documents into a collection, cut as it is; each fails by itself."""
    counter = counter_here()

    def cut_up(document: Document, recipe: Recipe) -> Sequence[Chunk]:
        return cut(document, recipe, counter)

    def into(documents: list[Document], is_stopped: Callable[[], bool]) -> Iterator[DocumentRow]:
        how = completed({}, collection.recipe)
        recipe = recipe_of(counter, **how, smallest=SMALLEST_STORED)  # type: ignore[arg-type]
        for document in documents:
            if is_stopped():
                return
            try:
                keeping = Keeping(recipe, counter)
                # More rows are of documents that are there, and nobody attached those.
                yield next(add(collection, [document], keeping, cut_up, embedder))
            except JanError as fault:
                yield DocumentRow(document.source, "failed", fault.message)

    return into


def _pieces(given: Sequence[Attachment], limits: Limits, base: Path) -> Iterator[Piece]:
    """Yield what attachments hold; what cannot be read is a value with its reason."""
    for each in given:
        if each.media is not None:
            yield each.media
        elif each.text is not None:
            text = each.text.strip()
            yield Document(each.name, each.text) if text else Unreadable(each.name, EMPTY)
        elif each.path is not None:
            for path in found([each.path], limits):
                yield path if isinstance(path, Unreadable) else _piece(path, limits, base)


def _piece(path: Path, limits: Limits, base: Path) -> Piece:
    source, data = source_of(path, base), bytes_of(path, limits)
    if isinstance(data, str):
        return Unreadable(source, data)
    if kind := media_type_of(path.name, data):
        return FilePart(kind, data, name=path.name)
    if fault := fault_of_media(path.name):
        return Unreadable(source, fault)
    return read_bytes(data, source, limits)


def _not_taken(media: Sequence[FilePart], fit: Fit) -> Iterator[str]:
    """Name what is kept with the question and not sent, as the model cannot take it."""
    for part in media:
        if not is_taken(part, "user", fit.profile):
            what = "images" if _kind(part) == "image" else part.media_type
            yield f"{part.name} is kept and not sent: {fit.model} takes no {what}"


def _once(pieces: Iterable[Piece]) -> tuple[Document, ...]:
    """Return each document once, in the order they were named."""
    return tuple({each.source: each for each in pieces if isinstance(each, Document)}.values())


def _tokens(text: str, tokenizer: Tokenizer, room: int) -> int:
    """Return the tokens of a text; of one that is far too long more than there is room for."""
    return room + 1 if len(text) > room * LONGEST_TOKEN else tokenizer.count(text)


def _shown(source: str) -> str:
    bare = source.partition("?")[0] if is_address(source) else source
    return PurePosixPath(bare).name or bare


async def fetched_piece(url: str, settings: Settings, limits: Limits, deck: Deck) -> Piece:
    """Return what stands at an address; while a cassette plays nothing is fetched."""
    found = await bytes_at(url, settings, limits, deck)
    if isinstance(found, Unreadable):
        return found
    if kind := media_type_of(_shown(url), found.content):
        return FilePart(kind, found.content, name=_shown(url))
    return await asyncio.to_thread(document_of, found, url, limits)


def _kind(part: FilePart) -> str:
    return part.media_type.partition("/")[0]
