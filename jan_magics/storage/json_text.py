"""JSON as text: compact, non-ASCII as it is, always valid UTF-8. No knowledge of messages here."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from jan_magics.domain.messages import Json

_CHUNK: Final = 100
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def canonical(value: Json) -> str:
    r"""Write JSON the one way we write it; keys keep their order, which is the writer's.

    Sorting would reorder what a tool returned, and a resent prompt would miss the prefix cache.
    Lone surrogates become `\udXXX` escapes; NaN and infinities, which JSON has not, strings.
    """
    return _writable(value, indent=None)


def pretty(value: Json) -> str:
    """Write JSON for a file that people read, two spaces deep, with a newline at the end."""
    return _writable(value, indent=2) + "\n"


def parse(text: str | bytes) -> Json:
    """Read JSON.

    Raises:
        ValueError: for text that is no JSON, is not UTF-8, or is nested too deep to read.
    """
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def parse_each(texts: Sequence[str]) -> Iterator[Json]:
    """Read many JSON texts, in half the time of one by one; None for one that is damaged.

    Not all at once: what the caller has let go of need not be visited by the garbage collector.
    """
    for start in range(0, len(texts), _CHUNK):
        yield from _parse_chunk(texts[start : start + _CHUNK])


def _parse_chunk(texts: Sequence[str]) -> list[Json]:
    with suppress(ValueError):
        values = parse(f"[{','.join(texts)}]")
        if isinstance(values, list) and len(values) == len(texts):
            return values
    return [parse_or_none(text) for text in texts]


def parse_or_none(text: str | bytes) -> Json:
    """Read JSON, None for what is none."""
    try:
        return parse(text)
    except ValueError:
        return None


def finite(value: Json) -> Json:
    """Replace NaN and infinities by their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return value


def _writable(value: Json, *, indent: int | None) -> str:
    try:
        text = _dumps(value, indent)
    except ValueError:
        text = _dumps(finite(value), indent)
    # A string with a lone surrogate cannot be encoded, and one bad character would lose a reply.
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _dumps(value: Json, indent: int | None) -> str:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
