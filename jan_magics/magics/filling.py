"""`{{ expression }}` on a line: filled in after it was cut into words, so that a value is one."""

import argparse
import builtins
import re
from typing import Any, Final

from jan_magics.frames import is_frame
from jan_magics.notebook.interpolate import interpolate

_NAME: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def fill(shell: Any, text: str) -> str:
    """Return a text with its expressions replaced by their values, each evaluated once.

    Raises:
        UndefinedName, ExpressionFailed: when an expression has no value.
    """
    return interpolate(text, shell.user_ns, vars(builtins)).text


def filled(shell: Any, parsed: argparse.Namespace) -> argparse.Namespace:
    """Return what was parsed with every word filled in. Raises as `fill`."""
    made = {name: _value(shell, value) for name, value in vars(parsed).items()}
    return argparse.Namespace(**made)


def _value(shell: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_value(shell, each) for each in value]
    if not isinstance(value, str):
        return value
    named = _NAME.fullmatch(value)
    if named and is_frame(shell.user_ns.get(named[1])):
        return named[1]  # a table is taken as it is, and not as text
    return fill(shell, value)
