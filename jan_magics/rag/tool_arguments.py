"""The arguments of a look-up as a model wrote them: what is meant, or what is wrong with them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final

from jan_magics.domain.messages import Json
from jan_magics.rag.attached import Attached

LONGEST_QUERY: Final = 1_000
"""Characters of a query; who passes more passes a document."""
MOST_ROWS: Final = 20
FURTHEST: Final = 2**53


class Unusable(ValueError):
    """Report arguments that cannot be used; the text is for the model."""


def limit_of(setting: object, default: int) -> int:
    """Return a setting as a number of rows, from 1 to 20; what is none gives the default."""
    number = _number(setting)
    return default if number is None else min(MOST_ROWS, max(1, int(number)))


def rows_of(wanted: Json, limit: int) -> int:
    """Return how many rows are meant: the limit at most, and where no number above 0 is given."""
    number = _number(wanted)
    return limit if number is None or number <= 0 else min(limit, max(1, int(number)))


def query_of(given: Mapping[str, Json]) -> str:
    """Return the query. Raises Unusable."""
    query = with_text(given, "query")
    if len(query) > LONGEST_QUERY:
        raise Unusable(
            f"the query has {len(query):,} characters: pass a query of a few words, no document"
        )
    return query


def with_text(given: Mapping[str, Json], name: str) -> str:
    """Return an argument that must be text, without blanks around it. Raises Unusable."""
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"{name} is missing" if value is None else f"{name} {value!r} is no text")
    return value.strip()


def order_of(given: Mapping[str, Json]) -> tuple[int, int]:
    """Return the first and the last place of a range of chunks. Raises Unusable."""
    first, last = (_place(given, name) for name in ("start_order", "end_order"))
    if last < first:
        raise Unusable(f"end_order {last} is before start_order {first}")
    return first, last


def files_of(given: Mapping[str, Json], listed: Sequence[Attached]) -> tuple[Attached, ...] | None:
    """Return the files that are named by id or by name, None where none is. Raises Unusable."""
    wanted = given.get("file_ids")
    if not wanted:
        return None
    names = wanted if isinstance(wanted, list) else [wanted]
    return tuple({file.id: file for file in (file_of(name, listed) for name in names)}.values())


def file_of(name: Json, listed: Sequence[Attached]) -> Attached:
    """Return the file of an id, or else of a name. Raises Unusable."""
    for known in ([each for each in listed if each.id == name], listed):
        for each in known:
            if name in (each.id, each.name):
                return each
    raise Unusable(f"no attached file {name!r}: list_attachments gives their ids")


def _place(given: Mapping[str, Json], name: str) -> int:
    number = _number(given.get(name))
    if number is None:
        value = given.get(name)
        raise Unusable(f"{name} is missing" if value is None else f"{name} {value!r} is no number")
    if not 0 <= number <= FURTHEST or number != int(number):
        raise Unusable(f"{name} {given.get(name)!r} is no place: they are counted from 0")
    return int(number)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
