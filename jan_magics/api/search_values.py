"""What searches are tried with: every key's values, read and refused before anything is asked."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from jan_magics.domain.errors import SettingError

RECIPE: Final = ("size", "overlap", "splitter")
SEARCH: Final = ("k", "mode", "threshold", "rerank", "where", "fusion", "weight", "index")
SWITCHED_OFF: Final = frozenset({"threshold", "rerank", "where", "weight"})
"""What there need not be: on a line that is typed as `none`."""


def tried_values(grid: Mapping[str, object] | None) -> dict[str, tuple[Any, ...]]:
    """Return the values that a grid tries, by key; a value by itself is one of one.

    Raises:
        SettingError: for a key that no search has, and for one without values.
    """
    if grid is not None and not isinstance(grid, Mapping):
        raise SettingError(
            f"a grid is not {grid!r}", "Map keys to values: grid={'mode': ['keyword', 'hybrid']}"
        )
    found: dict[str, tuple[Any, ...]] = {}
    for key, values in (grid or {}).items():
        if key not in (*RECIPE, *SEARCH):
            raise SettingError(
                f"no key {key!r} in a grid of searches",
                f"It can be: {', '.join((*SEARCH, *RECIPE))}",
            )
        found[key] = tuple(_value(key, each) for each in _several(key, values))
        if not found[key]:
            raise SettingError(
                f"the grid has nothing to try for {key!r}", f"Write a list: {{{key!r}: […]}}"
            )
    return found


def search_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a search by name. Raises SettingError for what no search has."""
    for name in given:
        if name not in SEARCH:
            raise SettingError(f"a search has no {name!r}", f"It can be: {', '.join(SEARCH)}")
    return {name: _value(name, value) for name, value in given.items()}


def shown_setting(setting: Mapping[str, object]) -> str:
    """Return a combination as it is told: `mode hybrid, k 3`, "" without a grid."""
    return ", ".join(
        f"{key} {'none' if value is None else value}" for key, value in setting.items()
    )


def _several(key: str, values: object) -> Iterable[object]:
    # A filter may be written as a mapping, which is one value.
    alone = isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable)
    return (values,) if alone else values  # type: ignore[return-value]


def _value(key: str, value: object) -> Any:
    """Return a value as Python has it: a number of numpy's is one, `none` is None where it may."""
    if callable(number := getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:
        value = number()
    if key in SWITCHED_OFF and isinstance(value, str) and value.strip().casefold() in ("", "none"):
        return None
    if key in ("rerank", "splitter") and not isinstance(value, str | None):
        raise SettingError(f"{key} is {value!r}", f"It is a name: {key}='…'")
    return value
