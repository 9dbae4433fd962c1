"""Vocabulary families: which model counts with which words, and what its template adds. Data."""

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from jan_magics.context.images import Rule
from jan_magics.context.weights import WEIGHTS


@dataclass(frozen=True, slots=True)
class Family:
    """A vocabulary: the weights of its estimate, and the tokens of its template.

    `overhead` is what the template puts around a message, `opening` what it puts around a request:
    the start mark and the opened answer. `vocabulary` is the name of the exact one, "" where
    nobody publishes it.
    """

    name: str
    vocabulary: str
    weights: tuple[float, ...]
    overhead: int = 4
    opening: int = 3
    images: Rule = "default"


def _family(
    name: str, vocabulary: str, overhead: int, opening: int, images: Rule = "default"
) -> Family:
    return Family(name, vocabulary, WEIGHTS[name], overhead, opening, images)


UNKNOWN: Final = _family("unknown", "", 4, 3)
FAMILIES: Final = (
    _family("o200k", "o200k_base", 4, 3, "openai"),
    _family("cl100k", "cl100k_base", 4, 3, "openai"),
    _family("gpt-oss", "o200k_harmony", 4, 63),  # its template begins with a text of its own
    _family("llama3", "llama3", 5, 5),
    _family("llama2", "llama2", 5, 1),
    _family("qwen", "qwen3", 5, 3),
    _family("deepseek", "deepseek_v3", 2, 2),
    _family("mistral", "mistral_v3", 3, 1),
    _family("gemma", "gemma3", 5, 4),
    _family("glm", "glm4", 2, 4),
    _family("kimi", "kimi_k2", 4, 3),
    _family("phi4", "phi4", 4, 3),
    _family("claude", "", 4, 3, "anthropic"),
    _family("gemini", "", 5, 4, "google"),
    UNKNOWN,
)
_BY_NAME: Final = MappingProxyType({family.name: family for family in FAMILIES})
# The first that is found counts. A name is what stands behind `provider:`, in lower case, and may
# be that of a file; a distillation is named after both, and has the vocabulary of its student.
_NAMES: Final = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"llama-?3|hermes-3|distill-llama", "llama3"),
        (r"qwen|qwq|qvq", "qwen"),
        (r"gpt-?oss", "gpt-oss"),
        (r"gpt-4o|gpt-4\.[15]|gpt-[5-9]|chatgpt|(^|/)o[1-9](-|$)", "o200k"),
        (r"gpt-4|gpt-3\.5|gpt-35|text-embedding", "cl100k"),
        (r"deepseek", "deepseek"),
        (r"llama-?2|codellama|vicuna|tinyllama|mistral-7b-(instruct-)?v0\.[12]|mixtral", "llama2"),
        (r"mistral|ministral|magistral|codestral|devstral|pixtral", "mistral"),
        (r"gemma", "gemma"),
        (r"gemini", "gemini"),
        (r"glm", "glm"),
        (r"kimi|moonshot", "kimi"),
        (r"phi-?4", "phi4"),
        (r"claude", "claude"),
    )
)


def family_of(model: str) -> Family:
    """Return the family that a model's name tells, else `UNKNOWN`."""
    name = model.lower()
    found = next((family for pattern, family in _NAMES if pattern.search(name)), "unknown")
    return _BY_NAME[found]
