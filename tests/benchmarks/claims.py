"""A claim: what was measured, in what, and the bound that the project promises."""

import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

NOTES: Final = "JAN_BENCH_NOTES"
"""The variable that names the file where claims are noted, a line of JSON each."""
QUICK: Final = "JAN_BENCH_QUICK"
"""The variable that asks a script for what can be judged within seconds, and nothing else."""
RATIO: Final = "×"
"""The unit of a claim beside a rival, which is much the same on every machine."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A measured value; `most` and `least` are promised, None where it is only told.

    `low` and `high` are what 10 and 90 % of the script's own `rounds` stay below.
    """

    what: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 1

    def holds(self, share: float = 1.0) -> bool:
        """Tell whether the promise is kept, or this share of it."""
        within = self.most is None or self.value <= self.most / share
        return within and (self.least is None or self.value >= self.least * share)

    def __str__(self) -> str:
        bounds = (("most", self.most), ("least", self.least))
        told = ", ".join(f"at {word} {bound:g}" for word, bound in bounds if bound is not None)
        verdict = f"  ({told}: {'yes' if self.holds() else 'NO'})" if told else ""
        return f"{self.what:52} {self.value:12,.3f} {self.unit:2}{verdict}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Who or what was not measured, and why."""

    who: str
    why: str


def claimed(
    what: str,
    value: float | Sequence[float],
    unit: str,
    *,
    most: float | None = None,
    least: float | None = None,
) -> bool:
    """Print a claim and note it for the table of all; returns whether it holds.

    Several values are those of rounds: their median is claimed.
    """
    numbers = [value] if isinstance(value, int | float) else [*value]
    low, high = spread(numbers) if len(numbers) > 1 else (None, None)
    claim = Claim(what, statistics.median(numbers), unit, most, least, low, high, len(numbers))
    sys.stdout.write(f"{claim}\n")
    _note(asdict(claim))
    return claim.holds()


def left_out(who: str, why: str) -> None:
    """Print and note that something is not measured here."""
    sys.stdout.write(f"{who} is left out: {why}\n")
    _note(asdict(LeftOut(who, why)))


def spread(numbers: Sequence[float]) -> tuple[float, float]:
    """Return what 10 and 90 % of values stay below, by the nearest rank."""
    ordered = sorted(numbers)
    return ordered[int(0.1 * len(ordered))], ordered[int(0.9 * (len(ordered) - 1) + 0.5)]


def quick() -> bool:
    """Tell whether only what can be judged within seconds is asked for."""
    return bool(os.environ.get(QUICK))


def read(notes: str) -> tuple[list[Claim], list[LeftOut]]:
    """Return what a script has noted."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in notes.splitlines()]
    claims = [Claim(**row) for row in rows if "what" in row]
    return claims, [LeftOut(**row) for row in rows if "who" in row]


def _note(row: dict[str, Any]) -> None:
    if notes := os.environ.get(NOTES):
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
