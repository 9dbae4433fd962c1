"""`%chat record` and `%chat replay`: a notebook that answers without a model."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from jan_magics.api.opening import current_host
from jan_magics.api.replaying import (
    begin_record,
    begin_replay,
    change_missing,
    end_record,
    end_replay,
    played_path,
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

        return Line(str(check(this_notebook(host), played_path(host, parsed.file))))
    if parsed.off:
        return Line("as before" if end_replay(host) else "nothing is being replayed")
    if parsed.missing and not parsed.file and (playing := change_missing(host, parsed.missing)):
        return Line(f"{playing.name} goes on · what is not recorded: {parsed.missing}")
    return Line(told(begin_replay(host, parsed.file, parsed.missing or "error")))


RUN: Final[Mapping[str, Run]] = MappingProxyType({"record": _record, "replay": _replay})
