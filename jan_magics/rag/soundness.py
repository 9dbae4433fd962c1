"""What a check of a collection finds. The checks are in doctor.py and with each database."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Grade: TypeAlias = Literal["ok", "warning", "error"]

ANEW: Final = "Add the documents to a new collection: %rag add PATH -c NAME"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, and what to type where it should be otherwise."""

    check: str
    status: Grade
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a database says of itself: whether it is whole, then how it is kept."""

    whole: Finding
    kept: tuple[Finding, ...]
