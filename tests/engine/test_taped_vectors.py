"""Vectors and second looks in a cassette: bit for bit, where their makers are not installed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from jan_magics.domain.errors import EmbedderError, NotRecorded
from jan_magics.domain.protocols import Embedder, Reranker
from jan_magics.engine.deck import Deck
from jan_magics.engine.playing import load
from jan_magics.engine.recording import begin_recording
from jan_magics.engine.taped_vectors import taped_embedder, taped_reranker
from jan_magics.rag.embed_hash import HashEmbedder
from jan_magics.rag.fitting import Measuring
from jan_magics.rag.vector_text import from_texts
from tests.rag.embedding import Counting

TEXTS = ["apples and pears", "苹果和梨 🎉", "apples and pears", ""]


class Lengths:
    """Scores a text by its length."""

    name = "lengths"

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [len(text) / 7 for text in texts]


def away() -> Embedder:
    raise EmbedderError("it is not installed", "Install it.")


def no_reranker() -> Reranker:
    raise EmbedderError("it is not installed", "Install it.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jan.jsonl"


def recording(path: Path) -> Deck:
    return Deck(begin_recording(path, lambda: datetime(2026, 1, 1, tzinfo=UTC), ""))


def playing(path: Path) -> Deck:
    return Deck(playing=load(path, "error", ""))


def test_vectors_come_back_bit_for_bit_without_their_embedder(path: Path) -> None:
    base = Counting(limit=9)
    embedder = taped_embedder(recording(path), "", lambda: base)
    assert embedder is not None
    vectors, question = embedder.embed(TEXTS), embedder.embed(["apples"], query=True)
    assert isinstance(embedder, Measuring)
    assert embedder.tokens("a b c") == 3
    embedder.embed(["pears"])  # what was measured is written with it
    assert base.seen == [*TEXTS, "apples", "pears"]
    assert path.read_text("utf-8").count('"text":"apples and pears"') == 1

    played = taped_embedder(playing(path), "", away)
    assert played is not None
    assert played.fingerprint == base.fingerprint
    assert np.array_equal(played.embed(TEXTS), vectors)
    assert np.array_equal(played.embed(["apples"], query=True), question)
    assert isinstance(played, Measuring)
    assert played.tokens("a b c") == 3
    with pytest.raises(NotRecorded, match="not recorded"):
        played.embed(["apples"])  # it was asked as a question only


def test_an_embedder_that_is_here_says_what_is_not_recorded(path: Path) -> None:
    written = taped_embedder(recording(path), "hash", HashEmbedder)
    assert written is not None
    written.embed(["one"])
    counting = Counting()
    told = HashEmbedder(256)
    played = taped_embedder(playing(path), "hash", lambda: counting)
    assert played is not None
    assert played.fingerprint == written.fingerprint  # another one: the recorded stays
    with pytest.raises(NotRecorded):
        played.embed(["two"])
    other = taped_embedder(playing(path), "hash", HashEmbedder)
    assert other is not None
    assert np.array_equal(other.embed(["one", "two"]), HashEmbedder().embed(["one", "two"]))
    assert told.fingerprint == counting.fingerprint


def test_none_stays_none_and_what_nobody_knows_is_an_error(path: Path) -> None:
    assert taped_embedder(recording(path), "", lambda: None) is None
    assert taped_embedder(playing(path), "", HashEmbedder) is None
    with pytest.raises(EmbedderError):
        taped_embedder(playing(path), "e5", away)
    assert taped_embedder(Deck(), "hash", HashEmbedder) == HashEmbedder()


def test_second_looks_come_back(path: Path) -> None:
    reranker = taped_reranker(recording(path), "lengths", Lengths)
    scores = reranker.scores("which?", TEXTS)
    played = taped_reranker(playing(path), "lengths", no_reranker)
    assert played.scores("which?", TEXTS) == scores
    with pytest.raises(NotRecorded):
        played.scores("who?", TEXTS)


def test_a_damaged_vector_says_what_to_do() -> None:
    for text in ("AAAA", "not base64!", ""):
        with pytest.raises(EmbedderError, match="%chat record"):
            from_texts([text], 2)
