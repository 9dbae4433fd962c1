"""`%chat leaks`: what should not be handed on."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.magics.caller import Caller

Run: TypeAlias = Callable[[Caller, Any, str], object]


def _leaks(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.leaking import leaks_here, scrub

    return scrub(parsed.path) if parsed.scrub else leaks_here(parsed.path)


RUN: Final[Mapping[str, Run]] = MappingProxyType({"leaks": _leaks})
