"""What an exception of httpx means: typed, by its class and by the moment it came. No I/O."""

import socket
from typing import Final

import httpx

from jan_magics.domain.errors import (
    ModelNotReachable,
    ModelTimeout,
    ProviderError,
    RequestRejected,
    StreamBroken,
)
from jan_magics.providers.failures import GO_ON, Asked

CONNECT: Final = 5.0
"""Seconds that a server has to take a connection."""


def transport_failure(error: Exception, asked: Asked, *, begun: bool) -> ProviderError:
    """Map an exception of httpx: before the answer nobody listens, after it the stream broke."""
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, _NO_CONNECTION):
        return ModelTimeout(
            f"{asked.model} sent nothing for too long",
            "Run the cell again, or give it more time: -P timeout=1200",
            model=asked.model,
        )
    if isinstance(error, _NO_REQUEST):
        return RequestRejected(
            f"{asked.address!r} cannot be asked: {type(error).__name__}",
            "Write the address like https://HOST/v1#MODEL",
            model=asked.model,
        )
    if begun:
        return StreamBroken(
            f"the answer of {asked.model} was cut off ({type(error).__name__})",
            GO_ON,
            model=asked.model,
        )
    if _nameless(error):
        return ModelNotReachable(
            f"{asked.model} is not reachable: the name in {asked.address} cannot be resolved",
            "Check its spelling and the network, or ask another model: %chat use MODEL",
            model=asked.model,
        )
    return ModelNotReachable(
        f"{asked.model} is not reachable at {asked.address}: {_why(error)}",
        "Start its server, or list what is running: %chat models   then: %chat use MODEL",
        model=asked.model,
    )


_NO_CONNECTION: Final = (httpx.ConnectTimeout, httpx.PoolTimeout)
_NO_REQUEST: Final = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.CookieConflict)


def _nameless(error: BaseException | None) -> bool:
    """Tell whether a host's name could not be resolved; the reason lies below httpx's error."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _why(error: Exception) -> str:
    if isinstance(error, _NO_CONNECTION):
        return f"no connection within {CONNECT:g} s"
    if not isinstance(error, httpx.ConnectError):
        return f"the connection failed ({type(error).__name__})"
    return "its certificate is not trusted" if _untrusted(error) else "nothing listens there"


def nothing_listens(error: BaseException | None) -> bool:
    """Tell whether a connection was refused: its server may just be starting."""
    return isinstance(error, httpx.ConnectError) and not _nameless(error) and not _untrusted(error)


def _untrusted(error: Exception) -> bool:
    return "ssl" in str(error).lower() or "certificate" in str(error).lower()
