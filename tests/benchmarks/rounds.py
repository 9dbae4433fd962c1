"""Rounds in which all take turns, so that they share what the machine does besides."""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from tests.benchmarks.claims import left_out, quick


def interleaved(
    ways: Mapping[str, Callable[[], object]],
    rounds: int = 5,
    *,
    before: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Return the seconds of each way, a value a round; one is run after the other in each round.

    Who begins changes from round to round; `before` is called before each run and not timed.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    names, dice = list(ways), random.Random(0)  # noqa: S311 (an order, no secret)
    for _ in range(rounds):
        for name in dice.sample(names, len(names)):
            before()
            begun = clock()
            ways[name]()
            times[name].append(clock() - begun)
    return times


def by_question(
    ways: Mapping[str, Callable[[int], object]], questions: int
) -> dict[str, list[float]]:
    """Return the seconds of each way, a value a question: each is a round of its own."""
    for way in ways.values():
        way(0)
    number = iter(range(questions * len(ways)))
    asked = {name: lambda way=way: way(next(number) // len(ways)) for name, way in ways.items()}
    return interleaved(asked, questions)


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return how many times the second is in the first, round by round."""
    return [one / other for one, other in zip(above, below, strict=True)]


def judged(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return the ratios that are judged: of every round, or where time is short of the best two.

    Others can only make a run slower, so that the best of few rounds say more than their median.
    """
    return [min(above) / min(below)] if quick() else ratios(above, below)


def scaled(seconds: Sequence[float], by: float = 1000.0) -> list[float]:
    """Return seconds as milliseconds, or by another factor."""
    return [each * by for each in seconds]


def best(
    work: Callable[[], object], runs: int = 9, *, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the shortest time of several runs, in seconds: the others measure the machine."""
    return min(interleaved({"": work}, runs, clock=clock)[""])


def installed(module: str, package: str = "") -> bool:
    """Tell whether a rival is here; where it is not, that is said in the table."""
    here = find_spec(module) is not None
    if not here:
        left_out(package or module, "not installed (pip install --group bench)")
    return here


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return b of the law a · n^b that fits best: least squares of the logarithms."""
    across, up = [math.log(n) for n in sizes], [math.log(each) for each in seconds]
    middle, height = sum(across) / len(across), sum(up) / len(up)
    above = sum((x - middle) * (y - height) for x, y in zip(across, up, strict=True))
    return above / sum((x - middle) ** 2 for x in across)
