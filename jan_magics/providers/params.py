"""The parameters of a request by their common names, and what of them is not sent, with the reason.

The layers were put on each other before: an assistant's below the request's. Here the model's own
defaults come below them and reasoning on top. Pure.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.events import LeftOut
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.parameters import LEVELS, number_in
from jan_magics.providers.dialects import Dialect, Resending

# Names for things that are settled before a request leaves; a server would misread them.
CLIENT_KEYS: Final = frozenset(
    {"ctx_len", "max_context_tokens", "auto_compact", "pace", "delay", "fail", "timeout"}
)
# What was planned and recorded is what is sent: no parameter may change it.
FIXED_KEYS: Final = frozenset({"model", "messages", "stream"})

_COMMON: Final[Mapping[str, str]] = {
    "max_output_tokens": "max_tokens", "max_completion_tokens": "max_tokens",
    "num_predict": "max_tokens", "dynatemp_exp": "dynatemp_exponent", "random_seed": "seed",
    "stop_sequences": "stop",
}  # fmt: skip
_NUMBERS: Final = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "presence_penalty",
     "frequency_penalty", "repeat_penalty", "repeat_last_n", "typical_p", "mirostat",
     "mirostat_tau", "mirostat_eta", "top_n_sigma", "dynatemp_range", "dynatemp_exponent",
     "xtc_probability", "xtc_threshold", "dry_multiplier", "dry_base", "dry_allowed_length",
     "dry_penalty_last_n", "thinking_budget_tokens", "num_ctx", "n"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settled:
    """Parameters by their common names; None takes a key back. `level` is that of reasoning."""

    values: Mapping[str, Json]
    level: str | None = None
    left_out: tuple[LeftOut, ...] = ()


def settle(
    options: ChatOptions, dialect: Dialect, model: str, *, excluded: Sequence[str] = ()
) -> Settled:
    """Return what is sent to a model; `excluded` is what it does not take while it reasons.

    Raises:
        SettingError: for a level of reasoning that is none.
    """
    values: dict[str, Json] = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "seed": options.seed,
    }
    values = {name: value for name, value in values.items() if value is not None}
    for name, value in options.parameters.items():
        if name not in CLIENT_KEYS and name not in FIXED_KEYS:
            common = common_name(name)
            values[common] = number_in(value) if common in _NUMBERS else value
    if values.get("max_tokens") == 0:  # no limit
        del values["max_tokens"]
    _samplers(values)
    level, left_out = _level(values, options, dialect)
    left_out += _refused(values, dialect, model)
    excludes = "the model does not take it while it reasons"
    left_out += [LeftOut(n, excludes) for n in excluded if values.pop(n, None) is not None]
    return Settled(values, level, tuple(left_out))


def resending(options: ChatOptions, dialect: Dialect, model: str) -> Resending | None:
    """Return how the reasoning of earlier answers is sent again on the OpenAI wire, None: not.

    Some models want it; of a chat template only its user knows, and says `preserve_thinking`.
    """
    told = options.parameters.get("chat_template_kwargs")
    if dialect.reasoning == "template" and isinstance(told, dict):
        return Resending() if told.get("preserve_thinking") is True else None
    found = dialect.resends
    return found if found and re.search(found.models, model) else None


def without(options: ChatOptions, names: Collection[str]) -> tuple[ChatOptions, list[str]]:
    """Return options without parameters of these common names, and which of them there were."""
    fields = {n: None for n in ("temperature", "max_tokens", "seed") if n in names}
    found = {name for name in fields if getattr(options, name) is not None}
    found |= {common for name in options.parameters if (common := common_name(name)) in names}
    kept = {name: v for name, v in options.parameters.items() if common_name(name) not in names}
    think = None if "reasoning" in names else options.think
    return replace(options, **fields, think=think, parameters=kept), sorted(found)


def common_name(name: str) -> str:
    """Return the common name of a parameter that has several."""
    return _COMMON.get(name, name)


def _samplers(values: dict[str, Json]) -> None:
    """Read llama.cpp's list of samplers where it is one text."""
    if isinstance(names := values.get("samplers"), str):
        listed: list[Json] = [each.strip() for each in re.split("[,;]", names) if each.strip()]
        if listed:
            values["samplers"] = listed
        else:
            del values["samplers"]


def _level(
    values: dict[str, Json], options: ChatOptions, dialect: Dialect
) -> tuple[str | None, list[LeftOut]]:
    """Take the level of reasoning out of the values, where it is one that we understand."""
    if not isinstance(values.get("reasoning"), str):  # OpenRouter's own object, say
        return (None if options.think is None else "on" if options.think else "off"), []
    level = str(values.pop("reasoning"))
    if level not in LEVELS:
        raise SettingError(f"reasoning={level!r} is no level", f"It can be: {', '.join(LEVELS)}")
    if level != "auto" and not dialect.reasoning:
        return None, [LeftOut("reasoning", "this provider has no switch for it")]
    return level, []


def _refused(values: dict[str, Json], dialect: Dialect, model: str) -> list[LeftOut]:
    """Take out what the server is known to refuse."""
    found: list[LeftOut] = []
    for refusal in dialect.refuses:
        if re.search(refusal.models, model):
            names = sorted(refusal.names & values.keys())
            found += [LeftOut(n, refusal.why) for n in names if values.pop(n) is not None]
    for kept, other in dialect.one_of:
        if values.get(kept) is not None and values.pop(other, None) is not None:
            found.append(LeftOut(other, f"it excludes {kept}, which is set too"))
    return found
