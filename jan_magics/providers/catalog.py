"""Who speaks which wire format, at which address, with which quirks: data, not code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from jan_magics.domain.models import CapabilitySource
from jan_magics.providers.dialects import (
    ANTHROPIC,
    COHERE,
    DEEPSEEK,
    EFFORT,
    GOOGLE,
    LLAMA,
    LMSTUDIO,
    MINIMAX,
    MISTRAL,
    MLX,
    MOONSHOT,
    OFFLINE,
    OLLAMA,
    OPEN_MODELS,
    OPENAI,
    OPENROUTER,
    PLAIN,
    SEARCHING,
    XAI,
    Dialect,
)

Wire: TypeAlias = Literal["openai", "anthropic", "google", "ollama", "offline"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A provider: its base address, the usual variable of its key, its wire and its dialect.

    `header` carries the key. `query` goes with every request; never shown, it may hold a key.
    """

    name: str
    address: str
    key_variable: str = ""
    local: bool = False
    wire: Wire = "openai"
    dialect: Dialect = PLAIN
    header: str = "Authorization"
    query: str = field(default="", repr=False)

    @property
    def asked_at(self) -> str:
        """Return the address with its query, for requests only."""
        return f"{self.address}?{self.query}" if self.query else self.address


_ENTRIES: Final = (
    Entry("jan", "http://127.0.0.1:1337/v1", "JAN_API_KEY", local=True, dialect=LLAMA),
    Entry("ollama", "http://127.0.0.1:11434", local=True, wire="ollama", dialect=OLLAMA),
    Entry("lmstudio", "http://127.0.0.1:1234/v1", local=True, dialect=LMSTUDIO),
    Entry("llamacpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY", local=True, dialect=LLAMA),
    # The same port; another spelling, because a key belongs to an address.
    Entry("mlx", "http://localhost:8080/v1", local=True, dialect=MLX),
    Entry("local", "", local=True, dialect=LLAMA),
    Entry("offline", "", local=True, wire="offline", dialect=OFFLINE),
    Entry("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", dialect=OPENAI),
    Entry("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", wire="anthropic",
          dialect=ANTHROPIC, header="x-api-key"),
    Entry("google", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY",
          wire="google", dialect=GOOGLE, header="x-goog-api-key"),
    # Every customer has an address of their own.
    Entry("azure", "", "AZURE_OPENAI_API_KEY", dialect=OPENAI, header="api-key"),
    Entry("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", dialect=OPENROUTER),
    Entry("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", dialect=EFFORT),
    Entry("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", dialect=MISTRAL),
    Entry("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", dialect=DEEPSEEK),
    Entry("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", dialect=OPEN_MODELS),
    Entry("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY",
          dialect=OPEN_MODELS),
    Entry("xai", "https://api.x.ai/v1", "XAI_API_KEY", dialect=XAI),
    Entry("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", dialect=COHERE),
    Entry("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", dialect=SEARCHING),
    Entry("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", dialect=MOONSHOT),
    Entry("minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", dialect=MINIMAX),
)  # fmt: skip
CATALOG: Final[Mapping[str, Entry]] = MappingProxyType({entry.name: entry for entry in _ENTRIES})


_WINDOWS: Final = (
    (r"gpt-5|o[134](?:-|$)|codex", 200_000),
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-4o|gpt-4-turbo|chatgpt-4o|gpt-oss", 128_000),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"claude", 200_000),
    (r"gemini-1\.5-pro", 2_097_152),
    (r"gemini", 1_048_576),
    (r"grok", 131_072),
    (r"mistral-(?:large|medium|small)|ministral|pixtral|codestral|devstral|magistral", 128_000),
    (r"deepseek-(?:v[4-9]|flash)", 1_000_000),
    (r"deepseek-(?:chat|reasoner)", 128_000),
    (r"command-[ar]", 128_000),
    (r"sonar", 128_000),
    (r"kimi|moonshot", 128_000),
    (r"minimax", 200_000),
    (r"llama-?3\.[123]", 131_072),
    (r"llama-?3", 8_192),
    (r"qwen-?3", 32_768),
    (r"qwen-?2\.5", 32_768),
    (r"smollm2", 8_192),
)


def window_of(name: str) -> int | None:
    """Return the context window in tokens of a model by its name, None when it is not known.

    A server that tells is right; where makers publish several, the smaller one is meant.
    """
    return next((size for pattern, size in _WINDOWS if re.search(pattern, name.lower())), None)


_ANSWERS: Final = (
    (r"claude-3-(?:opus|sonnet|haiku)", 4_096),
    (r"claude-3-5", 8_192),
    (r"claude-opus-4(?:-[01](?:-|$)|-2|$)", 32_000),
    (r"claude-(?:opus|sonnet|haiku)-[4-9]|claude-3-7", 64_000),
)


def longest_answer(name: str) -> int:
    """Return the most tokens that a model writes, for a wire that wants to be told a limit."""
    found = (size for pattern, size in _ANSWERS if re.search(pattern, name.lower()))
    return next(found, 8_192)


_CAPABILITIES: Final = (
    ("tools", r"claude|gemini|gpt-[45]|o[134](?:-|$)|grok|command-[ar]|kimi|minimax"
              r"|deepseek-(?:chat|v[4-9]|flash)"
              r"|mistral-(?:large|medium|small)|ministral|codestral|devstral|magistral|gpt-oss"
              r"|llama-?[34]|qwen-?[23]"),
    ("vision", r"claude|gemini|gpt-(?:4o|4\.1|5)|o[34](?:-|$)|grok-4|pixtral|llama-?4|-vl\b|vision"
               r"|mistral-(?:medium|small)"),
    ("reasoning", r"claude-(?:3-7|(?:opus|sonnet|haiku)-[4-9])|gemini-(?:2\.5|[3-9])|gpt-(?:5|oss)"
                  r"|o[134](?:-|$)|grok-[34]|deepseek-(?:reasoner|r1|v[4-9]|flash)|magistral|qwen-?3|kimi-k2-think"
                  r"|minimax-m|sonar-reasoning"),
)  # fmt: skip


def declared_of(name: str) -> Mapping[str, CapabilitySource]:
    """Return what the makers say that a model of this name can; a server that tells is right."""
    lower = name.lower()
    return {can: "declared" for can, names in _CAPABILITIES if re.search(names, lower)}
