"""Read what follows a flag, and refuse what was meant for another one."""

import argparse
import json
import re
from types import MappingProxyType
from typing import Any, Final

from jan_magics.domain.errors import KeyRefused
from jan_magics.domain.parameters import fault_of, names_a_key

_ENDLESS: Final = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_KEY: Final = re.compile(
    r"\b(sk|gsk|pk|xai|hf|AIza|ghp|glpat)[-_]?[A-Za-z0-9_-]{20,}"
    r"|https?://\S*[?&][\w-]*(?:key|token|auth|secret|passw)[\w-]*=",
    re.IGNORECASE,
)
_WORDS: Final = frozenset({"model", "thread", "assistant", "system", "overflow"})
"""What a grid tries as it is written."""
_PYTHON: Final = MappingProxyType({"None": None, "True": True, "False": False})


def thread_name(text: str) -> str:
    """Refuse a number: elsewhere `-t` is the temperature."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", text):
        raise argparse.ArgumentTypeError(
            f"{text} is not a thread; the temperature is --temperature {text}"
        )
    return text


def model_name(text: str) -> str:
    """Refuse a word without a colon."""
    if ":" not in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no model; write provider:name")
    return text


def temperature(text: str) -> float:
    """Read how freely a model may choose."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if fault := fault_of("temperature", value):
        raise argparse.ArgumentTypeError(fault)
    return value


def count(text: str) -> int:
    """Read a whole number from 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def steps(text: str) -> int:
    """Read a whole number from 1."""
    if not count(text):
        raise argparse.ArgumentTypeError("a turn has at least one step")
    return count(text)


def tool_names(text: str) -> tuple[str, ...]:
    """Read names with commas between them; `none` is none."""
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    if not names:
        raise argparse.ArgumentTypeError("name a tool, or write none")
    return () if names == ("none",) else names


def grid_axis(text: str) -> tuple[str, list[Any]]:
    """Read `key=a,b`: a setting and the values to try."""
    name, equals, values = text.partition("=")
    name = name.strip().replace("-", "_")
    tried = [each.strip() for each in values.split(",") if each.strip()]
    if not equals or not name.isidentifier() or not tried:
        raise argparse.ArgumentTypeError(f"{text!r} is not key=a,b")
    return name, [each if name in _WORDS else parameter_value(name, each) for each in tried]


def parameter(text: str) -> tuple[str, Any]:
    """Read `key=value`."""
    name, equals, value = text.partition("=")
    if names_a_key(name):
        raise literal_key()
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not key=value")
    # What is filled in is read when it is.
    return name, value if "{{" in value else parameter_value(name, value)


def parameter_value(name: str, text: str) -> Any:
    """Read a parameter's value: JSON, or a word of Python's, where it can be, else text."""
    value = _value(text)
    if fault := fault_of(name, value):
        raise argparse.ArgumentTypeError(fault)
    return value


def _value(text: str) -> Any:
    if _ENDLESS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is no number that can be sent")
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def holds_key(line: str) -> bool:
    """Tell whether what looks like a key stands on a line, also in the query of an address."""
    return _KEY.search(line) is not None


def looks_like_a_key(name: str) -> bool:
    """Tell whether a key was typed where a provider's name belongs."""
    if "://" in name:
        return False
    return bool(re.match(r"(sk|gsk|pk|xai|hf|ghp|glpat)[-_]|AIza", name)) or len(name) >= 24


def literal_key() -> KeyRefused:
    """Return the error for a key that stands on a magic line."""
    return KeyRefused(
        "a key on a magic line stays in the notebook, so it was not used",
        "Delete it from the cell, then type: %chat key PROVIDER",
    )
