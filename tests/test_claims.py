"""What a benchmark claims: whether a promise is kept, wholly or in part, and what rounds sum to."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import ROOT, run, short, summed
from tests.benchmarks.claims import NOTES, Claim, LeftOut, read
from tests.benchmarks.rounds import by_question, exponent, interleaved


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


def test_a_script_that_takes_rounds_of_its_own_keeps_its_spread() -> None:
    [row] = summed([("search", [Claim("a", 2.0, "ms", low=1.0, high=5.0, rounds=40)])])
    assert (row["median"], row["p10"], row["p90"], row["rounds"]) == (2.0, 1.0, 5.0, 40)


def test_what_a_script_notes_is_read_back(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    code = (
        "from tests.benchmarks.claims import claimed, left_out\n"
        "assert not claimed('搜索', [3, 1, 2], '×', most=1)\n"
        "left_out('llm', 'not installed')\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, env={**os.environ, NOTES: str(notes)}
    )
    assert read(notes.read_text("utf-8")) == (
        [Claim("搜索", 2, "×", most=1, low=1, high=3, rounds=3)],
        [LeftOut("llm", "not installed")],
    )


def test_a_script_that_fails_is_told(tmp_path: Path) -> None:
    (claims, others), _ = run("of_nothing", logs=tmp_path)
    assert not claims
    assert others == [
        LeftOut("bench_of_nothing", f"FAILED: {tmp_path / 'of_nothing.log'} says why")
    ]
    assert "bench_of_nothing" in (tmp_path / "of_nothing.log").read_text("utf-8")


@pytest.mark.parametrize(
    ("number", "said"), [(0.0123456, "0.0123"), (99.96, "100"), (4261, "4,261")]
)
def test_a_number_is_said_in_three_digits(number: float, said: str) -> None:
    assert short(number) == said


def test_all_take_turns_and_who_begins_changes() -> None:
    order = list[str]()
    ways = {name: partial(order.append, name) for name in "abc"}
    times = interleaved(ways, 20)
    assert {name: len(each) for name, each in times.items()} == {"a": 20, "b": 20, "c": 20}
    rounds = [order[at : at + 3] for at in range(0, 60, 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len({each[0] for each in rounds}) == 3


def test_each_question_is_asked_of_all() -> None:
    asked: dict[str, list[int]] = {"a": [], "b": []}
    by_question({name: seen.append for name, seen in asked.items()}, 4)
    assert asked == {"a": [0, 0, 1, 2, 3], "b": [0, 0, 1, 2, 3]}


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_found(power: float) -> None:
    sizes = (1_000, 2_000, 4_000, 8_000)
    assert exponent(sizes, [0.003 * n**power for n in sizes]) == pytest.approx(power)
