"""Measures of a ranking: known values, duplicates, and trec_eval on random runs."""

import math
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.rag.metrics import (
    Span,
    first_rank,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    span_scores,
)
from tests.conftest import require

RANKING = ["a", "b", "c", "d"]


def test_known_values() -> None:
    assert recall(RANKING, {"b", "d", "z"}, 3) == pytest.approx(1 / 3)
    assert precision(RANKING, {"b", "d", "z"}, 3) == pytest.approx(1 / 3)
    assert precision(["b"], {"b"}, 5) == pytest.approx(1 / 5)
    assert first_rank(RANKING, {"d", "b"}) == 2
    assert reciprocal_rank(RANKING, {"b", "d"}) == 0.5
    assert reciprocal_rank(RANKING, {"z"}) == 0
    # Järvelin & Kekäläinen: DCG = 3/log2(2) + 0 + 2/log2(4); ideal = 3 + 2/log2(3) + 1/log2(4).
    gains = {"a": 3.0, "c": 2.0, "z": 1.0}
    assert ndcg(RANKING, gains, 3) == pytest.approx(4 / (3 + 2 / math.log2(3) + 0.5))


@pytest.mark.parametrize("ranking", [RANKING, []])
def test_r13_nothing_relevant_is_undefined(ranking: list[str]) -> None:
    assert recall(ranking, (), 3) is precision(ranking, (), 3) is None
    assert reciprocal_rank(ranking, ()) is ndcg(ranking, {"a": 0}, 3) is None
    assert span_scores([("a", 0, 1)], []) == (None, None, None)


def test_r12_duplicates_count_once() -> None:
    doubled = ["a", "a", "b", "a"]
    assert recall(doubled, ["a", "a"], 2) == 1
    assert precision(doubled, {"a"}, 2) == 0.5
    assert ndcg(doubled, {"a": 1}, 4) == 1
    assert reciprocal_rank(["x", "x", "a"], {"a"}) == 0.5


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=12),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3)),
    st.integers(1, 10),
)
def test_r12_every_measure_is_from_0_to_1(
    ranking: list[str], gains: dict[str, float], k: int
) -> None:
    relevant = {each for each, gain in gains.items() if gain > 0}
    values = (
        recall(ranking, relevant, k), precision(ranking, relevant, k),
        reciprocal_rank(ranking, relevant), ndcg(ranking, gains, k),
    )  # fmt: skip
    for value in values:
        assert (value is None) == (not relevant)
        assert value is None or 0 <= value <= 1 + 1e-12


def test_r12_as_trec_eval() -> None:
    reason = "pytrec-eval-terrier is not installed: pip install pytrec-eval-terrier"
    require("pytrec", find_spec("pytrec_eval"), reason)
    trec: Any = import_module("pytrec_eval")
    random = np.random.default_rng(20)
    names = [f"d{n}" for n in range(60)]
    cuts = (1, 3, 5, 10, 20)
    rankings = {f"q{n}": random.choice(names, random.integers(1, 50)).tolist() for n in range(200)}
    gains: dict[str, dict[str, int]] = {
        query: dict(
            zip(random.permutation(names)[:12].tolist(), [1, *random.integers(0, 4, 11).tolist()],
                strict=True)
        )
        for query in rankings
    }  # fmt: skip
    run = {
        query: {name: 100.0 - n for n, name in enumerate(dict.fromkeys(ranking))}
        for query, ranking in rankings.items()
    }
    asked = {f"{name}.{','.join(map(str, cuts))}" for name in ("recall", "P", "ndcg_cut")}
    judged = trec.RelevanceEvaluator(gains, asked | {"recip_rank"}).evaluate(run)
    assert len(judged) == 200
    for query, known in judged.items():
        relevant = {name for name, gain in gains[query].items() if gain > 0}
        ranking = rankings[query]
        ours = {"recip_rank": reciprocal_rank(ranking, relevant)}
        for k in cuts:
            ours[f"recall_{k}"] = recall(ranking, relevant, k)
            ours[f"P_{k}"] = precision(ranking, relevant, k)
            ours[f"ndcg_cut_{k}"] = ndcg(ranking, dict(gains[query]), k)
        assert ours.keys() == known.keys()
        for name, value in ours.items():
            assert value == pytest.approx(known[name], abs=1e-9), name


def test_spans_share_characters() -> None:
    found: list[Span] = [("a", 0, 10), ("a", 5, 15), ("b", 0, 5)]
    assert span_scores(found, [("a", 10, 20)]) == (0.5, 5 / 20, 5 / 25)
    assert span_scores(found, [("c", 0, 1)]) == (0, 0, 0)
    assert span_scores([], [("c", 0, 1)]) == (0, 0, 0)
    assert span_scores([("c", 0, 9)], [("c", 0, 9), ("c", 3, 4)]) == (1, 1, 1)


SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(0, 9)).map(
        lambda each: (each[0], each[1], each[1] + each[2])
    ),
    max_size=6,
)


@given(SPANS, SPANS)
def test_r12_spans_as_counted_one_by_one(found: list[Span], wanted: list[Span]) -> None:
    left, right = (
        {(source, at) for source, start, end in spans for at in range(start, end)}
        for spans in (found, wanted)
    )
    scores = span_scores(found, wanted)
    if not right:
        assert scores == (None, None, None)
        return
    assert scores[0] == len(left & right) / len(right)
    assert scores[1] == (len(left & right) / len(left) if left else 0)
    assert scores[2] == len(left & right) / len(left | right)
