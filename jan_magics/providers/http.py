"""The line to one server: timeouts, proxies, one resend, and every failure of httpx typed."""

import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.request import proxy_bypass

import httpx

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.models import SENDS
from jan_magics.providers.bodies import Body
from jan_magics.providers.failures import Asked, failure
from jan_magics.providers.keys import Key, host_of, is_loopback, origin_of
from jan_magics.providers.transport import CONNECT, transport_failure

READ: Final = 600.0
BODY_LIMIT: Final = 16 * 1024 * 1024
_ERROR_LIMIT: Final = 64 * 1024
_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": "jan-magics"}


@dataclass(slots=True)
class Sends:
    """How often a request may still go out, over all causes."""

    left: int = SENDS

    def take(self) -> bool:
        """Take one; False where none is left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class _Progress:
    """How far one request came: that decides what a broken connection means."""

    sends: Sends
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

    `header` carries the key of who is asked; `headers` go with every request, and so does what
    stands behind the `?` of the address.
    """

    def __init__(
        self,
        address: str,
        *,
        header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        base, _, self._query = address.partition("?")
        self.address = base.rstrip("/")
        self._header = header
        self._headers = dict(headers or {})
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def post(
        self,
        path: str,
        body: Mapping[str, Json],
        asked: Asked,
        read: float | None,
        sends: Sends | None = None,
    ) -> AsyncGenerator[httpx.Response, None]:
        """Send JSON and give the response once its headers say success. Raises ProviderError."""
        made = Body(body)
        request = self._open().build_request(
            "POST",
            self._url(path),
            content=made.content,
            headers={"Content-Type": "application/json", "Content-Length": str(made.size)},
            timeout=_timeout(read),
        )
        with self._typed(asked, sends) as progress:
            response = await self._send(request, asked, progress)
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
            response = await self._send(request, asked, progress)
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
        place = f"{origin_of(self.address) if path.startswith('/') else self.address + '/'}{path}"
        return f"{place}{'&' if '?' in place else '?'}{self._query}" if self._query else place

    async def _send(
        self, request: httpx.Request, asked: Asked, progress: _Progress
    ) -> httpx.Response:
        client = self._open()
        auth = KeyAuth(asked.key, self._header) if asked.key else None
        request.extensions = {**request.extensions, "trace": progress.trace}
        progress.sends.take()
        try:
            response = await client.send(request, stream=True, auth=auth)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # A server may close an idle connection just as it is used again. Nothing was answered
            # and the connection was not new, so asking once more is safe.
            if progress.fresh or not progress.sends.take():
                raise
            response = await client.send(request, stream=True, auth=auth)
        progress.answered = True
        return response

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            home = is_loopback(self.address)
            tls = _tls(self.address)
            try:
                self._client = httpx.AsyncClient(
                    transport=self._transport,
                    follow_redirects=False,
                    # No proxy may see what is meant for this machine.
                    trust_env=not home,
                    verify=tls,
                    # No limit: a connection that httpcore forgets after a double cancel
                    # (encode/httpx#3782) must not block the next request for ever.
                    # llama-server closes an idle connection after 5 s; be earlier.
                    limits=httpx.Limits(keepalive_expiry=4.0 if home else 30.0),
                    headers=_HEADERS | self._headers,
                )
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                # Not quoted: the address of a proxy may carry a password.
                raise SettingError(
                    f"a proxy of the environment cannot be used ({type(error).__name__})",
                    "Write HTTPS_PROXY=http://HOST:PORT, or leave this host out: NO_PROXY=HOST",
                ) from None
        return self._client

    @contextmanager
    def _typed(self, asked: Asked, sends: Sends | None = None) -> Generator[_Progress, None, None]:
        progress = _Progress(sends or Sends())
        try:
            yield progress
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            httpx.CookieConflict,
            httpx.StreamError,
        ) as error:
            proxy = "" if is_loopback(self.address) else proxy_variable(self.address)
            failed = transport_failure(error, asked, begun=progress.answered, proxy=proxy)
            raise failed from error


def proxy_variable(address: str) -> str:
    """Return the variable of the environment that names a proxy for an address, "" for none."""
    if proxy_bypass(host_of(address)):
        return ""
    scheme = address.partition("://")[0]
    names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    return next((name for name in names if os.environ.get(name)), "")


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


def _tls(address: str) -> ssl.SSLContext:
    # Loading the certificates takes longer than a whole local request, and http has no use for
    # them: a context that trusts nobody stands in.
    if address.startswith("http://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Whoever names an authority of their own means it for this machine, too, unlike a proxy.
    try:
        return httpx.create_ssl_context(trust_env=True)
    except OSError as error:
        raise SettingError(
            f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: {error}",
            "Name a file of certificates in PEM form, or take the variable away.",
        ) from error
