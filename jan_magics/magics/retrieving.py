"""The verbs of `%rag`: each is a few lines over what Python can call too."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from jan_magics.magics.collecting import RUN as COLLECTING
from jan_magics.magics.collecting import Run, cutting
from jan_magics.magics.reading import axes


def _chunks(magics: Any, parsed: Any, _: str) -> object:
    from pathlib import Path

    from jan_magics.api.chunks import chunks
    from jan_magics.engine.fetching import is_address

    path = parsed.path if is_address(parsed.path) else Path(parsed.path)
    return chunks(path, grid=axes(parsed.grid) or None, **cutting(parsed))


RUN: Final[Mapping[str, Run]] = MappingProxyType({"chunks": _chunks, **COLLECTING})
