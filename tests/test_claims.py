"""What a benchmark claims: whether a promise is kept, wholly or in part, and what rounds sum to."""

import pytest

from tests.benchmarks.__main__ import summed
from tests.benchmarks.claims import Claim


@pytest.mark.parametrize(
    ("claim", "holds", "in_part"),
    [
        (Claim("a", 10, "×", least=10), True, True),
        (Claim("a", 7.1, "×", least=10), False, True),
        (Claim("a", 6.9, "×", least=10), False, False),
        (Claim("a", 1.5, "×", most=1.5), True, True),
        (Claim("a", 2.1, "×", most=1.5), False, True),
        (Claim("a", 2.2, "×", most=1.5), False, False),
        (Claim("a", 3, "s"), True, True),
    ],
)
def test_a_promise_is_kept_wholly_or_in_part(claim: Claim, holds: bool, in_part: bool) -> None:
    assert claim.holds() is holds
    assert claim.holds(0.7) is in_part
    assert ("NO" in str(claim)) is not holds


def test_rounds_give_a_median_and_a_range() -> None:
    rounds = [("map", [Claim("a row", value, "ms", most=5)]) for value in (9.0, 1.0, 2.0, 3.0, 4.0)]
    [row] = summed(rounds)
    assert (row["median"], row["p10"], row["p90"], row["rounds"]) == (3.0, 1.0, 9.0, 5)
    assert (row["script"], row["what"], row["holds"]) == ("map", "a row", True)
