"""A claim: what was measured, in what, and the bound that the project promises."""

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

NOTES: Final = "JAN_BENCH_NOTES"
"""The variable that names the file where claims are noted, a line of JSON each."""
RATIO: Final = "×"
"""The unit of a claim beside a rival, which is much the same on every machine."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A measured value; `most` and `least` are promised, None where it is only told."""

    what: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None

    def holds(self, share: float = 1.0) -> bool:
        """Tell whether the promise is kept, or this share of it."""
        within = self.most is None or self.value <= self.most / share
        return within and (self.least is None or self.value >= self.least * share)

    def __str__(self) -> str:
        bounds = (("most", self.most), ("least", self.least))
        told = ", ".join(f"at {word} {bound:g}" for word, bound in bounds if bound is not None)
        verdict = f"  ({told}: {'yes' if self.holds() else 'NO'})" if told else ""
        return f"{self.what:44} {self.value:12,.3f} {self.unit}{verdict}"


def claimed(
    what: str, value: float, unit: str, *, most: float | None = None, least: float | None = None
) -> bool:
    """Print a claim and note it for the table of all; returns whether it holds."""
    claim = Claim(what, value, unit, most, least)
    sys.stdout.write(f"{claim}\n")
    if notes := os.environ.get(NOTES):
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(claim), ensure_ascii=False) + "\n")
    return claim.holds()
