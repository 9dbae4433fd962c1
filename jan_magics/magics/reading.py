"""Read what follows a flag, and refuse what was meant for another one."""

import argparse
import json
import re
from typing import Any

from jan_magics.domain.errors import KeyRefused


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


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def count(text: str) -> int:
    """Read a whole number from 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def parameter(text: str) -> tuple[str, Any]:
    """Read `key=value`; the value is JSON where it can be, else text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not key=value")
    if re.search(r"api_?key|token$|secret|password", name, re.IGNORECASE):
        raise literal_key()
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def literal_key() -> KeyRefused:
    """Return the error for a key that stands on a magic line."""
    return KeyRefused(
        "a key on a magic line stays in the notebook, so it was not used",
        "Delete it from the cell, then type: %chat key PROVIDER",
    )
