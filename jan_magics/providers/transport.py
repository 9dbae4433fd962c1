"""What an exception of httpx means: typed, by its class and by the moment it came. No I/O."""

import re
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


def transport_failure(
    error: Exception, asked: Asked, *, begun: bool, proxy: str = ""
) -> ProviderError:
    """Map an exception of httpx: before the answer nobody listens, after it the stream broke.

    `proxy` is the variable that names the proxy on the way, "" where there is none.
    """
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, _NO_CONNECTION):
        return ModelTimeout(
            f"{asked.model} sent nothing for too long",
            "Run the cell again, or give it more time: -P timeout=1200",
            model=asked.model,
        )
    if isinstance(error, _NO_REQUEST):
        return RequestRejected(
            f"the address of {asked.who}, {asked.address!r}, cannot be asked: {_said(error)}",
            _MENDED if asked.provider == "custom" else _MENDED_THERE.format(asked.provider),
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
    why, step = _why(error, asked, proxy)
    return ModelNotReachable(
        f"{asked.model} is not reachable at {asked.address}: {why}", step, model=asked.model
    )


_MENDED: Final = "Write the address like https://HOST/v1#MODEL"
_MENDED_THERE: Final = 'Mend it in your config.toml: [providers.{0}] address = "https://HOST/v1"'
_START: Final = "Start its server, or list what is running: %chat models   then: %chat use MODEL"
_NO_CONNECTION: Final = (httpx.ConnectTimeout, httpx.PoolTimeout)
_NO_REQUEST: Final = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.CookieConflict)


def _nameless(error: BaseException | None) -> bool:
    """Tell whether a host's name could not be resolved; the reason lies below httpx's error."""
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _said(error: Exception) -> str:
    name = type(error).__name__
    return "a port is a number from 1 to 65535" if "port" in str(error).lower() else name


def _why(error: Exception, asked: Asked, proxy: str) -> tuple[str, str]:
    """Return why there was no connection, and what to do."""
    if isinstance(error, _NO_CONNECTION):
        way = f" through the proxy of {proxy}" if proxy else ""
        return f"no connection within {CONNECT:g} s{way}", _START
    proxied = isinstance(error, httpx.ProxyError) or (
        isinstance(error, httpx.ConnectError) and proxy
    )
    if proxied and not _untrusted(error):
        return (
            f"the proxy that {proxy or 'the environment'} names does not take the request",
            f"Mend {proxy or 'HTTPS_PROXY'}, or leave this host out: NO_PROXY={_host(asked)}",
        )
    if isinstance(error, httpx.ConnectError):
        return _unconnected(str(error), asked) if _untrusted(error) else (_NOBODY, _START)
    return f"the connection failed ({type(error).__name__})", _START


def _unconnected(said: str, asked: Asked) -> tuple[str, str]:
    """Return why there was no encrypted connection, and what to do."""
    if _PLAIN.search(said):
        address = f"http://{asked.address.partition('://')[2]}"
        return "it answers without encryption, which https:// asks for", f"Write {address}"
    return (
        "its certificate is not trusted",
        "Name the file of its authority's certificates: SSL_CERT_FILE=FILE.pem, and restart",
    )


_NOBODY: Final = "nothing listens there"
# What the TLS library says of an answer that is no TLS.
_PLAIN: Final = re.compile(
    r"wrong[_ ]version[_ ]number|record[_ ]layer[_ ]failure|packet[_ ]length[_ ]too[_ ]long"
    r"|unknown[_ ]protocol|http[_ ]request",
    re.IGNORECASE,
)


def _host(asked: Asked) -> str:
    return asked.address.partition("://")[2].partition("/")[0].partition(":")[0]


def nothing_listens(error: BaseException | None) -> bool:
    """Tell whether a connection was refused: its server may just be starting."""
    return isinstance(error, httpx.ConnectError) and not _nameless(error) and not _untrusted(error)


def _untrusted(error: Exception) -> bool:
    return "ssl" in str(error).lower() or "certificate" in str(error).lower()
