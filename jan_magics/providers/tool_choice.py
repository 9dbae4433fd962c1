"""Which tool must be called, as users say it in the words of the OpenAI wire, in those of others.

`auto`, `none`, `required`, or `{"type": "function", "function": {"name": NAME}}`. Pure.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.domain.messages import Json

_ANTHROPIC: Final[Mapping[str, str]] = MappingProxyType(
    {"auto": "auto", "none": "none", "required": "any", "any": "any"}
)
_GOOGLE: Final[Mapping[str, str]] = MappingProxyType(
    {"auto": "AUTO", "none": "NONE", "required": "ANY", "any": "ANY"}
)


def for_anthropic(choice: Json) -> Json:
    """Return a choice as the Anthropic wire says it; what is unknown stays as it is."""
    if isinstance(choice, str):
        return {"type": _ANTHROPIC[choice]} if choice in _ANTHROPIC else choice
    name = _named(choice)
    return {"type": "tool", "name": name} if name else choice


def for_google(choice: Json) -> Json:
    """Return a choice as the Google wire says it; what is unknown stays as it is."""
    if isinstance(choice, str):
        mode = _GOOGLE.get(choice, choice)
        return {"functionCallingConfig": {"mode": mode}}
    name = _named(choice)
    if not name:
        return choice
    return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}}


def _named(choice: Json) -> str:
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""
