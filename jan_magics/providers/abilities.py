"""What a server tells of its models' abilities, in the shapes that servers give it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from jan_magics.domain.messages import Json
from jan_magics.domain.models import CapabilitySource

_WORDS: Final[Mapping[str, str]] = MappingProxyType({
    "tools": "tools", "tool_use": "tools", "tool_calls": "tools", "function_calling": "tools",
    "vision": "vision", "image": "vision", "multimodal": "vision", "audio": "audio",
    "video": "video", "reasoning": "reasoning", "thinking": "reasoning",
})  # fmt: skip
_LISTS: Final = ("capabilities", "supported_parameters")
_TEMPLATE: Final = (("supports_tools", "tools"), ("supports_system_role", "system"))


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model has and what it lacks, both as its server tells; the rest is unknown."""

    has: Mapping[str, CapabilitySource] = field(default_factory=dict)
    lacks: Mapping[str, CapabilitySource] = field(default_factory=dict)


def in_row(row: Mapping[str, Json]) -> Abilities:
    """Read a row of a list of models: names, or names with yes and no."""
    found = dict[str, bool]()
    for told in map(row.get, _LISTS):
        if isinstance(told, dict):  # Mistral
            found |= {name: value for name, value in told.items() if isinstance(value, bool)}
        elif isinstance(told, list):
            found |= {name: True for name in told if isinstance(name, str)}
    built = row.get("architecture")  # OpenRouter
    takes = built.get("input_modalities") if isinstance(built, dict) else None
    if isinstance(takes, list):
        found |= {name: name in takes for name in ("image", "audio", "video")}
    if row.get("type") == "vlm":  # LM Studio
        found["vision"] = True
    return _known(found.items())


def in_properties(properties: Mapping[str, Json]) -> Abilities:
    """Read the properties of a llama.cpp server: its media, and what its chat template knows."""
    media, template = properties.get("modalities"), properties.get("chat_template_caps")
    told = list(media.items()) if isinstance(media, dict) else []
    if isinstance(template, dict):
        told += [(word, template.get(name)) for name, word in _TEMPLATE]
    return _known((name, value) for name, value in told if isinstance(value, bool))


def _known(told: Iterable[tuple[str, bool]]) -> Abilities:
    words = {**_WORDS, "system": "system"}
    found = dict[str, bool]()
    for name, value in told:
        if word := words.get(name):
            found[word] = found.get(word, False) or value
    has = (name for name, value in found.items() if value and name != "system")
    lacks = (name for name, value in found.items() if not value)
    return Abilities(dict.fromkeys(has, "probed"), dict.fromkeys(lacks, "probed"))
