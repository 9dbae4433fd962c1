"""JSON schemas as every server takes them: short forms written out, what servers refuse left out.

As the Jan desktop does it, but for two things: an enum needs no type beside its description, and
values (a default, an enum, an example) are values, never schemas.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Final

from jan_magics.domain.messages import Json

_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NAMED: Final = frozenset({"properties", "patternProperties", "definitions", "$defs"})
"""Keys whose value names schemas."""
_LISTED: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_VALUES: Final = frozenset({"default", "example", "examples", "const", "enum"})
"""Keys whose value is a value of the user's, whatever it looks like."""
_TELLING: Final = _LISTED - {"prefixItems"} | {
    "type", "properties", "items", "$ref", "enum", "const", "not",
}  # fmt: skip
"""Keys that say what a value is, so that no type has to be guessed."""
_FORMATS: Final = frozenset({"date", "time", "date-time"})
_CLASSES: Final = re.compile(r"\\[dws]", re.IGNORECASE)


def normalise(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return a schema as every server takes it; the one that was given stays as it is."""
    node = {key: _child(key, value) for key, value in schema.items()}
    if node.get("type") == "object" and "properties" not in node:
        node["properties"] = {}
    if isinstance(node.get("description"), str) and not _TELLING & node.keys():
        node["type"] = "string"
    form, pattern = node.get("format"), node.get("pattern")
    if isinstance(form, str) and form in _FORMATS:
        del node["format"]
    if isinstance(pattern, str) and _CLASSES.search(pattern):
        del node["pattern"]
    return node


def _child(key: str, value: Json) -> Json:
    if key in _VALUES:
        return deepcopy(value)
    if key in _NAMED and isinstance(value, dict):
        return {name: _schema(each) for name, each in value.items()}
    if key in _LISTED and isinstance(value, list):
        return [_schema(each) for each in value]
    if key == "items":
        return [_schema(each) for each in value] if isinstance(value, list) else _schema(value)
    return _plain(value)


def _schema(value: Json) -> Json:
    """Write out a bare name of a type, where a schema is meant."""
    if isinstance(value, str) and value in _TYPES:
        return normalise({"type": value})
    return _plain(value)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        return dict(normalise(value))
    return [_plain(each) for each in value] if isinstance(value, list) else value
