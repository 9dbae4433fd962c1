"""Bit codes: distances are those of the signs, scores are exact, and nearly nobody is missed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.retrieval import Document
from jan_magics.rag import bit_codes, vectors
from jan_magics.rag.options import Options
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.vectors import FloatMatrix, Matrix
from tests.rag.library import add, ask


def unit(rows: FloatMatrix) -> FloatMatrix:
    made: FloatMatrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("<f4")
    return made


def grouped(n: int, dim: int, seed: int = 0) -> FloatMatrix:
    """Rows around some centres, as texts stand around their topics."""
    dice = np.random.default_rng(seed)
    centres = dice.standard_normal((max(2, n // 500), dim), dtype=np.float32)
    noise = dice.standard_normal((n, dim), dtype=np.float32)
    return unit(centres[dice.integers(0, len(centres), n)] + noise)


def held(rows: FloatMatrix) -> Matrix:
    numbers = np.arange(10, 10 + len(rows), dtype=np.int64)
    return Matrix(numbers, np.array([f"id{n:07}" for n in numbers], object), rows)


@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 1000))
def test_a_distance_is_the_number_of_signs_that_differ(dim: int, n: int, seed: int) -> None:
    rows = grouped(n, dim, seed)
    query = grouped(1, dim, seed + 1)[0]
    expected = ((rows > 0) != (query > 0)).sum(1)
    assert bit_codes.encode(rows).distances(query).tolist() == expected.tolist()


def test_opposite_rows_are_the_farthest() -> None:
    rows = unit(np.ones((3, 256), np.float32))
    assert bit_codes.encode(-rows).distances(rows[0]).tolist() == [256] * 3


def test_blocks_make_no_difference() -> None:
    rows = grouped((1 << 16) + 77, 64)
    expected = ((rows > 0) != (rows[5] > 0)).sum(1)
    assert np.array_equal(bit_codes.encode(rows).distances(rows[5]), expected)


@pytest.mark.parametrize("dim", [64, 100, 256])
def test_nearly_everyone_is_found_with_the_exact_score(dim: int) -> None:
    rows = grouped(40_000, dim)
    matrix = bit_codes.coded(held(rows))
    shares = []
    for query in unit(rows[:20] + 0.3 * grouped(20, dim, 3)):
        numbers, scores = bit_codes.top(matrix, query, 10)
        right, exact = vectors.top(matrix, query, 10)
        shares.append(len({*numbers} & {*right}) / 10)
        known = dict(zip(right, exact, strict=True))
        assert all(known.get(n, score) == score for n, score in zip(numbers, scores, strict=True))
        assert scores == sorted(scores, reverse=True)
    assert np.mean(shares) >= 0.97


@pytest.mark.parametrize("step", [2, 100])
def test_a_filter_lets_nobody_else_in(step: int) -> None:
    rows = grouped(20_000, 64)
    matrix = bit_codes.coded(held(rows))
    allowed = matrix.numbers[::step]
    numbers, _ = bit_codes.top(matrix, rows[7], 10, allowed)
    assert len(numbers) == 10
    assert {*numbers} <= {*allowed.tolist()}
    right, _ = vectors.top(matrix, rows[7], 10, allowed)
    assert len({*numbers} & {*right}) >= 9


def test_equal_rows_come_by_id_whoever_was_chosen() -> None:
    rows = np.repeat(grouped(1, 64), 5_000, axis=0)
    numbers, _ = bit_codes.top(bit_codes.coded(held(rows)), rows[0], 4)
    assert numbers == [10, 11, 12, 13]


def test_few_rows_are_all_measured() -> None:
    rows = grouped(300, 64)
    matrix = held(rows)
    found = bit_codes.top(bit_codes.coded(matrix), rows[1], 300)
    assert found == vectors.top(matrix, rows[1], 300)


def test_a_search_by_bits_has_the_scores_of_numpy_and_follows_changes(
    empty: RowCollection,
) -> None:
    add(
        empty, Document("many.txt", "".join(f"entry number{n} of the list\n" for n in range(4_000)))
    )
    asked = "entry number7 of the list"
    by_bits = ask(empty, asked, Options(mode="vector", index="bits"))
    exactly = ask(empty, asked, Options(mode="vector", index="numpy"))
    assert by_bits.facts["index"] == "bits"
    assert by_bits.hits[0].score == exactly.hits[0].score
    known = {hit.chunk.id: hit.score for hit in exactly.hits}
    shared = [hit for hit in by_bits.hits if hit.chunk.id in known]
    assert shared
    assert all(hit.score == known[hit.chunk.id] for hit in shared)

    add(empty, Document("new.txt", "密码 entry number7 of the new list\n"))
    found = ask(empty, asked, Options(mode="vector", index="bits", where='source = "new.txt"'))
    assert [hit.source for hit in found.hits] == ["new.txt"]
