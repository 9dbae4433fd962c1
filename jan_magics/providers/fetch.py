"""Fetch a document by its URL: from the public network only, within limits, knowing nobody.

Each address is resolved once and checked, and the connection goes to what was checked. No cookie,
key or proxy is used.
"""

import asyncio
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import httpx

from jan_magics.domain.errors import RetrievalError
from jan_magics.providers.addresses import is_public

REDIRECTS: Final = 5
SECONDS: Final = 30.0
CONNECT: Final = 10.0
MOST_ADDRESSES: Final = 3
PIECE: Final = 65_536
"""Bytes that are unfolded at once."""
_MOVED: Final = frozenset((301, 302, 303, 307, 308))
_HEADERS: Final = {"Accept-Encoding": "gzip", "Accept": "*/*", "User-Agent": "jan-magics"}

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What stands at an address: its bytes as they are meant, and what the server says they are."""

    url: str
    content: bytes
    media_type: str
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """How much may be fetched, in which time, and from which hosts although they are not public.

    `bytes` are counted after they were unfolded.
    """

    bytes: int
    seconds: float = SECONDS
    hosts: frozenset[str] = frozenset()


async def resolve_here(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host as this machine knows them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def fetch(
    url: str,
    allowed: Allowed,
    *,
    resolve: Resolve = resolve_here,
    tls: ssl.SSLContext | None = None,
) -> Fetched:
    """Return what stands at an address, after five redirects at most.

    Raises:
        RetrievalError: when the address may not be asked, does not answer, or sends too much.
    """
    context = tls or httpx.create_ssl_context(trust_env=True)
    target = _checked(url)
    try:
        async with asyncio.timeout(allowed.seconds):
            for _ in range(REDIRECTS + 1):
                found = await _asked(target, allowed, resolve, context)
                if isinstance(found, Fetched):
                    return found
                target = _checked(str(target.join(found)))
    except TimeoutError:
        raise _refused(target, f"it took more than {allowed.seconds:g} seconds") from None
    except ssl.SSLError as fault:
        raise _refused(target, f"its certificate cannot be trusted ({fault.reason})") from None
    except (httpx.HTTPError, OSError, zlib.error) as fault:
        raise _refused(target, str(fault) or type(fault).__name__) from None
    raise _refused(target, f"it leads on more than {REDIRECTS} times")


def _checked(url: str) -> httpx.URL:
    try:
        target = httpx.URL(url).copy_with(fragment=None)
    except httpx.InvalidURL:
        raise RetrievalError("this is no address", "Write it like https://HOST/PATH") from None
    if target.scheme != "https" or not target.host:
        raise _refused(target, "only https is fetched")
    if target.userinfo:
        raise _refused(target, "it carries a name or password, and none is sent")
    return target


async def _asked(
    target: httpx.URL, allowed: Allowed, resolve: Resolve, context: ssl.SSLContext
) -> Fetched | str:
    """Return what stands there or where it leads to; an address that does not listen is passed."""
    *others, last = await _addresses(target, allowed, resolve)
    for address in others[: MOST_ADDRESSES - 1]:
        try:
            return await _from(address, target, allowed, context)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            continue
    return await _from(last, target, allowed, context)


async def _from(
    address: str, target: httpx.URL, allowed: Allowed, context: ssl.SSLContext
) -> Fetched | str:
    # To the address that was checked; the name stays what the certificate must be of.
    request = httpx.Request(
        "GET",
        target.copy_with(host=address),
        headers={**_HEADERS, "Host": target.netloc.decode("ascii")},
        extensions={"sni_hostname": target.raw_host.decode("ascii"), "timeout": _timeouts(allowed)},
    )
    async with httpx.AsyncClient(verify=context, trust_env=False) as client:
        response = await client.send(request, stream=True)
        try:
            if response.status_code in _MOVED and (location := response.headers.get("Location")):
                return str(location)
            if response.status_code != httpx.codes.OK:
                raise _refused(target, f"it answers {response.status_code}")
            return await _body(target, response, allowed)
        finally:
            await response.aclose()


def _timeouts(allowed: Allowed) -> dict[str, float | None]:
    limit = httpx.Timeout(allowed.seconds, connect=min(CONNECT, allowed.seconds))
    return limit.as_dict()


async def _addresses(target: httpx.URL, allowed: Allowed, resolve: Resolve) -> Sequence[str]:
    try:
        addresses = await resolve(target.raw_host.decode("ascii"), target.port or 443)
    except (OSError, UnicodeError):
        raise _refused(target, "its name cannot be resolved") from None
    if not addresses:
        raise _refused(target, "its name cannot be resolved")
    if target.host not in allowed.hosts and not all(map(is_public, addresses)):
        raise RetrievalError(
            f"{_shown(target)!r} is not fetched: {target.host!r} is not on the public network",
            "If it is yours, name it in config.toml: [providers.NAME] address = "
            f'"https://{target.host}"',
        )
    return addresses


async def _body(target: httpx.URL, response: httpx.Response, allowed: Allowed) -> Fetched:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise _refused(target, f"it is packed as {encoding[:20]!r}, which was not asked for")
    packed = encoding not in ("identity", "")
    parts, size = list[bytes](), 0
    async for part in _unfolded(response.aiter_raw(PIECE), packed=packed):
        parts.append(part)
        size += len(part)
        if size > allowed.bytes:
            raise _refused(target, f"it is larger than {allowed.bytes / 1e6:,.0f} MB")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return Fetched(_shown(target, query=True), b"".join(parts), kind, response.charset_encoding)


class _Unfolding(Protocol):
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = 0) -> bytes: ...


async def _unfolded(raw: AsyncIterator[bytes], *, packed: bool) -> AsyncIterator[bytes]:
    """Yield bytes unfolded in small pieces: a bomb is seen before it is in memory."""
    if not packed:
        async for data in raw:
            yield data
        return
    unfolding: _Unfolding = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    async for data in raw:
        rest = data
        while rest:
            yield unfolding.decompress(rest, PIECE)
            rest = unfolding.unconsumed_tail


def _refused(target: httpx.URL, why: str) -> RetrievalError:
    return RetrievalError(
        f"{_shown(target)!r} is not fetched: {why}",
        "Check the address, or download the file and name its path.",
    )


def _shown(target: httpx.URL, *, query: bool = False) -> str:
    """Return an address without what may be a secret: name, password, and query where not asked."""
    kept = target.copy_with(userinfo=None, fragment=None)
    return str(kept if query else kept.copy_with(query=None))
