"""Who speaks which wire format, at which address, with which quirks: data, not code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a server departs from the common form of the wire.

    `progress`, `cache` and `per_token` are llama.cpp's own keys. `per_token` triples the bytes of
    a stream and tells nothing that the last chunk does not, so no entry asks for it. `native` is
    the path, from the server's root, of its own list that tells which models are loaded, `slots`
    that of the list which tells whether it is busy. `prefill`: a last message of the assistant is
    gone on with. `template` takes arguments of the chat template, one of which switches reasoning
    off.
    """

    usage: bool = True
    progress: bool = False
    cache: bool = False
    per_token: bool = False
    limit_key: str = "max_tokens"
    seed_key: str = "seed"
    native: str = ""
    prefill: bool = False
    slots: str = ""
    template: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A provider: its base address, the usual variable of its key, and its dialect."""

    name: str
    address: str
    key_variable: str = ""
    local: bool = False
    wire: str = "openai"
    dialect: Dialect = Dialect()


PLAIN: Final = Dialect()
LLAMA: Final = Dialect(progress=True, cache=True, prefill=True, slots="/slots", template=True)
# Both refuse unknown keys, and send the usage unasked.
MISTRAL: Final = Dialect(usage=False, seed_key="random_seed")
# Its reasoning models refuse `max_tokens`; all of its models take the newer name.
OPENAI: Final = Dialect(limit_key="max_completion_tokens")

OLLAMA: Final = Dialect(native="/api/ps")
LMSTUDIO: Final = Dialect(native="/api/v0/models")

_ENTRIES: Final = (
    Entry("jan", "http://127.0.0.1:1337/v1", "JAN_API_KEY", local=True, dialect=LLAMA),
    Entry("ollama", "http://127.0.0.1:11434/v1", local=True, dialect=OLLAMA),
    Entry("lmstudio", "http://127.0.0.1:1234/v1", local=True, dialect=LMSTUDIO),
    Entry("llamacpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY", local=True, dialect=LLAMA),
    Entry("local", "", local=True, dialect=LLAMA),
    Entry("offline", "", local=True, wire="offline"),
    Entry("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", dialect=OPENAI),
    Entry("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Entry("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Entry("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", dialect=MISTRAL),
    Entry("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Entry("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Entry("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    Entry("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    Entry("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    Entry("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
)
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
