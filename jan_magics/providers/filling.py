"""Fill a JSON schema from the words of a prompt, always the same way, without a model. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

from jan_magics.domain.messages import Json
from jan_magics.providers.quoting import sentences

_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?")
_NEGATIVE: Final = re.compile(r"\b(?:no|not|never|none)\b|n't\b|不|没|無|无", re.IGNORECASE)
DEEPEST: Final = 8
"""Levels that are filled; a schema may refer to itself."""


def fill(schema: Mapping[str, Json], prompt: str) -> str:
    """Return JSON that is of a schema's form, made of what the prompt says.

    A choice is the first that the prompt names, else the first; a number is the first that stands
    in it, a text its last sentence. Bounds and patterns are not kept.
    """
    return json.dumps(_filled(schema, schema, prompt, 0), ensure_ascii=False)


def _filled(node: object, root: Mapping[str, Json], prompt: str, depth: int) -> Json:  # noqa: PLR0911 - a form each
    if not isinstance(node, Mapping) or depth > DEEPEST:
        return None
    if isinstance(reference := node.get("$ref"), str):
        return _filled(_meant(reference, root), root, prompt, depth + 1)
    if "const" in node or isinstance(node.get("enum"), list):
        return node["const"] if "const" in node else _chosen(cast(list[Json], node["enum"]), prompt)
    for several in ("anyOf", "oneOf", "allOf"):
        if isinstance(found := node.get(several), list) and found:
            return _filled(found[0], root, prompt, depth + 1)
    kind = node.get("type")
    first = kind[0] if isinstance(kind, list) and kind else kind
    if first == "object" or "properties" in node:
        fields = node.get("properties")
        listed = fields.items() if isinstance(fields, dict) else ()
        return {name: _filled(each, root, prompt, depth + 1) for name, each in listed}
    if first == "array":
        least = node.get("minItems")
        count = max(1, least if isinstance(least, int) else 1)
        return [_filled(node.get("items", {}), root, prompt, depth + 1) for _ in range(count)]
    return _PLAIN.get(str(first), _text)(prompt)


def _chosen(values: Sequence[Json], prompt: str) -> Json:
    named = (value for value in values if str(value).casefold() in prompt.casefold())
    return next(named, values[0] if values else None)


def _meant(reference: str, root: Mapping[str, Json]) -> Json:
    found: Json = dict(root)
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(name) if isinstance(found, dict) and name else found
    return found


def _number(prompt: str) -> float:
    found = _NUMBER.search(prompt)
    return float(found[0].replace(",", ".")) if found else 0.0


def _text(prompt: str) -> str:
    said = sentences(prompt)
    return said[-1] if said else prompt.strip()


_PLAIN: Final[Mapping[str, Callable[[str], Json]]] = MappingProxyType({
    "number": _number,
    "integer": lambda prompt: int(_number(prompt)),
    "boolean": lambda prompt: _NEGATIVE.search(prompt) is None,
    "null": lambda _: None,
})  # fmt: skip
