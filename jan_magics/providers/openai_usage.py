"""Token counts and times in the shapes that OpenAI-like servers give them. Pure."""

import math

from jan_magics.domain.messages import Json
from jan_magics.domain.models import Timings, Usage


def usage_of(usage: Json) -> Usage | None:
    """Read the numbers of a `usage` object; what it does not say stays unknown."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = prompt.get("cached_tokens") if isinstance(prompt, dict) else None
    reasoning = completion.get("reasoning_tokens") if isinstance(completion, dict) else None
    cached = usage.get("prompt_cache_hit_tokens") if cached is None else cached  # DeepSeek
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached, reasoning)
    found = Usage(*map(count, numbers))
    return None if found == Usage() else found


def usage_of_timings(timings: Json) -> Usage | None:
    """Read the token counts of llama.cpp's `timings`, which come even without a `usage`."""
    if not isinstance(timings, dict):
        return None
    read, cached = count(timings.get("prompt_n")), count(timings.get("cache_n"))
    output = count(timings.get("predicted_n"))
    if read is None and output is None:
        return None
    return Usage(None if read is None else read + (cached or 0), output, cached)


def timings_of(timings: Json) -> Timings | None:
    """Read llama.cpp's `timings`: milliseconds there, seconds here."""
    if not isinstance(timings, dict):
        return None
    prefill, decode = _number(timings.get("prompt_ms")), _number(timings.get("predicted_ms"))
    return Timings(
        prefill=None if prefill is None else prefill / 1000,
        decode=None if decode is None else decode / 1000,
        tokens_per_second=_number(timings.get("predicted_per_second")) or None,
    )


def count(value: Json) -> int | None:
    """Return a number of tokens, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(value: Json) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
