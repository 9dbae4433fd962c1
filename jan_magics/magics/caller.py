"""What a verb knows of the magics that call it."""

from typing import Any, Protocol


class Caller(Protocol):
    """The magics of one shell; `failure` is the last cell that failed, with its error."""

    shell: Any
    failure: tuple[str, BaseException] | None
