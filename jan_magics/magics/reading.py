"""Read what follows a flag, and refuse what was meant for another one."""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.looking import checked_cosine, checked_rows
from jan_magics.domain.parameters import fault_of, names_a_key
from jan_magics.domain.secret_shapes import BEGUN, TYPED
from jan_magics.magics.words import split_values

T = TypeVar("T")

_ENDLESS: Final = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
MOST_AT_A_TIME: Final = 64
"""Rows of a table that are asked at a time."""
_WORDS: Final = frozenset({"model", "thread", "assistant", "system", "overflow"})
"""What a grid tries as it is written."""
_PYTHON: Final = MappingProxyType({"None": None, "True": True, "False": False})
_HALF_JSON: Final = re.compile(r"\{\s*[\w\"'}]")  # a template begins with {%, {{ or {#
_INSTEAD: Final = MappingProxyType({
    "model": "say who answers: -m PROVIDER:NAME",
    "thread": "say where: -t NAME",
    "assistant": "say as whom: -a NAME",
    "system": "give instructions: -s TEXT",
    "messages": "the thread holds them, and the cell below the line is the newest",
    "stream": "to see the answer only when it is whole: --no-stream",
    "tools": "offer functions by name: --tools NAME,…",
    "max_steps": "say how many: --max-steps N",
    "overflow": "say what is done: --overflow trim, compact or error",
    "auto_compact": "let history be summarised: --overflow compact",
    **dict.fromkeys(("window", "ctx_len", "max_context_tokens"), "say how large: --window N"),
})  # fmt: skip
"""What has a flag of its own; as a parameter it would be dropped, or change what was planned."""


def thread_name(text: str) -> str:
    """Refuse a number that could be a temperature: elsewhere `-t` is just that."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", text):
        number = text.replace(",", ".")
        if not fault_of("temperature", float(number)):
            raise argparse.ArgumentTypeError(
                f"{text} is not a thread; the temperature is --temperature {number}"
            )
        if not text.isdigit():  # a whole number may name one: a year, or the beginning of its id
            raise argparse.ArgumentTypeError(
                f"{text} is not a thread; the temperature is --temperature X, from 0 to 2"
            )
    return text


def model_name(text: str) -> str:
    """Refuse a word without a colon."""
    if ":" not in text:
        what = f"{text!r} is no model" if text else "no model is named"
        raise argparse.ArgumentTypeError(f"{what}; write provider:name, as %chat models lists them")
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


def rows(text: str) -> int:
    """Read how many chunks are wanted."""
    return _within(checked_rows, count(text))


def at_a_time(text: str) -> int:
    """Read how many rows are asked at a time."""
    if not 1 <= count(text) <= MOST_AT_A_TIME:
        raise argparse.ArgumentTypeError(f"ask 1 to {MOST_AT_A_TIME} rows at a time")
    return count(text)


def amount(text: str) -> float:
    """Read an amount, in the unit of the prices."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount; write it as a number: 0.50")
    return value


def collection(text: str) -> str:
    """Read which collection is meant; an address with a password goes no further."""
    if "://" not in text:
        return text
    from jan_magics.storage.postgres_url import PostgresUrl, is_postgres

    if is_postgres(text):
        _within(PostgresUrl.read, text)
    return text


def cosine(text: str) -> float:
    """Read how near a chunk must be."""
    try:
        value: object = float(text)
    except ValueError:
        value = text
    return _within(checked_cosine, value)


def _within(check: Callable[[Any], T], value: object) -> T:
    """Read what one of the limits of a search lets pass."""
    try:
        return check(value)
    except SettingError as fault:
        raise argparse.ArgumentTypeError(f"{fault.message}; {fault.next_step}") from None


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
    tried = split_values(values)
    if not equals or not name.isidentifier() or not tried:
        raise argparse.ArgumentTypeError(f"{text!r} is not key=a,b")
    return name, [each if name in _WORDS else parameter_value(name, each) for each in tried]


def axes(given: Sequence[tuple[str, list[Any]]] | None) -> dict[str, list[Any]]:
    """Return the grid of several axes: the values of a key that comes twice are joined."""
    lists: dict[str, list[Any]] = {}
    for name, values in given or ():
        lists[name] = [*lists.get(name, []), *values]
    return lists


def parameter(text: str) -> tuple[str, Any]:
    """Read `key=value`."""
    name, equals, value = text.partition("=")
    if names_a_key(name):
        raise literal_key()
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not key=value, like top_p=0.9")
    # What is filled in is read when it is.
    read = value if "{{" in value else parameter_value(name, value)
    if read is not None and name in _INSTEAD:  # null takes back what sticks
        raise argparse.ArgumentTypeError(f"{name} is no parameter; {_INSTEAD[name]}")
    return name, read


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
        pass
    if _HALF_JSON.match(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} begins as JSON does and is none; write names and text in double quotes"
        )
    return text


def holds_key(line: str) -> bool:
    """Tell whether what looks like a key stands on a line, also in the query of an address."""
    return TYPED.search(line) is not None


def looks_like_a_key(name: str) -> bool:
    """Tell whether a key was typed where a provider's name belongs."""
    if "://" in name:
        return False
    return BEGUN.match(name) is not None or len(name) >= 24


def literal_key() -> KeyRefused:
    """Return the error for a key that stands on a magic line."""
    return KeyRefused(
        "a key on a magic line stays in the notebook, so it was not used",
        "Delete it from the cell, then type: %chat key PROVIDER",
    )
