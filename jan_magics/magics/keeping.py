"""What `-o VAR` does: a variable of the user, by a name that hides nothing."""

import builtins
import keyword
from typing import Any, TypeVar

from IPython.core.error import UsageError

T = TypeVar("T")


def variable(name: str | None, example: str) -> str | None:
    """Return the name of a variable. Raises UsageError for what is none; None is no variable."""
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise UsageError(f"-o {name!r} is no name of a variable\nName one: -o {example}")
    if name is not None and hasattr(builtins, name):
        raise UsageError(f"-o {name!r} would hide Python's own {name}\nName another: -o {example}")
    return name


def keep(shell: Any, name: str | None, value: T) -> T:
    """Put a value into a variable where one is named, and return it."""
    if name:
        shell.user_ns[name] = value
    return value
