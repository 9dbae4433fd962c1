"""Embedders and rerankers beside a deck: what they say is recorded, and replayed without them.

A packaged embedder that is installed answers by itself what a cassette does not have: it runs on
this machine, and says the same every time.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.messages import Json
from jan_magics.domain.protocols import Embedder, Reranker, Vectors
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.engine.cassette import Entry
from jan_magics.engine.deck import Deck
from jan_magics.rag.fitting import Measuring
from jan_magics.rag.vector_text import from_texts, to_texts

NO_EMBEDDER = "none"


@dataclass(slots=True, eq=False)
class TapedEmbedder:
    """An embedder beside a deck; `base` None: it is not here, and only a cassette knows it."""

    deck: Deck
    fingerprint: Fingerprint
    base: Embedder | None

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return rows (n, dim). Raises EmbedderError, NotRecorded."""
        asked = [self._request(text, query=query) for text in texts]
        if self.deck.playing is None:
            vectors = self._here(asked).embed(texts, query=query)
            if recording := self.deck.recording:
                rows = to_texts(vectors)
                recording.add_all(
                    "embed",
                    ((each, [[0, "vector", row]]) for each, row in zip(asked, rows, strict=True)),
                )
            return vectors
        found = [_said(self.deck.playing.take("embed", each)) for each in asked]
        missing = [n for n, each in enumerate(found) if not isinstance(each, str)]
        if missing:
            base = self._here([asked[missing[0]]])
            rows = to_texts(base.embed([texts[n] for n in missing], query=query))
            for n, row in zip(missing, rows, strict=True):
                found[n] = row
        return from_texts([str(each) for each in found], self.fingerprint.dim)

    def reads(self, text: str) -> bool:
        """Tell whether it can read the script of a text; what was recorded, was read."""
        return self.base is None or self.base.reads(text)

    def _request(self, text: str, *, query: bool) -> dict[str, Json]:
        return {"embedder": self.fingerprint.id, "query": query, "text": text}

    def _here(self, asked: Sequence[Json]) -> Embedder:
        if self.base is None:
            assert self.deck.playing is not None  # noqa: S101 - else it would be here
            raise self.deck.playing.missed_for("embed", asked[0])
        return self.base


@dataclass(slots=True, eq=False)
class MeasuringEmbedder(TapedEmbedder):
    """One that also knows how long a text is for it."""

    def tokens(self, text: str) -> int:
        """Return the tokens that it reads of a text; about, where nobody knows."""
        request: dict[str, Json] = {"embedder": self.fingerprint.id, "measured": text}
        base: Any = self.base
        if isinstance(base, Measuring):
            tokens = base.tokens(text)
            if self.deck.recording:
                self.deck.recording.note_count(request, tokens)
            return tokens
        entry = self.deck.playing.take("count", request) if self.deck.playing else None
        known = _said(entry)
        return known if isinstance(known, int) else len(text)


@dataclass(frozen=True, slots=True)
class TapedReranker:
    """A reranker beside a deck; `base` None: it is not here."""

    deck: Deck
    name: str
    base: Reranker | None

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score a text. Raises EmbedderError, NotRecorded."""
        asked: list[Json] = [
            {"reranker": self.name, "question": question, "text": text} for text in texts
        ]
        if playing := self.deck.playing:
            found = [_said(playing.take("rerank", each)) for each in asked]
            if all(isinstance(each, float | int) for each in found):
                return [float(cast(float, each)) for each in found]
            if self.base is None:
                raise playing.missed_for("rerank", asked[0])
        assert self.base is not None  # noqa: S101 - where nothing is played it is here
        scores = self.base.scores(question, texts)
        if recording := self.deck.recording:
            pairs = zip(asked, scores, strict=True)
            recording.add_all("rerank", ((each, [[0, "score", float(s)]]) for each, s in pairs))
        return scores


def taped_embedder(deck: Deck, name: str, load: Callable[[], Embedder | None]) -> Embedder | None:
    """Return an embedder beside the deck; "" names the one that is taken when none is named.

    Raises:
        EmbedderError: when it is not here, and not in the cassette.
    """
    if deck.playing is None and deck.recording is None:
        return load()
    entry = deck.playing.take("embed", {"named": name}) if deck.playing else None
    known = _said(entry)
    if known == NO_EMBEDDER:
        return None
    try:
        base = load()
    except EmbedderError:
        if not isinstance(known, dict):
            raise
        base = None
    told = _fingerprint(known) if isinstance(known, dict) else None
    if told and base and base.fingerprint != told:
        base = None  # another one is taken here when none is named
    if deck.recording:
        said: Json = NO_EMBEDDER if base is None else _told(base)
        deck.recording.add("embed", {"named": name}, [[0, "embedder", said]])
    fingerprint = told or (base.fingerprint if base else None)
    if fingerprint is None:
        return None
    measures = known.get("measures") if isinstance(known, dict) else isinstance(base, Measuring)
    kind = MeasuringEmbedder if measures else TapedEmbedder
    return kind(deck, fingerprint, base)


def taped_reranker(deck: Deck, name: str, load: Callable[[], Reranker]) -> Reranker:
    """Return a reranker beside the deck. Raises EmbedderError when it is not here."""
    try:
        return TapedReranker(deck, name, load())
    except EmbedderError:
        if deck.playing is None:
            raise
        return TapedReranker(deck, name, None)


def _told(base: Embedder) -> Json:
    measures = isinstance(base, Measuring)
    return {**cast("dict[str, Json]", asdict(base.fingerprint)), "measures": measures}


def _fingerprint(known: dict[str, Any]) -> Fingerprint | None:
    try:
        return Fingerprint(**{name: each for name, each in known.items() if name != "measures"})
    except TypeError:
        return None


def _said(entry: Entry | None) -> Json:
    line = entry.events[-1] if entry and entry.events else None
    return line[-1] if isinstance(line, list) and line else None
