"""Sentences of an answer against their sources, by the cosine of vectors made in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from jan_magics.api.retrieval_tables import grounding_table
from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag.calibration import calibrated, threshold_of
from jan_magics.rag.grounding import THRESHOLD, cosines, ground
from tests.rag.sources import BRIDGE, HITS, MAY, RIVER, WordCounts

ANSWER = (
    "The river froze early. 那座桥也关闭了。\n\n"
    "```\nThe bridge opens in May.\n```\n\nCats are nice."
)


@dataclass(frozen=True)
class Listening(WordCounts):
    """Counts words, and keeps what it was asked."""

    asked: list[list[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return super().embed(texts, query=query)


@dataclass(frozen=True)
class Given(WordCounts):
    """Gives the same array whatever it is asked."""

    rows: tuple[tuple[float, ...], ...] = ()

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("given", "1", 2)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.array(self.rows, np.float32)


def test_each_sentence_has_its_best_chunk() -> None:
    found = ground(ANSWER, HITS, WordCounts(), threshold=0.5)
    rows = [(row.sentence, row.supported, row.chunk, row.source) for row in found.rows]
    assert rows[:2] == [
        ("The river froze early.", True, RIVER.chunk.id, RIVER.source),
        ("那座桥也关闭了。", True, BRIDGE.chunk.id, BRIDGE.source),
    ]
    assert [row.sentence for row in found.rows][2:] == ["Cats are nice."]
    assert not found.rows[2].supported
    assert (found.threshold, found.embedder, found.unread) == (0.5, "words", 0)
    for row in found.rows:
        assert ANSWER[row.start : row.end] == row.sentence
        assert row.score is not None
        assert row.overlap is not None


def test_rows_of_tables_and_code_are_no_sentences() -> None:
    table = "| 河 | 那座桥也关闭了。 |\n|---|---|\n| River | The river froze early. |\n"
    answer = f"The river froze early.\n\n{table}\n`froze = river + early`\n\n那座桥也关闭了。"
    found = ground(answer, HITS, WordCounts(), threshold=0.5)
    assert [row.sentence for row in found.rows] == ["The river froze early.", "那座桥也关闭了。"]
    assert found.passed_over == 3
    assert grounding_table(found).attrs["jan"]["passed_over"] == 3


def test_overlap_is_the_share_of_words() -> None:
    first, _, last = ground(ANSWER, HITS, WordCounts()).rows
    assert (first.overlap, last.overlap) == (1.0, 0.0)


def test_all_is_embedded_in_one_batch() -> None:
    embedder = Listening()
    ground("The river **froze** [1]. It thawed.", HITS, embedder)
    assert embedder.asked == [["The river froze.", "It thawed.", *(hit.text for hit in HITS)]]
    ground("", HITS, embedder)
    ground("The river froze.", (), embedder)
    assert len(embedder.asked) == 1


def test_several_chunks_may_support_a_sentence() -> None:
    answer = "The river froze early, and the bridge opens in May."
    assert [row.chunk for row in ground(answer, HITS, WordCounts(), threshold=0.3, top=3).rows] == [
        MAY.chunk.id, RIVER.chunk.id,
    ]  # fmt: skip
    assert len(ground(answer, HITS, WordCounts(), threshold=0.99, top=3).rows) == 1


def test_nothing_to_compare_with_is_not_supported_and_has_no_score() -> None:
    (row,) = ground("The river froze.", (), WordCounts()).rows
    assert (row.supported, row.score, row.overlap, row.chunk) == (False, None, None, None)


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_vector_without_a_direction_has_no_score(bad: float) -> None:
    rows = ((bad, bad), (1.0, 0.0), (bad, bad), (0.6, 0.8), (1.0, 1.0))
    first, second = ground("The river froze. It has thawed.", HITS, Given(rows=rows)).rows
    assert (first.supported, first.score, first.chunk) == (False, None, None)
    assert second.chunk == MAY.chunk.id
    assert second.score == pytest.approx(0.5**0.5)


def test_what_the_embedder_cannot_read_is_counted() -> None:
    found = ground("The river froze early. 那座桥也关闭了。", HITS, WordCounts(ascii_only=True))
    assert found.unread == 1
    assert [row.score is None for row in found.rows] == [False, True]


@pytest.mark.parametrize("rows", [((1.0, 0.0),), ((1.0, 0.0),) * 9, ()])
def test_e3_another_number_of_vectors_is_an_error(rows: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(EmbedderError, match=r"'given' gave an array of shape .* for 4 texts"):
        ground("The river froze.", HITS, Given(rows=rows))


def test_a_threshold_is_a_cosine() -> None:
    with pytest.raises(SettingError, match=r"the threshold 65 is no cosine"):
        ground("The river froze.", HITS, WordCounts(), threshold=65)


def test_cosines_are_what_they_are() -> None:
    left, right = np.array([[2.0, 0.0], [1e-300, 0.0]]), np.array([[5.0, 0.0], [0.0, 3.0]])
    assert cosines(left, right).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_a_threshold_is_measured_on_pairs_that_have_nothing_in_common() -> None:
    chunks = [f"About w{n} and v{n}. It is u{n} of t{n}. 这是第{n}段文字。" for n in range(40)]
    threshold = calibrated(WordCounts(), chunks)
    assert threshold == calibrated(WordCounts(), chunks)
    assert 0.3 < threshold < 1
    own = ground(chunks[7].split(". ")[0] + ".", [], WordCounts())
    assert not own.rows[0].supported


def test_the_usual_threshold_is_for_minilm_and_others_are_measured() -> None:
    chunks = [f"About w{n} and v{n}. It is u{n} of t{n}." for n in range(40)]
    assert threshold_of(WordCounts(name="minilm"), []) == THRESHOLD == 0.65
    assert threshold_of(WordCounts(), chunks) == calibrated(WordCounts(), chunks)


def test_too_few_chunks_tell_nothing() -> None:
    for chunks in ([], ["One text. Two texts."] * 50, ["!", "?", ".", ",", ";"]):
        with pytest.raises(RetrievalError, match="too few to tell"):
            calibrated(WordCounts(), chunks)
