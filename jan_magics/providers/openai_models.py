"""The list of models in the shapes that servers give it. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence

from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource, ModelInfo, ModelRef
from jan_magics.providers.catalog import declared_of
from jan_magics.providers.failures import Asked
from jan_magics.providers.speaking import parsed_list, rows_of

_WINDOWS = ("context_length", "max_context_length", "context_window", "max_model_len")


def read_models(body: bytes, asked: Asked, native: bytes = b"") -> Sequence[ModelInfo]:
    """Return the models, loaded ones first; `native` is the server's own list beside `body`.

    Raises:
        StreamBroken: when `body` is no list of models.
    """
    data = parsed_list(body, asked)
    # Together gives a bare list.
    rows = rows_of(data.get("data") if isinstance(data, dict) else data, asked)
    known = _native(native)
    found = [_info({**row, **known(row)}, asked) for row in rows]
    named = [info for info in found if info.ref.name]
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


def _native(body: bytes) -> Callable[[Mapping[str, Json]], Mapping[str, Json]]:
    """Return what the server's own list says about a row: LM Studio's, or Ollama's running ones."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return lambda _: {}
    listed = data.get("data", data.get("models")) if isinstance(data, dict) else None
    if not isinstance(listed, list):
        return lambda _: {}
    ollama = "models" in data
    rows = {
        str(row.get("id") or row.get("name")): {"state": "loaded", **row} if ollama else row
        for row in listed
        if isinstance(row, dict)
    }
    absent: Mapping[str, Json] = {"state": "not-loaded"} if ollama else {}
    return lambda row: rows.get(str(row.get("id")), absent)


def _info(row: Mapping[str, Json], asked: Asked) -> ModelInfo:
    name = row.get("id")
    address = asked.address if asked.provider == "custom" else None
    ref = ModelRef(asked.provider, name if isinstance(name, str) else "", address)
    told = {**declared_of(ref.name), **_capabilities(row)}
    return ModelInfo(ref, _window(row), told, _loaded(row))


def _window(row: Mapping[str, Json]) -> int | None:
    meta = row.get("meta")
    served = meta.get("n_ctx") if isinstance(meta, dict) else None  # llama.cpp
    values = (served, row.get("loaded_context_length"), *(row.get(name) for name in _WINDOWS))
    return next((value for value in values if type(value) is int and value > 0), None)


def _loaded(row: Mapping[str, Json]) -> bool | None:
    state = row.get("state")  # LM Studio
    if isinstance(state, str):
        return state == "loaded"
    status = row.get("status")  # llama-server with several models
    if isinstance(status, dict) and isinstance(status.get("value"), str):
        return status["value"] == "loaded"
    return True if isinstance(row.get("meta"), dict) else None


def _capabilities(row: Mapping[str, Json]) -> Mapping[str, CapabilitySource]:
    told = row.get("capabilities") or row.get("supported_parameters")
    names = [name for name in told if isinstance(name, str)] if isinstance(told, list) else []
    if row.get("type") == "vlm":
        names.append("vision")
    return dict.fromkeys(names, "declared")
