"""Which failures pass by themselves, and how long to wait for that. Pure."""

from typing import Final

from jan_magics.domain.errors import ModelNotReachable, ProviderError, RateLimited
from jan_magics.providers.transport import nothing_listens

NEXT_KEY: Final = frozenset({401, 403, 429})
"""Refusals of a key: another one may be accepted."""
LONGEST: Final = 30.0
"""Seconds that a server may ask to be waited for; a longer wait is the user's to decide."""
_BUSY: Final = frozenset({429, 502, 503, 529})
_REFUSED: Final = (0.2, 0.8)
_PAUSES: Final = (1.0, 3.0)
_FURTHER: Final = (9.0, 27.0, 30.0, 30.0)


def pause_after(failure: ProviderError, waited: int, *, among: bool = False) -> float | None:
    """Return the seconds to wait before the request goes out again, None where it must not.

    `waited` counts the pauses before; `among` many of which nobody waits for a single one, a server
    has longer to be less busy. A read that timed out is not repeated: what the server still works
    on may be billed.
    """
    busy = among and isinstance(failure, RateLimited)
    pauses = (*_PAUSES, *_FURTHER) if busy else _PAUSES
    if waited >= len(pauses):
        return None
    if isinstance(failure, ModelNotReachable):
        return _REFUSED[waited] if nothing_listens(failure.__cause__) else None
    if failure.status not in _BUSY or (isinstance(failure, RateLimited) and failure.used_up):
        return None
    wanted = failure.retry_after
    if wanted is None:
        return pauses[waited]
    return wanted if wanted <= LONGEST else None


def reason_of(failure: ProviderError) -> str:
    """Return in a few words what is waited for."""
    if failure.status is None:
        return "nothing listens there"
    if "being loaded" in failure.message:
        return f"{failure.status} the model is being loaded"
    words = {429: "too many requests", 529: "overloaded"}.get(failure.status, "not available")
    return f"{failure.status} {words}"
