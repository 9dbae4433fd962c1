"""Whether a server's words mean that a request does not fit, and the numbers in them. Pure."""

import re
from typing import Final, TypeAlias

from jan_magics.providers.complaints import Complaint

Sizes: TypeAlias = tuple[int | None, int | None, int | None]
"""Tokens of the request, of the window, and of the answer where only that is too long."""

# Each pattern names the numbers it finds: `used` tokens of a `window`, and those of the `answer`.
_OVERFLOWS: Final = tuple(
    re.compile(pattern.replace("#", r"\d(?:[\d,_]*\d)?"), re.IGNORECASE | re.DOTALL)
    for pattern in (
        # llama.cpp
        r"request \((?P<used>#) tokens\) exceeds the available context size"
        r"(?: \((?P<window>#) tokens\))?",
        r"the request exceeds the available context size",
        # vLLM: the prompt fits, its answer does not
        r"too large: (?P<answer>#)\.? this model'?s maximum context length is (?P<window>#) tokens"
        r" and your request has (?P<used>#) input tokens",
        # OpenAI, vLLM, SGLang, llama-cpp-python, Mistral, Groq, DeepSeek
        r"maximum context length (?:is|of) (?P<window>#)(?: tokens)?.*?"
        r"(?:resulted in|requested(?: about| a total of)?|contains(?: at least)?|has) (?P<used>#)",
        r"prompt contains (?P<used>#) tokens.*?maximum context length of (?P<window>#)",
        r"prompt contains (?P<used>#) tokens.*?(?P<window>#) maximum context length",
        r"requested tokens \((?P<used>#)\) exceed context window of (?P<window>#)",
        r"maximum (?:prompt|context) length is (?P<window>#).*?contains (?P<used>#)",
        # vLLM: the prompt alone
        r"prompt \(length (?P<used>#)\) is longer than the maximum model length of (?P<window>#)",
        r"maximum model length of (?P<window>#)",
        # Anthropic
        r"prompt is too long: (?P<used>#) tokens > (?P<window>#) maximum",
        r"exceed context limit: (?P<used>#)(?: \+ (?P<answer>#))? > (?P<window>#)",
        # Bedrock
        r"input is too long for requested model",
        # Moonshot, Cohere
        r"exceeded model token limit:? (?P<window>#) \(requested:? (?P<used>#)\)",
        r"tokens in the prompt cannot exceed (?P<window>#) - received (?P<used>#)",
        # Google
        r"input token count \(?(?P<used>#)\)? exceeds the maximum number of tokens allowed"
        r" \(?(?P<window>#)",
        # Together, TGI
        r"tokens.*?must be <= (?P<window>#)\.? given: (?P<used>#)",
        r"must have less than (?P<window>#) tokens\.? given: (?P<used>#)",
        # DashScope
        r"range of input length should be \[\d+, ?(?P<window>#)\]",
        # LM Studio
        r"tokens to keep from the initial prompt is greater than the context length",
        r"context length of only (?P<window>#) tokens",
        # Ollama and the rest, without numbers
        r"input length exceeds (?:the |maximum )?context length",
        r"exceeds? (?:the )?(?:model'?s? )?(?:maximum |available )?context (?:length|window|size)",
        r"context[_ ](?:length|window|size)[_ ]exceeded|exceed_context_size_error",
        r"context window (?:is )?(?:too small|exceed(?:ed|s)|full)",
        r"prompt is too long|reduce the length of the (?:messages|prompt)",
        r"maximum context length",
    )
)


def overflow_in(said: Complaint) -> Sizes | None:
    """Return the sizes that a complaint tells of, None where it is about something else."""
    text = f"{said.text} {said.code}"
    found = next((match for match in (form.search(text) for form in _OVERFLOWS) if match), None)
    if not found:
        return (said.used, said.window, None) if said.used and said.window else None
    numbers = found.groupdict()
    used = said.used or _spelled(numbers.get("used"))
    window = said.window or _spelled(numbers.get("window"))
    answer = _spelled(numbers.get("answer"))
    # A prompt that is too long by itself is not helped by a shorter answer.
    return used, window, answer if used and window and used < window else None


def _spelled(number: str | None) -> int | None:
    digits = re.sub(r"\D", "", number or "")
    return int(digits) if 0 < len(digits) < 12 else None
