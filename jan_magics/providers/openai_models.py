"""The list of models in the shapes that servers give it. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jan_magics.domain.messages import Json
from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.providers.abilities import Abilities, in_properties, in_row
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.native import loaded_in, rows_in
from jan_magics.providers.speaking import parsed_list, rows_of

_WINDOWS = ("context_length", "max_context_length", "context_window", "max_model_len")


def read_models(
    body: bytes, asked: Asked, native: bytes = b"", properties: bytes = b""
) -> Sequence[ModelInfo]:
    """Return the models, loaded ones first; `native` is the server's own list beside `body`.

    `properties` are those of a llama.cpp server, which tell of a model that is its only one.

    Raises:
        StreamBroken: when `body` is no list of models.
    """
    data = parsed_list(body, asked)
    # Together gives a bare list.
    rows = rows_of(data.get("data") if isinstance(data, dict) else data, asked)
    known = rows_in(native)
    found = [_info({**row, **known(row)}, asked) for row in rows]
    named = [info for info in found if info.ref.name]
    if len(named) == 1:
        named = [_told(named[0], in_properties(_object(properties)))]
    # sorted is stable: without that knowledge the server's own order stays.
    return tuple(sorted(named, key=lambda info: info.loaded is not True))


def is_idle(body: bytes) -> bool:
    """Tell whether a list of slots has none that is busy; True where it cannot be read."""
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError):
        return True
    slots = (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
    return not any(slot.get("is_processing") is True for slot in slots)


def _info(row: Mapping[str, Json], asked: Asked) -> ModelInfo:
    name = row.get("id")
    address = asked.address if asked.provider == "custom" else None
    ref = ModelRef(asked.provider, name if isinstance(name, str) else "", address)
    info = ModelInfo(ref, _window(row), declared_of(ref.name), loaded_in(row))
    return _told(info, in_row(row))


def _told(info: ModelInfo, abilities: Abilities) -> ModelInfo:
    """Return a model with what its server tells of it, which goes before what is declared."""
    has = {**info.capabilities, **abilities.has}
    kept = {name: source for name, source in has.items() if name not in abilities.lacks}
    return replace(info, capabilities=kept, lacks={**info.lacks, **abilities.lacks})


def _object(body: bytes) -> Mapping[str, Json]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _window(row: Mapping[str, Json]) -> int | None:
    meta = row.get("meta")
    served = meta.get("n_ctx") if isinstance(meta, dict) else None  # llama.cpp
    values = (served, row.get("loaded_context_length"), *(row.get(name) for name in _WINDOWS))
    return next((value for value in values if type(value) is int and value > 0), None)
