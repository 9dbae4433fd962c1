"""Looking up what a turn is given of a collection. Imported by the first turn that names one."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.domain.protocols import Tokenizer
from jan_magics.domain.retrieval import Hit
from jan_magics.engine.asking import Asking
from jan_magics.engine.attached import Attached, Attachment, Home
from jan_magics.engine.attachments import attach, fetched_piece, owner_of, shelf_of
from jan_magics.engine.collections import Collections
from jan_magics.engine.embedding import Embedders
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import LOOKUP, Retrieved, is_lookup, looks_up
from jan_magics.engine.listed import Listed
from jan_magics.engine.lookups import Lookups
from jan_magics.engine.settings import Settings
from jan_magics.rag.attached import CollectionAttachments
from jan_magics.rag.blocks import blocks
from jan_magics.rag.calibration import threshold_of
from jan_magics.rag.grounding import THRESHOLD, Grounding, ground
from jan_magics.rag.limits import MEGABYTE, Limits
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.search import Found, search
from jan_magics.rag.tools import LIMIT, Place, Terms
from jan_magics.rag.tools import THRESHOLD as THRESHOLD_OF_TOOL

ROWS: Final = 5
SHARE: Final = 0.5
"""Of the input at most; the rest is for the prompt and what was said before."""
BY_HOST: Final = "-c looks up before the model is asked, so it is offered no retrieval tools"
SAMPLE: Final = 500
"""Chunks from which that is measured."""


@dataclass(slots=True)
class Retriever:
    """Looks up what turns ask for."""

    collections: Collections
    embedders: Embedders

    async def retrieve_in(
        self, listed: Listed, wanted: Asking, settings: Settings, fit: Fit
    ) -> Retrieved:
        """Return what a collection has for a turn. Raises RetrievalError, EmbedderError."""
        k = ROWS if wanted.k is None else wanted.k
        options = Options(k=k, threshold=wanted.threshold, all=True, **of_settings(settings))
        question = wanted.query or wanted.text
        # Embedding and reading take a while, and other turns are being answered.
        found, chunks = await asyncio.to_thread(self._search, listed, question, options)
        given = _fitted(listed, found, chunks, fit)
        notes = (*given.notes, BY_HOST) if looks_up(wanted.tools) else given.notes
        return replace(given, ground=partial(self.ground, listed, given.hits), notes=notes)

    def ground(self, listed: Listed, hits: Sequence[Hit], answer: str) -> Grounding:
        """Compare the sentences of an answer with chunks of a collection, by its own embedder.

        Raises:
            EmbedderError: when that is not installed, or the collection has none.
        """
        collection = self.collections.open(listed)
        fingerprint = collection.fingerprint
        embedder = self.embedders.of(fingerprint)
        if embedder is None:
            missing = f"its embedder {fingerprint.id!r} is not" if fingerprint else "no embedder is"
            raise EmbedderError(
                f"sentences cannot be compared: {missing} at hand",
                "Install it, or add again with another one: %rag add PATH --embedder NAME",
            )
        threshold = THRESHOLD
        # Of a few notes nothing can be measured: then the usual one is shown and holds.
        with suppress(RetrievalError):
            threshold = threshold_of(embedder, _sample(collection))
        return ground(answer, hits, embedder, threshold=threshold)

    def meant(self, wanted: Asking, settings: Settings) -> Listed | None:
        """Return the collection that a turn looks in, None where retrieval is off.

        It is found before anything is asked or made, and once a turn.

        Raises:
            CollectionNotFound, RetrievalError: when it is not there, or cannot be read.
            SettingError: when the model's tools should look in several.
        """
        if settings.get("rag.enabled").value == "off":
            return None
        return self.collections.existing(wanted.collection or _looked_in(wanted.tools or ()))

    def lookups_in(self, listed: Listed, settings: Settings, place: Place | None = None) -> Lookups:
        """Return the retrieval tools over a collection. Raises RetrievalError."""
        place = place or Place("collection", listed.name)
        collection = self.collections.open(listed)
        attachments = CollectionAttachments(collection, self.embedders.of(collection.fingerprint))
        threshold = float(settings.get("rag.threshold").value or THRESHOLD_OF_TOOL)
        terms = Terms(int(settings.get("rag.retrieval_limit").value or LIMIT), threshold)
        compare = partial(self.ground, listed)
        return Lookups(
            listed.name, place, attachments, terms, _chunks(collection), compare,
            address=listed.address,
        )  # fmt: skip

    def files_of(self, settings: Settings, home: Home) -> tuple[Listed, Place] | None:
        """Return the collection of files that were attached to a thread or to its project.

        None where there is none that can be read, or retrieval is off.
        """
        project = settings.get("project").value
        found = self.collections.owned(owner_of(settings, home)[0])
        if found is None or settings.get("rag.enabled").value == "off":
            return None
        return found, Place("project", project) if project else Place("thread", home.thread)

    async def attach(
        self, given: Sequence[Attachment], settings: Settings, fit: Fit, home: Home
    ) -> Attached:
        """Return what goes with a question; long files are taken into a collection."""
        limits = Limits(int(settings.get("rag.max_file_mb").value or 100) * MEGABYTE)
        shelf = shelf_of(self.collections, self.embedders, settings, home)
        deck = self.embedders.deck
        fetch = partial(fetched_piece, settings=settings, limits=limits, deck=deck)
        return await attach(given, fit, limits, home.folder, shelf, fetch)

    def _search(self, listed: Listed, question: str, options: Options) -> tuple[Found, int]:
        collection = self.collections.open(listed)
        embedder = self.embedders.of(collection.fingerprint)
        (found,) = search(collection, [question], options, embedder)
        return found, _chunks(collection)


def _looked_in(tools: Sequence[object]) -> str | None:
    """Return the collection that `rag:NAME` means, None for the default. Raises SettingError."""
    named = {str(each).partition(":")[2] for each in tools if is_lookup(each)}
    if len(named) > 1:
        raise SettingError(
            f"the retrieval tools look in one collection, not in {len(named)}",
            f"Name one: --tools {LOOKUP}:NAME",
        )
    return next(iter(named)) or None


def of_settings(settings: Settings) -> dict[str, Any]:
    """Return the options of a search that settings say."""
    return {name: settings.get(name).value for name in ("index", "fusion")}


def _sample(collection: RowCollection) -> list[str]:
    with collection.snapshot() as snapshot:
        return snapshot.sample(SAMPLE)


def _chunks(collection: RowCollection) -> int:
    with collection.snapshot() as snapshot:
        return snapshot.count()


def _fitted(listed: Listed, found: Found, chunks: int, fit: Fit) -> Retrieved:
    """Keep the best hits that there is room for, and say what became of the others."""
    used = [hit for hit in found.hits if hit.used]
    kept = _with_room(used, fit)
    notes = list(found.notes)
    if not used:
        notes.append(_nothing(found))
    elif len(kept) < len(used):
        notes.append(
            f"{counted(len(used) - len(kept), 'source')} had no room in the context window"
        )
    text = blocks(kept) if kept else ""
    return Retrieved(
        listed.name, tuple(kept), text, chunks, tuple(notes), found.facts, address=listed.address
    )


def _with_room(used: list[Hit], fit: Fit) -> list[Hit]:
    limit = None if fit.budget.window is None else int(fit.budget.input * SHARE)
    kept = list(used)
    while kept and limit is not None and _size(kept, fit.tokenizer) > limit:
        kept.pop()
    return kept


def _size(hits: list[Hit], tokenizer: Tokenizer) -> int:
    return tokenizer.count(blocks(hits))


def _nothing(found: Found) -> str:
    """Say why nothing was found: how many there were, and how near the best one came."""
    cosines = [hit.vector for hit in found.hits if hit.vector is not None]
    threshold = found.facts.get("threshold")
    best = ""
    if cosines and isinstance(threshold, float | int):
        best = f", best {max(cosines):.2f} under threshold {threshold:g}"
    return f"retrieval found nothing ({counted(found.candidates, 'candidate')}{best})"
