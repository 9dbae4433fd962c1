"""Defaults that stand in a signature, and tell that nobody named them."""

from collections.abc import Mapping
from typing import Any, Final


class UsualNumber(int):
    """A number that is taken where nothing is known; it looks like any other."""

    __slots__ = ()


class UsualWord(str):
    """A word that is taken where nothing is known; it looks like any other."""

    __slots__ = ()


SIZE: Final = UsualNumber(200)
OVERLAP: Final = UsualNumber(40)
SPLITTER: Final = UsualWord("recursive")


def named(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was named: None is not, and neither is a default.

    >>> named({"size": SIZE, "overlap": 40})
    {'overlap': 40}
    """
    usual = (UsualNumber, UsualWord)
    return {
        name: value
        for name, value in given.items()
        if value is not None and not isinstance(value, usual)
    }
