"""Which profile a model has: by its wire, by who serves it, and by what is known of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from jan_magics.domain.models import (
    ALTERNATING,
    ANTHROPIC,
    GEMINI,
    STRICT_OPENAI,
    ModelRef,
    Profile,
)

TEMPLATE: Final = replace(
    ALTERNATING,
    name="some template",
    call_ids="[A-Za-z0-9]{9}",
    files=None,
    addressed=r"image/.*",
)
"""What every chat template takes that knows a system message; Mistral's want nine letters."""
OLLAMA: Final = replace(
    TEMPLATE,
    name="Ollama",
    media=r"image/.*",
    addressed=r"(?!)",
    reasoning="always",
    reasoning_with_calls=True,
)
_WIRES: Final[Mapping[str, Profile]] = MappingProxyType(
    {"anthropic": ANTHROPIC, "google": GEMINI, "ollama": OLLAMA}
)
_STRICT: Final = frozenset({"openai", "azure"})
_CAPABILITIES: Final[Mapping[str, str]] = MappingProxyType(
    {"vision": "images", "audio": "audio", "video": "video", "files": "files", "tools": "tools"}
)


def profile_for(
    model: ModelRef, wire: str, *, has: Iterable[str] = (), lacks: Iterable[str] = ()
) -> Profile:
    """Return what a model takes, named by its wire format; `has` and `lacks` are capabilities.

    What neither names stays as the wire has it. Other names than vision, audio, video, files and
    tools tell nothing of a history.
    """
    others = STRICT_OPENAI if model.provider in _STRICT else TEMPLATE
    base = _WIRES.get(wire, others)
    known: dict[str, bool] = {
        _CAPABILITIES[name]: value
        for names, value in ((has, True), (lacks, False))
        for name in names
        if name in _CAPABILITIES
    }
    return replace(
        base,
        model=model,
        images=known.get("images", base.images),
        audio=known.get("audio", base.audio),
        video=known.get("video", base.video),
        files=known.get("files", base.files),
        tools=known.get("tools", base.tools),
    )
