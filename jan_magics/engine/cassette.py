"""Cassettes: recorded requests and answers as canonical JSON Lines. Nothing is asked or sent here.

Line 1 says when and where it was recorded and what was known of each model; every other line is an
entry. Two cassettes with their lines put together are a cassette. There are no headers of requests
in it, no addresses of servers and no keys.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from jan_magics.domain.errors import Refused, SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource, ModelInfo, ModelRef, Schemas
from jan_magics.storage.json_text import canonical, finite, parse_or_none

Kind: TypeAlias = Literal["chat", "embed", "rerank", "count", "tool", "tools"]

VERSION: Final = 1
SUFFIX: Final = ".jan.jsonl"
PROBED: Final[CapabilitySource] = "probed"
_FIELDS: Final = ("window", "source", "chosen", "wire", "continues", "capabilities", "observed")


@dataclass(frozen=True, slots=True)
class Entry:
    """A request and what came of it; `n` numbers those with an equal key, from 1.

    `events` are lists: seconds since the request, the kind of event, and what it says.
    """

    kind: str
    key: str
    n: int
    request: Json
    events: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What was known of a model: its window in tokens and who told it, its wire, what it can.

    `observed` are pairs of estimated and counted tokens that corrected the estimate when recording
    began; `counts` says how an exact tokenizer counts marks, None where tokens were estimated.
    `lacks` is what its server says that it cannot, `refused` what it had refused by then;
    `schemas` says whether it holds answers to a schema.
    """

    window: int | None = None
    source: str = ""
    chosen: bool = False
    wire: str = ""
    continues: bool = True
    capabilities: tuple[str, ...] = ()
    observed: tuple[tuple[int, int], ...] = ()
    counts: Mapping[str, Json] | None = None
    lacks: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    schemas: Schemas = "never"

    def info(self, model: ModelRef) -> ModelInfo:
        """Return what was known, as a server tells it."""
        told = (dict.fromkeys(names, PROBED) for names in (self.capabilities, self.lacks))
        has, lacks = told
        return ModelInfo(model, self.window, has, lacks=lacks)


@dataclass(frozen=True, slots=True)
class Header:
    """When and where a cassette was recorded; `time` is in the zone of its user.

    `default` is the model that answered where no cell named one.
    """

    time: datetime
    notebook: str = ""
    default: str = ""
    models: Mapping[str, ModelFacts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cassette:
    """The content of a file; `faults` are the numbers of lines that cannot be read, from 1."""

    headers: tuple[Header, ...] = ()
    entries: tuple[Entry, ...] = ()
    faults: tuple[int, ...] = ()


def name_of(model: ModelRef) -> str:
    """Return how a cassette names a model: an address is no part of it."""
    return f"{model.provider}:{model.name}"


def key_of(kind: str, request: Json) -> str:
    """Return the SHA-256 of a request as JSON with sorted keys, 64 hex digits."""
    text = json.dumps([kind, finite(request)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def line_of(written: Header | Entry) -> str:
    """Write a line, without its end."""
    if isinstance(written, Entry):
        return canonical({
            "kind": written.kind, "key": written.key, "n": written.n,
            "request": written.request, "events": list(written.events),
        })  # fmt: skip
    models: dict[str, Json] = {name: _facts_json(f) for name, f in sorted(written.models.items())}
    return canonical({
        "cassette": VERSION,
        "time": written.time.isoformat(timespec="milliseconds"),
        "zone": written.time.tzname() or "",
        "notebook": written.notebook,
        "default": written.default,
        "models": models,
    })  # fmt: skip


def read_cassette(path: Path) -> Cassette:
    """Read a cassette; a line that cannot be read is skipped and counted among the faults.

    Raises:
        SettingError: when the file cannot be read, or a newer version has written it.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise SettingError(
            f"the cassette {path.name!r} cannot be read: {error.strerror or error}",
            "Record one: %chat record FILE   or name another: %chat replay FILE",
        ) from error
    headers, entries, faults = list[Header](), list[Entry](), list[int]()
    for number, line in enumerate(lines, 1):
        match _read(line, path.name) if line.strip() else "":
            case Header() as header:
                headers.append(header)
            case Entry() as entry:
                entries.append(entry)
            case None:
                faults.append(number)
    return Cassette(tuple(headers), _once(entries), tuple(faults))


def merged(headers: Sequence[Header], wanted: str = "") -> Header | None:
    """Return one header of several: the first of the wanted notebook, else the first of all.

    A model that several know is known as that one, or the first, says it.
    """
    if not headers:
        return None
    first = next((each for each in headers if wanted and each.notebook == wanted), headers[0])
    models: dict[str, ModelFacts] = {}
    for each in (first, *headers):
        models = {**each.models, **models}
    default = next((each.default for each in (first, *headers) if each.default), "")
    return replace(first, models=models, default=default)


def by_key(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """Return entries by kind and key, each list in the order of their numbers."""
    found: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.kind, entry.key].append(entry)
    return {key: sorted(each, key=lambda entry: entry.n) for key, each in found.items()}


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Leave out what stands there twice, as it may where two cassettes were put together."""
    return tuple({line_of(entry): entry for entry in entries}.values())


def _read(line: bytes, name: str) -> Header | Entry | None:
    found = parse_or_none(line)
    if not isinstance(found, dict):
        return None
    if "cassette" in found:
        return _header(found, name)
    kind, key, n, events = (found.get(each) for each in ("kind", "key", "n", "events"))
    if not (isinstance(kind, str) and isinstance(key, str) and isinstance(events, list)):
        return None
    if type(n) is not int or not all(isinstance(event, list) for event in events):
        return None
    return Entry(kind, key, n, found.get("request"), tuple(events))


def _header(found: Mapping[str, Any], name: str) -> Header | None:
    version = found["cassette"]
    if type(version) is int and version > VERSION:
        raise SettingError(
            f"the cassette {name!r} is of version {version}, and this reads {VERSION}",
            "Bring jan_magics up to date: pip install --upgrade jan-magics",
        )
    try:
        time = datetime.fromisoformat(found["time"])
        zone = timezone(time.utcoffset() or timedelta(), str(found["zone"] or "UTC"))
        models = {str(each): _facts(facts) for each, facts in found["models"].items()}
        told = (str(found.get("notebook", "")), str(found.get("default", "")))
        return Header(time.replace(tzinfo=zone), *told, models)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _facts(found: Mapping[str, Any]) -> ModelFacts:
    known = {name: found[name] for name in _FIELDS if name in found}
    known["capabilities"] = tuple(found.get("capabilities", ()))
    known["lacks"] = tuple(found.get("lacks", ()))
    known["refused"] = tuple(each for each in found.get("refused", ()) if each in get_args(Refused))
    schemas = found.get("schemas", "never")
    known["schemas"] = schemas if schemas in get_args(Schemas) else "never"
    known["observed"] = tuple((int(a), int(b)) for a, b in found.get("observed", ()))
    return ModelFacts(**known, counts=found.get("counts"))


def _facts_json(facts: ModelFacts) -> Json:
    known: dict[str, Json] = {
        "window": facts.window,
        "source": facts.source,
        "chosen": facts.chosen,
        "wire": facts.wire,
        "continues": facts.continues,
        "capabilities": [*sorted(facts.capabilities)],
        "observed": [[*pair] for pair in facts.observed],
    }
    # Left out where there is none, as in cassettes of before.
    known |= {"lacks": [*sorted(facts.lacks)]} if facts.lacks else {}
    known |= {"refused": [*sorted(facts.refused)]} if facts.refused else {}
    known |= {"schemas": facts.schemas} if facts.schemas != "never" else {}
    return known if facts.counts is None else {**known, "counts": dict(facts.counts)}
