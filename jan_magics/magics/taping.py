"""`%chat record` and `%chat replay`: a notebook that answers without a model."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.api.opening import current_host
from jan_magics.api.replaying import (
    begin_record,
    begin_replay,
    cassette_path,
    end_record,
    end_replay,
    this_notebook,
    told,
)
from jan_magics.magics.caller import Caller
from jan_magics.magics.line import Line

Run: TypeAlias = Callable[[Caller, Any, str], object]


def _record(magics: Caller, parsed: Any, _: str) -> Line:
    host = current_host()
    return Line(end_record(host) if parsed.off else begin_record(host, parsed.file))


def _replay(magics: Caller, parsed: Any, _: str) -> Line:
    host = current_host()
    if parsed.check:
        from jan_magics.api.checking import check

        return Line(str(check(this_notebook(host), cassette_path(host, parsed.file))))
    if parsed.off:
        return Line("as before" if end_replay(host) else "nothing is being replayed")
    return Line(told(begin_replay(host, parsed.file, parsed.missing or "error")))


RUN: Final[Mapping[str, Run]] = MappingProxyType({"record": _record, "replay": _replay})
