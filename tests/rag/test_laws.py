"""Laws of retrieval, on vectors and texts that nobody chose."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jan_magics.domain.retrieval import Document, Index, Mode
from jan_magics.rag.fusion import AVERAGED, TRAINED, convex, rrf, scaled, trust_in, weight_of
from jan_magics.rag.options import Options
from jan_magics.rag.vectors import Matrix, product, top, unit
from tests.rag.embedding import Broken, Numbered
from tests.rag.library import HASH, add, ask, opened

SLOW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WORDS = st.sampled_from(
    ["fork", "path", "thread", "budget", "密码", "过拟合", "token", "🎉", "one"]
)
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=40)


@SLOW
@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 2**32 - 1), st.booleans())
def test_law_6_numpy_and_vec0_give_the_same_ids_and_scores(
    n: int, k: int, seed: int, coarse: bool
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 256)).astype(np.float32)
    if coarse:
        # Few different vectors: most distances are equal, and ids decide.
        rows = np.sign(rows) * (np.arange(256) < 2)
    text = "".join(f"line number {i}\n" for i in range(n))
    with tempfile.TemporaryDirectory() as folder:
        collection = opened(Path(folder) / "a.db")
        add(collection, Document("a.txt", text), embedder=Numbered(rows.astype(np.float32)))
        query = Broken(rng.standard_normal((1, 256)).astype(np.float32))
        answers = []
        engines: tuple[Index, ...] = ("numpy", "vec0")
        for engine in engines:
            found = ask(collection, "x", Options(k=k, mode="vector", index=engine), query)
            assert found.facts["index"] == engine
            answers.append([(hit.chunk.id, hit.score) for hit in found.hits])
        collection.close()
    first, second = answers
    assert [each for each, _ in first] == [each for each, _ in second]
    assert len(first) == min(k, n)
    assert first == sorted(first, key=lambda pair: (-pair[1], pair[0]))
    assert all(abs(a[1] - b[1]) <= 1e-5 for a, b in zip(first, second, strict=True))


@SLOW
@given(LINES, st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.integers(1, 12))
def test_exactly_min_k_matching_and_falling_scores(lines: list[str], asked: str, k: int) -> None:
    text = "".join(f"{line}\n" for line in lines)
    modes: tuple[Mode, ...] = ("hybrid", "vector", "keyword")
    with tempfile.TemporaryDirectory() as folder:
        collection = opened(Path(folder) / "a.db")
        add(collection, Document("a.txt", text))
        for mode in modes:
            found = ask(collection, asked, Options(k=k, mode=mode, all=True))
            used = [hit for hit in found.hits if hit.used]
            everything = ask(collection, asked, Options(k=1000, mode=mode))
            assert len(used) == min(k, len(everything.hits))
            assert [hit.score for hit in used] == sorted((h.score for h in used), reverse=True)
            assert len({hit.chunk.id for hit in found.hits}) == len(found.hits) == found.candidates
            assert all(text[h.chunk.start : h.chunk.end] == h.text for h in found.hits)
            some = Options(k=k, mode=mode, all=True, where={"text": {"~": "fork"}})
            inside = ask(collection, asked, some)
            assert all("fork" in hit.text for hit in inside.hits)
        collection.close()


@given(st.integers(1, 300), st.integers(1, 8), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_the_fast_product_loses_nobody(n: int, dim: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, dim))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    query = unit(rng.standard_normal(dim))
    assert query is not None
    ids = np.array([f"{i:016x}" for i in range(n)], object)
    numbers, scores = top(Matrix(np.arange(n), ids, rows), query, k)
    exact = (rows.astype(np.float64) * query.astype(np.float64)).sum(1)
    want = sorted(range(n), key=lambda i: (-exact[i], ids[i]))[:k]
    assert numbers == want
    assert np.allclose(scores, exact[want], atol=1e-12)
    allowed = np.arange(0, n, 3)
    some, _ = top(Matrix(np.arange(n), ids, rows), query, k, allowed)
    assert (
        some == [i for i in sorted(range(n), key=lambda i: (-exact[i], ids[i])) if i % 3 == 0][:k]
    )


def test_a_row_that_is_no_number_spoils_no_other_and_warns_nobody() -> None:
    rows = np.eye(4, 3, dtype=np.float32)
    rows[1] = np.nan
    found = product(rows, np.array([1, 2, 3], np.float32))
    assert found[[0, 2, 3]].tolist() == [1, 3, 0]
    both = product(rows, np.eye(3, dtype=np.float32))
    assert both[[0, 2, 3]].tolist() == rows[[0, 2, 3]].tolist()


FALLING = st.lists(st.floats(0, 50), max_size=120).map(lambda each: sorted(each, reverse=True))


@given(FALLING, FALLING, st.sampled_from([AVERAGED, TRAINED]))
def test_a_weight_is_a_share_and_a_longer_pool_changes_nothing(
    near: list[float], said: list[float], trust: float
) -> None:
    weight = weight_of(near, said, trust)
    assert 0 <= weight <= 1
    assert weight_of(near[:50], said[:50], trust) == weight
    assert weight_of([each / 64 for each in near], said, trust) == weight
    assert weight_of(near, said, AVERAGED) <= weight_of(near, said, TRAINED)


def test_words_that_all_say_the_same_say_little() -> None:
    near = [0.8, 0.5, 0.4]
    alike, apart = ([9 - each * step for each in range(50)] for step in (0.01, 0.18))
    assert weight_of(near, alike) > weight_of(near, apart)
    # The few that have a word at all end where the collection ends.
    assert np.isclose(weight_of(near, [9, 8.9, 8.8]), weight_of(near, [9, 8, 7]))
    assert weight_of(near, []) == 1
    assert weight_of([], [9, 1]) == 0
    assert trust_in("minilm") == trust_in("http://a/v1#b") > trust_in("static") == trust_in("hash")


SCORES = st.dictionaries(st.integers(0, 30), st.floats(-5, 5), max_size=12)


@given(SCORES, SCORES, st.floats(0, 1))
def test_fusion_stays_within_0_and_1_and_forgets_nobody(
    near: dict[int, float], said: dict[int, float], weight: float
) -> None:
    fused = convex(near, said, weight)
    assert set(fused) == near.keys() | said.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())
    ranks = rrf((list(near), list(said)))
    assert set(ranks) == set(fused)
    assert all(0 < score <= 1 for score in ranks.values())
    assert set(scaled(near).values()) <= {1.0} or min(scaled(near).values()) == 0.0


def test_equal_rows_have_equal_scores_wherever_they_stand() -> None:
    row = unit(np.random.default_rng(1).standard_normal(384))
    query = unit(np.random.default_rng(2).standard_normal(384))
    assert row is not None
    assert query is not None
    for n in (1, 2, 7, 64, 1000):
        rows = np.array([row] * n)
        _, scores = top(Matrix(np.arange(n), np.arange(n).astype(str), rows), query, n)
        assert len(set(scores)) == 1


def test_s6_ids_survive_reingestion_of_unchanged_text(tmp_path: Path) -> None:
    collection = opened(tmp_path / "a.db")
    add(collection, Document("a.txt", "one fork\ntwo forks\n"))
    before = {hit.text: hit.chunk.id for hit in ask(collection, "fork").hits}
    add(collection, Document("a.txt", "zero\none fork\ntwo forks\n"))
    after = {hit.text: hit.chunk.id for hit in ask(collection, "fork").hits}
    assert before.items() <= after.items()
    assert HASH.fingerprint == collection.fingerprint
    collection.close()
