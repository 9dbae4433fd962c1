"""How servers depart from the common form of their wire, and what they refuse: data, not code."""

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from jan_magics.domain.models import Schemas

Switch: TypeAlias = Literal["", "template", "effort", "nested", "thinking", "own"]
"""Where reasoning is switched: nowhere, by the chat template's arguments, by `reasoning_effort`, by
OpenRouter's `reasoning`, by DeepSeek's `thinking`, or in a way of the wire's own."""
Place: TypeAlias = Literal["field", "tags", "details", "parts"]
"""Where earlier reasoning stands in a message: in `reasoning_content`, between tags before the
words, in OpenRouter's `reasoning_details`, or in Mistral's parts of the content."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Parameters that a server refuses, of those models whose name matches; "" = of all."""

    names: frozenset[str]
    why: str
    models: str = ""


@dataclass(frozen=True, slots=True)
class Resending:
    """Which models want the reasoning of their earlier answers back, by a pattern, and where.

    `with_calls`: only that of answers that have called tools. `gaps`: such an answer without any
    needs an empty one.
    """

    models: str = ""
    place: Place = "field"
    with_calls: bool = False
    gaps: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a server departs from the common form of the wire.

    `progress`, `cache` and `per_token` are llama.cpp's own keys. `per_token` triples the bytes of
    a stream and tells nothing that the last chunk does not, so no entry asks for it. `native` is
    the path, from the server's root, of its own list that tells which models are loaded, `slots`
    that of the list which tells whether it is busy. `prefill`: a last message of the assistant is
    gone on with. `tags`: reasoning may come in the text, between tags. `refuses` is what is not
    sent, and of each pair in `one_of` the second goes where both are given. `resends` is how the
    reasoning of earlier answers goes back, None: it does not. `schemas` says whether answers are
    held to a schema, in the form of the wire.
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
    tags: bool = False
    reasoning: Switch = ""
    refuses: tuple[Refusal, ...] = ()
    one_of: tuple[tuple[str, str], ...] = ()
    resends: Resending | None = None
    schemas: Schemas = "never"


LLAMA_ONLY: Final = frozenset(
    {"mirostat", "mirostat_tau", "mirostat_eta", "grammar", "json_schema", "typical_p",
     "top_n_sigma", "dynatemp_range", "dynatemp_exponent", "xtc_probability", "xtc_threshold",
     "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "ignore_eos",
     "min_p", "repeat_penalty", "repeat_last_n", "samplers", "backend_sampling",
     "thinking_budget_tokens", "cache_prompt", "id_slot", "return_progress", "timings_per_token",
     "chat_template_kwargs"}
)  # fmt: skip
_PENALTIES: Final = frozenset({"presence_penalty", "frequency_penalty"})
_WARMTH: Final = frozenset({"temperature", "top_p"})
_ONLY_LLAMA: Final = Refusal(LLAMA_ONLY, "only llama.cpp knows it")
_OPENAI: Final = (
    _ONLY_LLAMA,
    Refusal(frozenset({"top_k"}), "OpenAI has no such parameter"),
    # Anchored: a proxy's own name for such a model may well accept them.
    Refusal(_WARMTH | _PENALTIES, "reasoning models refuse it", r"^(?:o[1-9]|gpt-[5-9])"),
)
_XAI: Final = (
    _ONLY_LLAMA,
    Refusal(_WARMTH, "grok-3-mini refuses it", r"^grok-3-mini"),
    Refusal(_PENALTIES | {"stop"}, "reasoning models refuse it", r"^grok-[3-9]"),
)
_ANTHROPIC: Final = (
    _ONLY_LLAMA,
    Refusal(
        _PENALTIES | {"seed", "n", "logprobs", "top_logprobs", "logit_bias", "response_format",
                      "parallel_tool_calls"},
        "Anthropic has no such parameter",
    ),
    Refusal(
        _WARMTH | {"top_k"}, "this model refuses it",
        r"claude-(?:opus|sonnet|haiku)-(?:4-[7-9]|[5-9])",
    ),
)  # fmt: skip
_GOOGLE: Final = (
    _ONLY_LLAMA,
    Refusal(
        frozenset({"logit_bias", "n", "user", "parallel_tool_calls"}),
        "Google has no such parameter",
    ),
)
_OLLAMA: Final = (
    Refusal(frozenset({"tool_choice", "parallel_tool_calls"}), "Ollama has no such parameter"),
)

PLAIN: Final = Dialect()
# Who does not know schemas says so, and is asked in words from then on.
CUSTOM: Final = Dialect(tags=True, schemas="alone")
# Its grammar for a schema excludes the one for tools.
LLAMA: Final = Dialect(
    progress=True, cache=True, prefill=True, slots="/slots", tags=True,
    reasoning="template", schemas="alone",
)  # fmt: skip
MLX: Final = Dialect(tags=True, reasoning="template")
# Those that only know `json_object`, or say nothing of schemas, are asked in words.
HOSTED: Final = Dialect(refuses=(_ONLY_LLAMA,))
SEARCHING: Final = replace(HOSTED, schemas="alone")
EFFORT: Final = replace(HOSTED, reasoning="effort", schemas="alone")
# Open models run there, some with their reasoning in the text; both take llama.cpp's samplers.
OPEN_MODELS: Final = Dialect(reasoning="effort", tags=True, schemas="alone")
OPENROUTER: Final = replace(
    HOSTED, reasoning="nested", schemas="alone", resends=Resending(place="details")
)
# Refuses unknown keys, and sends the usage unasked.
MISTRAL: Final = replace(
    HOSTED, usage=False, seed_key="random_seed", reasoning="effort", schemas="alone",
    resends=Resending(r"magistral|mistral-(?:small-(?:latest|[4-9]|26)|medium-3|large-4)", "parts"),
)  # fmt: skip
DEEPSEEK: Final = replace(
    HOSTED, reasoning="thinking", resends=Resending(with_calls=True, gaps=True)
)
MOONSHOT: Final = replace(
    HOSTED, resends=Resending(r"thinking|^kimi-k(?:2\.[5-9]|[3-9])", gaps=True)
)
COHERE: Final = replace(EFFORT, usage=False)
MINIMAX: Final = replace(HOSTED, tags=True, resends=Resending(place="tags"))
# Its reasoning models refuse `max_tokens`; all of its models take the newer name.
OPENAI: Final = Dialect(
    limit_key="max_completion_tokens", refuses=_OPENAI, reasoning="effort", schemas="always"
)
XAI: Final = Dialect(refuses=_XAI, reasoning="effort", schemas="alone")
# A schema goes as a tool that must be called: any others may be offered beside it.
ANTHROPIC: Final = Dialect(
    refuses=_ANTHROPIC, one_of=(("temperature", "top_p"),), reasoning="own", prefill=True,
    schemas="always",
)  # fmt: skip
GOOGLE: Final = Dialect(refuses=_GOOGLE, reasoning="own", schemas="alone")
# `native` is for servers of other names that speak its OpenAI-like wire.
OLLAMA: Final = Dialect(
    native="/api/ps", reasoning="own", tags=True, schemas="alone", refuses=_OLLAMA
)
LMSTUDIO: Final = Dialect(native="/api/v0/models", tags=True, schemas="alone")
OFFLINE: Final = Dialect(schemas="always")
