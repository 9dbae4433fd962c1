"""What a model's common parameters may be. Names that are not listed are the model's own affair."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ChatOptions


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `least` to `most`, both included; None = without that limit."""

    least: float | None = None
    most: float | None = None
    whole: bool = False

    def holds(self, value: object) -> bool:
        """Tell whether a value is such a number; NaN is none."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return False
        low = self.least is None or value >= self.least
        return low and (self.most is None or value <= self.most) and abs(value) < float("inf")

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low = "" if self.least is None else f" from {self.least:g}"
        return kind + low + ("" if self.most is None else f" to {self.most:g}")


_TOKENS: Final = Range(0, whole=True)  # 0 = no limit
_SHARE: Final = Range(0, 1)
_PENALTY: Final = Range(-2, 2)
_KEY: Final = re.compile(
    r"^key$|[_-]key$|api_?key|^auth|bearer|token$|secret|passw|credential", re.IGNORECASE
)
RANGES: Final[Mapping[str, Range]] = MappingProxyType({
    "temperature": Range(0, 2), "top_p": _SHARE, "min_p": _SHARE, "top_k": Range(-1, whole=True),
    "max_tokens": _TOKENS, "max_output_tokens": _TOKENS, "max_completion_tokens": _TOKENS,
    "seed": Range(whole=True), "presence_penalty": _PENALTY, "frequency_penalty": _PENALTY,
    "timeout": Range(0),
})  # fmt: skip


LEVELS: Final = ("auto", "off", "low", "medium", "high")
"""How much a model may reason before it answers."""


def number_in(value: Json) -> Json:
    """Return the number that a text spells; anything else stays as it is.

    >>> number_in(" 0.4"), number_in("7"), number_in(" "), number_in("warm"), number_in(2)
    (0.4, 7, ' ', 'warm', 2)
    """
    if not isinstance(value, str) or not value.isascii():
        return value
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return number if abs(number) < float("inf") else value
    return value


def names_a_key(name: str) -> bool:
    """Tell whether a parameter of that name would carry a key, which no model takes."""
    return _KEY.search(name) is not None


def fault_of(name: str, value: object) -> str:
    """Say what a parameter's value should be, "" where nothing is wrong; None takes one back."""
    if name == "reasoning" and isinstance(value, str) and value not in LEVELS:
        return f"reasoning is {', '.join(LEVELS[:-1])} or {LEVELS[-1]}, not {value!r}"
    known = RANGES.get(name)
    read = number_in(value) if isinstance(value, str) else value
    if value is None or known is None or known.holds(read):
        return ""
    return f"{name} is {known}, not {value!r}"


def checked_parameters(parameters: Mapping[str, object]) -> None:
    """Refuse what no server would take. Raises SettingError."""
    for name, value in parameters.items():
        if fault := fault_of(name, value):
            raise SettingError(fault, f"Write another value, or leave {name} out.")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise SettingError(
                f"{name} cannot be sent: {error}",
                "Use numbers that are finite, text, lists and dicts.",
            ) from error


def checked_options(options: ChatOptions) -> None:
    """Refuse options that no server would take. Raises SettingError."""
    names = ("temperature", "max_tokens", "seed", "timeout")
    checked_parameters({name: getattr(options, name) for name in names})
    checked_parameters(options.parameters)
