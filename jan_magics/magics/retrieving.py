"""The verbs of `%rag`: each is a few lines over what Python can call too."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Run: TypeAlias = Callable[[Any, Any, str], object]


def cutting(parsed: Any) -> dict[str, Any]:
    """Return how documents are to be cut, as Python takes it; None is what no flag says."""
    how = {"size": parsed.size, "overlap": parsed.overlap}
    return how | ({"splitter": parsed.splitter} if parsed.splitter else {})


def _chunks(magics: Any, parsed: Any, _: str) -> object:
    from pathlib import Path

    from jan_magics.api.chunks import chunks

    return chunks(Path(parsed.path), grid=dict(parsed.grid or ()), **cutting(parsed))


RUN: Final[Mapping[str, Run]] = MappingProxyType({"chunks": _chunks})
