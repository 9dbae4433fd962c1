"""Intervals and p values: seeded, exact for few questions, and right about no difference."""

import numpy as np
import pytest

from jan_magics.rag.significance import interval, p_value


def test_an_interval_holds_its_mean_and_narrows() -> None:
    random = np.random.default_rng(1)
    few, many = random.random(20).tolist(), random.random(2_000).tolist()
    for values in (few, many):
        low, high = interval(values) or (0, 0)
        assert low < np.mean(values) < high
        assert (low, high) == interval(values) != interval(values, seed=1)
    narrow, wide = interval(many) or (0, 0), interval(few) or (0, 0)
    assert narrow[1] - narrow[0] < (wide[1] - wide[0]) / 5
    # About 1.96 standard errors on both sides.
    assert narrow[1] - narrow[0] == pytest.approx(2 * 1.96 * np.std(many) / np.sqrt(2_000), rel=0.1)


def test_nothing_has_no_interval_and_one_value_has_no_width() -> None:
    assert interval([]) is None
    assert interval([0.5]) == (0.5, 0.5)


def test_exact_p() -> None:
    # Of 2 ** 5 ways to swap, two are as far apart.
    assert p_value([0, 0, 0, 0, 0], [1, 1, 1, 1, 1]) == 2 / 32
    assert p_value([0.1, 0.2], [0.1, 0.2]) == 1
    assert p_value([1, 0], [0, 1]) == 1
    assert p_value([], []) is None


def test_many_questions_are_swapped_at_random() -> None:
    random = np.random.default_rng(2)
    first = random.random(100)
    same, better = first + random.normal(0, 0.1, 100), first + 0.1 + random.normal(0, 0.1, 100)
    equal = p_value(first.tolist(), same.tolist())
    assert equal is not None
    assert equal > 0.05
    assert p_value(first.tolist(), better.tolist()) == 1 / 10_001
    assert equal == p_value(first.tolist(), same.tolist())
    assert p_value(first.tolist(), first.tolist()) == 1


def test_pairs_are_of_the_same_questions() -> None:
    with pytest.raises(ValueError, match="2 and 1 values are no pairs"):
        p_value([1, 2], [1])
