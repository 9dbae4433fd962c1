"""Flags that would be passed over are refused: whoever writes one waits for what it does."""

from collections.abc import Mapping

from IPython.core.error import UsageError


def refuse_given(flags: Mapping[str, object], why: str) -> None:
    """Refuse the first flag that was given, with why, and what to type. Raises UsageError."""
    for flag, given in flags.items():
        if given is not None and given is not False and given not in ((), []):
            raise UsageError(f"{flag} {why}")
