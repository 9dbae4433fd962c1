"""Read how documents are to be cut, and refuse what cannot be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Recipe, Splitter
from jan_magics.rag.counting import Counter

Unit: TypeAlias = Literal["tokens", "chars"]

SIZE: Final = 200
OVERLAP: Final = 40
CHARS: Final = 512
LARGEST: Final = 8_192
LARGEST_OVERLAP: Final = 1_024
SMALLEST_STORED: Final = 64
"""What is smaller may be looked at, and is not worth an embedding."""
SPLITTERS: Final[tuple[str, ...]] = get_args(Splitter)
KEYS: Final = ("size", "overlap", "splitter")
_SIZE: Final = re.compile(r"\s*([0-9][0-9_,]*)\s*(c|t|chars|tokens)?\s*")
_UNITS: Final[Mapping[str, Unit]] = MappingProxyType({
    "c": "chars", "chars": "chars", "t": "tokens", "tokens": "tokens",
})  # fmt: skip


def parse_size(value: int | str) -> tuple[int, Unit | None]:
    """Read a size: `200`, `"200"`, `"512c"`; the unit is None where it is not said.

    Raises:
        SettingError: when it is no size.

    >>> parse_size("512c"), parse_size(200)
    ((512, 'chars'), (200, None))
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _no_size(value)
    found = _SIZE.fullmatch(str(value))
    if found is None:
        raise _no_size(value)
    return int(re.sub("[_,]", "", found[1])), _UNITS[found[2]] if found[2] else None


def recipe_of(
    counter: Counter,
    *,
    size: int | str | None = SIZE,
    overlap: int | str | None = OVERLAP,
    splitter: str = "recursive",
    smallest: int = 1,
) -> Recipe:
    """Return a recipe: sizes are tokens, or characters with a `c` and for the splitter `chars`.

    None is what is usual: 200 tokens and a fifth of the size, 40 at most; for `chars` 512 and an
    eighth, as the reference has it.

    Chunks that are only looked at may be as small as one token; those of a collection have 64 at
    least: pass that as `smallest`.

    Raises:
        SettingError: when a size, the overlap or the splitter cannot be used.
    """
    known = _splitter(splitter)
    units, unit = parse_size(size if size is not None else (CHARS if known == "chars" else SIZE))
    unit = unit or ("chars" if known == "chars" else "tokens")
    usual = units // 8 if unit == "chars" else min(OVERLAP, units // 5)
    shared, other = parse_size(usual if overlap is None else overlap)
    if known in ("chars", "tokens") and unit != known:
        raise SettingError(
            f"the splitter {known!r} counts {known}, and the size is {size!r}",
            f"Write {units}{'c' if known == 'chars' else ''}, or another splitter: recursive",
        )
    if other not in (None, unit):
        raise SettingError(
            f"the size {size!r} is in {unit}, the overlap {overlap!r} in {other}",
            f"Give both in {unit}: overlap={shared}{'c' if unit == 'chars' else ''}",
        )
    _check(units, shared, smallest)
    name, exact = ("chars", True) if unit == "chars" else (counter.name, counter.exact)
    return Recipe(known, units, shared, unit, name, exact)


def completed(named: Mapping[str, int | str], kept: Recipe | None) -> dict[str, int | str | None]:
    """Return how to cut where only some of size, overlap and splitter were named.

    What was not named is as `kept`; a size that was not is the usual one where the named splitter
    counts something else, and an overlap that was not is the usual one of a named size. None is
    what is usual.
    """
    how: dict[str, int | str | None] = {"size": None, "overlap": None, **named}
    if kept is None:
        return how
    how.setdefault("splitter", kept.splitter)
    counts = how["splitter"] if how["splitter"] in ("chars", "tokens") else kept.unit
    if how["size"] is None and counts == kept.unit:
        how["size"] = f"{kept.size} {kept.unit}"
        if how["overlap"] is None:
            how["overlap"] = f"{kept.overlap} {kept.unit}"
    return how


@dataclass(frozen=True, slots=True)
class Keeping:
    """Documents that are there keep their recipes; `recipe` is that of the others.

    `counter` counts the tokens here.
    """

    recipe: Recipe
    counter: Counter

    def own(self, kept: Recipe) -> Recipe:
        """Return a document's recipe as it is followed here."""
        if kept.unit == "chars":
            return kept
        return replace(kept, counter=self.counter.name, exact=self.counter.exact)


def _splitter(name: str) -> Splitter:
    for known in get_args(Splitter):
        if known == name:
            found: Splitter = known
            return found
    raise SettingError(f"no splitter {name!r}", f"It can be: {', '.join(SPLITTERS)}")


def recipes_of(
    counter: Counter, grid: Mapping[str, Sequence[object]] | None, **given: int | str | None
) -> Iterator[Recipe]:
    """Yield the recipe, or one for each combination that a grid asks for.

    Raises:
        SettingError: when a key of the grid is none of a recipe's, or has nothing to try.
    """
    tried = {key: _tried(key, values) for key, values in (grid or {}).items()}
    for combination in product(*tried.values()):
        chosen: dict[str, Any] = {**given, **dict(zip(tried, combination, strict=True))}
        yield recipe_of(counter, **chosen)


def _tried(key: str, values: object) -> tuple[int | str, ...]:
    if key not in KEYS:
        raise SettingError(f"no key {key!r} in a grid of chunks", f"It can be: {', '.join(KEYS)}")
    listed = (
        (values,)
        if isinstance(values, int | str)
        else tuple(values)
        if isinstance(values, Sequence)
        else ()
    )
    if not listed:
        raise SettingError(
            f"the grid has nothing to try for {key!r}", f"Write a list: {key}=[100, 200]"
        )
    return listed


def _check(size: int, overlap: int, smallest: int) -> None:
    if not smallest <= size <= LARGEST:
        raise SettingError(
            f"the size {size!r} is not between {smallest} and {LARGEST:,}",
            f"Choose another one: size={SIZE}",
        )
    if overlap > LARGEST_OVERLAP:
        raise SettingError(
            f"the overlap {overlap!r} is larger than {LARGEST_OVERLAP:,}",
            f"Choose a smaller one: overlap={OVERLAP}",
        )
    if overlap >= size:
        raise SettingError(
            f"the overlap {overlap!r} is not smaller than the size {size!r}",
            f"Choose a smaller overlap: overlap={size // 5}",
        )


def _no_size(value: object) -> SettingError:
    return SettingError(
        f"{value!r} is no size", "Write tokens or characters: size=200 or size='512c'"
    )
