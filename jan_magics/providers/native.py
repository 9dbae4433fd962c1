"""A server's own list beside the one of its wire: LM Studio's, or Ollama's running models. Pure."""

import json
from collections.abc import Callable, Mapping

from jan_magics.domain.messages import Json


def is_unloaded(body: bytes, name: str) -> bool:
    """Tell whether a list says that a model is not loaded; False where it does not say."""
    row = rows_in(body)
    # Ollama lists a model without a tag under its usual one.
    told = [loaded_in(row({"id": each})) for each in (name, f"{name}:latest")]
    return False in told and True not in told


def rows_in(body: bytes) -> Callable[[Mapping[str, Json]], Mapping[str, Json]]:
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


def loaded_in(row: Mapping[str, Json]) -> bool | None:
    """Tell whether a row says that its model is loaded, None where it says nothing."""
    state = row.get("state")  # LM Studio
    if isinstance(state, str):
        return state == "loaded"
    status = row.get("status")  # llama-server with several models
    if isinstance(status, dict) and isinstance(status.get("value"), str):
        return status["value"] == "loaded"
    return True if isinstance(row.get("meta"), dict) else None
