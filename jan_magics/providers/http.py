"""The line to one server: timeouts, proxies, one retry, and every failure of httpx typed."""

import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from jan_magics.domain.errors import (
    ModelNotReachable,
    ModelTimeout,
    ProviderError,
    RequestRejected,
    StreamBroken,
)
from jan_magics.domain.messages import Json
from jan_magics.providers.failures import GO_ON, Asked, failure
from jan_magics.providers.keys import Key, is_loopback, origin_of

CONNECT: Final = 5.0
READ: Final = 600.0
BODY_LIMIT: Final = 16 * 1024 * 1024
_ERROR_LIMIT: Final = 64 * 1024
_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": "jan-magics"}


@dataclass(slots=True)
class _Progress:
    """How far one request came: that decides what a broken connection means."""

    fresh: bool = False
    answered: bool = False

    async def trace(self, event: str, _info: Mapping[str, object]) -> None:
        if event.startswith("connection.connect"):
            self.fresh = True


class KeyAuth(httpx.Auth):
    """Add the key at the last moment, so that no frame of ours ever holds the header."""

    def __init__(self, key: Key, header: str) -> None:
        self._key = key
        self._header = header

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Set the header for the origin that the key belongs to."""
        origin = origin_of(str(request.url))
        scheme = "Bearer " if self._header == "Authorization" else ""
        request.headers[self._header] = f"{scheme}{self._key.reveal(origin)}"
        yield request


class Line:
    """Requests to one address. The client is made by the first request, inside its loop.

    `header` carries the key; `headers` go with every request.
    """

    def __init__(
        self,
        address: str,
        key: Key | None = None,
        *,
        header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.address = address.rstrip("/")
        self._auth = KeyAuth(key, header) if key else None
        self._headers = dict(headers or {})
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def post(
        self, path: str, body: Mapping[str, Json], asked: Asked, read: float | None
    ) -> AsyncGenerator[httpx.Response, None]:
        """Send JSON and give the response once its headers say success. Raises ProviderError."""
        request = self._open().build_request(
            "POST", self._url(path), json=body, timeout=_timeout(read)
        )
        with self._typed(asked) as progress:
            response = await self._send(request, progress)
            try:
                await _refuse(response, asked)
                yield response
            finally:
                await response.aclose()

    async def get(self, path: str, asked: Asked, read: float | None = 10.0) -> bytes:
        """Return the body of a success; a path with a slash first is one from the server's root.

        Raises:
            ProviderError: in its exact class.
        """
        request = self._open().build_request("GET", self._url(path), timeout=_timeout(read))
        with self._typed(asked) as progress:
            response = await self._send(request, progress)
            try:
                await _refuse(response, asked)
                return await body_of(response, BODY_LIMIT)
            finally:
                await response.aclose()

    async def close(self) -> None:
        """Close all connections; a later request opens them again."""
        client, self._client = self._client, None
        if client:
            await client.aclose()

    def _url(self, path: str) -> str:
        return f"{origin_of(self.address) if path.startswith('/') else self.address + '/'}{path}"

    async def _send(self, request: httpx.Request, progress: _Progress) -> httpx.Response:
        client = self._open()
        request.extensions = {**request.extensions, "trace": progress.trace}
        try:
            response = await client.send(request, stream=True, auth=self._auth)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A server may close an idle connection just as it is used again. Nothing was answered
            # and the connection was not new, so asking once more is safe.
            if progress.fresh:
                raise
            response = await client.send(request, stream=True, auth=self._auth)
        progress.answered = True
        return response

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            home = is_loopback(self.address)
            self._client = httpx.AsyncClient(
                transport=self._transport,
                follow_redirects=False,
                # No proxy may see what is meant for this machine.
                trust_env=not home,
                verify=_tls(self.address),
                # No limit: a connection that httpcore forgets after a double cancel
                # (encode/httpx#3782) must not block the next request for ever.
                # llama-server closes an idle connection after 5 s; be earlier.
                limits=httpx.Limits(keepalive_expiry=4.0 if home else 30.0),
                headers=_HEADERS | self._headers,
            )
        return self._client

    @contextmanager
    def _typed(self, asked: Asked) -> Generator[_Progress, None, None]:
        progress = _Progress()
        try:
            yield progress
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.CookieConflict,
            httpx.StreamError,
        ) as error:
            raise transport_failure(error, asked, begun=progress.answered) from error


async def body_of(response: httpx.Response, limit: int) -> bytes:
    """Read a body up to `limit` bytes; the rest is left unread."""
    pieces: list[bytes] = []
    size = 0
    async for piece in response.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size >= limit:
            break
    return b"".join(pieces)[:limit]


def chunks_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """Return the body as it arrives, decompressed only where a proxy compressed it."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    return response.aiter_raw()


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
    certificate = "ssl" in str(error).lower() or "certificate" in str(error).lower()
    return "its certificate is not trusted" if certificate else "nothing listens there"


async def _refuse(response: httpx.Response, asked: Asked) -> None:
    if response.is_success:
        return
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = await body_of(response, _ERROR_LIMIT)
    raise failure(response.status_code, headers, body, asked, now=_now(headers))


def _now(headers: Mapping[str, str]) -> datetime:
    # The server's own clock, because its Retry-After is told by that clock.
    try:
        return parsedate_to_datetime(headers["date"]).astimezone(UTC)
    except (KeyError, ValueError, TypeError):
        return datetime.max.replace(tzinfo=UTC)


def _timeout(read: float | None) -> httpx.Timeout:
    return httpx.Timeout(READ if read is None else read, connect=CONNECT, pool=CONNECT)


def _tls(address: str) -> ssl.SSLContext | bool:
    # Loading the certificates takes longer than a whole local request, and http has no use for
    # them: a context that trusts nobody stands in.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.startswith("http://") else True
