"""Which form an answer must have: from what a user names to a schema, and from text to its data.

jsonschema is loaded when an answer is looked at; it fetches nothing that a schema refers to.
"""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import AnswerSchema, Profile
from jan_magics.engine.schemas import Unfit, type_schema

VALUE: Final = "value"
"""Under which name a wrapped value stands in its object."""
MOST_FAULTS: Final = 3
"""Faults of an answer that are told."""
LONGEST: Final = 160
"""Characters that one fault may take."""
NEXT: Final = (
    "Give a JSON schema as text or dict, a dataclass, a TypedDict, a Pydantic class, or the name "
    "of a variable that is one."
)
_FENCED: Final = re.compile(
    r"^(`{3,}|~{3,})[\w-]*[ \t]*\n(.*?)\n\1[ \t]*$", re.DOTALL | re.MULTILINE
)
_DECODER: Final = json.JSONDecoder()


class Misshapen(ValueError):
    """Report what is wrong with an answer, for the model and for people."""


def schema_from(value: object, names: Mapping[str, object]) -> AnswerSchema | None:
    """Return the schema that is meant, None for none; `names` are the user's variables.

    Raises:
        SettingError: for what is no schema, or a name that no variable has.
    """
    if value is None or isinstance(value, AnswerSchema):
        return value
    title = ""
    if isinstance(value, str):
        title, value = ("", _parsed(value)) if value.lstrip()[:1] == "{" else _named(value, names)
    body = _body(value)
    _check(body)
    name = _wire_name(str(body.get("title") or getattr(value, "__name__", None) or title))
    if body.get("type") == "object":
        return AnswerSchema(name, body)
    if "type" not in body and "properties" in body:
        return AnswerSchema(name, {"type": "object", **body})
    return AnswerSchema(name, _wrapped(body), wrapped=True)


def is_held(schema: AnswerSchema, profile: Profile, tools: Iterator[str]) -> bool:
    """Tell whether the server itself holds the answer to a schema, beside the tools of these names.

    Else the model is told in words.
    """
    offered = set(tools) if profile.tools is not False else set[str]()
    if profile.schemas == "always":
        return schema.name not in offered
    return profile.schemas == "alone" and not offered


def data_in(text: str, schema: AnswerSchema | None = None) -> Any:
    """Return the data of an answer, None where it has none or not of that form."""
    try:
        return read(text, schema)
    except Misshapen:
        return None


def read(text: str, schema: AnswerSchema | None) -> Json:
    """Return the data of an answer. Raises Misshapen, saying what is wrong with it."""
    found = next(_values(text), None)
    if found is None:
        raise Misshapen("it is no JSON" if text.strip() else "it is empty")
    if schema is None:
        return found[0]
    told = list(_faults(schema.body, found[0]))
    if told:
        more = f"; and {len(told) - MOST_FAULTS} more" if len(told) > MOST_FAULTS else ""
        raise Misshapen("; ".join(told[:MOST_FAULTS]) + more)
    return cast(dict[str, Json], found[0])[VALUE] if schema.wrapped else found[0]


def fields_of(schema: AnswerSchema | None) -> Mapping[str, Mapping[str, Json]]:
    """Return the fields of an answer's data by name, each with its schema; () for plain values."""
    if schema is None or schema.wrapped:
        return {}
    found = schema.body.get("properties")
    listed = found.items() if isinstance(found, dict) else ()
    return {name: each if isinstance(each, dict) else {} for name, each in listed}


def _values(text: str) -> Iterator[tuple[Json]]:
    """Yield what is JSON in an answer: the whole text, a code block, what a brace begins."""
    for piece in (text, *(block[1] for block in _FENCED.findall(text))):
        try:
            yield (json.loads(piece),)
        except (ValueError, RecursionError):
            continue
    for brace in re.finditer(r"[{\[]", text):
        try:
            value, end = _DECODER.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        if not text[end:].strip():  # a sentence before it is harmless, one in it is not
            yield (value,)
        return


def _faults(body: Mapping[str, Json], value: Json) -> Iterator[str]:
    validator = _validator(body)
    for fault in sorted(validator.iter_errors(value), key=lambda each: [*map(str, each.path)]):
        place = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in fault.path)
        said = " ".join(str(fault.message).split())
        said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
        yield f"{place.lstrip('.')}: {said}" if place else said


def _validator(body: Mapping[str, Json]) -> Any:
    from jsonschema import validators
    from referencing import Registry

    schema = dict(body)
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    # Without a registry of its own it would fetch what a schema refers to.
    nothing: dict[str, Any] = {"registry": Registry()}
    return kind(schema, **nothing)


def _check(body: Mapping[str, Json]) -> None:
    from jsonschema import exceptions

    try:
        text = json.dumps(body, allow_nan=False)
        validator = _validator(json.loads(text))
        type(validator).check_schema(dict(body))
        list(validator.iter_errors({}))
    except exceptions.SchemaError as fault:
        raise SettingError(f"this is no JSON schema: {fault.message}", NEXT) from None
    except (TypeError, ValueError, RecursionError) as fault:
        raise SettingError(f"the schema cannot be sent as JSON: {fault}", NEXT) from None
    except _unresolved() as fault:
        ref = getattr(fault, "ref", None) or str(fault)
        raise SettingError(
            f"the schema refers to {ref!r}, which is not in it",
            "Put it under $defs and refer to that.",
        ) from None


def _unresolved() -> type[Exception]:
    from referencing.exceptions import Unresolvable

    return Unresolvable


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise SettingError(f"the schema is no JSON: {fault}", NEXT) from None


def _named(text: str, names: Mapping[str, object]) -> tuple[str, object]:
    name = text.strip()
    if name not in names or names[name] is None:
        near = get_close_matches(name, [each for each in names if each[:1] != "_"], 1)
        closest = f"; closest: {near[0]!r}" if near else ""
        raise SettingError(f"no variable {name!r} for the schema{closest}", NEXT)
    found = names[name]
    return name, _parsed(found) if isinstance(found, str) else found


def _body(value: object) -> dict[str, Json]:
    if isinstance(value, Mapping):
        return cast(dict[str, Json], {**value})
    pydantic = getattr(value, "model_json_schema", None)
    if isinstance(value, type) and callable(pydantic):
        return dict(pydantic())
    try:
        return type_schema(value)
    except (Unfit, NameError) as fault:
        raise SettingError(f"no schema can be made of {value!r}: it is {fault}", NEXT) from None


def _wrapped(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return an object with the value in it: what a `$ref` names stays where it was."""
    shared = {name: body[name] for name in ("$defs", "definitions") if name in body}
    inner: Json = {name: each for name, each in body.items() if name not in shared}
    fields: dict[str, Json] = {"properties": {VALUE: inner}, "required": [VALUE]}
    return {"type": "object", **fields, "additionalProperties": False, **shared}


def _wire_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64] or "answer"
