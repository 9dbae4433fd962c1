"""Documents by URL, from a real TLS server on loopback; private addresses are never asked."""

import asyncio
import gzip
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from jan_magics.domain.errors import RetrievalError
from jan_magics.providers.addresses import is_public
from jan_magics.providers.fetch import Allowed, Fetched, Resolve, fetch
from tests.conftest import require

HOST = "documents.test"
ALLOWED = Allowed(bytes=100_000, seconds=5, hosts=frozenset((HOST,)))


@dataclass
class Site:
    """What a server answers by path, and the heads of what it was asked."""

    answers: dict[str, bytes]
    port: int = 0
    heads: list[str] = field(default_factory=list)

    def url(self, path: str, host: str = HOST) -> str:
        return f"https://{host}:{self.port}{path}"


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate_for(HOST, tmp_path_factory.mktemp("tls") / "site.pem")


def certificate_for(host: str, path: Path) -> Path:
    """Make a certificate for a host that signs itself, with its key; alone it is in `.crt`."""
    require("openssl", shutil.which("openssl"), "openssl is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", path,
         "-out", path.with_suffix(".crt"), "-subj", f"/CN={host}",
         "-addext", f"subjectAltName=DNS:{host}"],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + path.with_suffix(".crt").read_bytes())
    return path


@asynccontextmanager
async def serving(certificate: Path, answers: dict[str, bytes]) -> AsyncIterator[Site]:
    site = Site(answers)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            site.heads.append(head)
            given = site.answers.get(head.split()[1].partition("?")[0])
            if given is None:
                await asyncio.sleep(60)
            else:
                writer.write(given.replace(b"{port}", str(site.port).encode()))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


def to(*addresses: str, asked: list[str] | None = None) -> Resolve:
    """Resolve every name to these addresses."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        if asked is not None:
            asked.append(host)
        return addresses

    return resolve


def run(
    certificate: Path,
    answers: dict[str, bytes],
    work: Callable[[Site, ssl.SSLContext], Awaitable[object]],
) -> tuple[object, Site]:
    async def served() -> tuple[object, Site]:
        async with serving(certificate, answers) as site:
            tls = ssl.create_default_context(cafile=str(certificate.with_suffix(".crt")))
            return await work(site, tls), site

    return asyncio.run(served())


def fetched(
    certificate: Path, answers: dict[str, bytes], path: str = "/a", allowed: Allowed = ALLOWED
) -> tuple[Fetched, Site]:
    async def work(site: Site, tls: ssl.SSLContext) -> Fetched:
        return await fetch(site.url(path), allowed, resolve=to("127.0.0.1"), tls=tls)

    found, site = run(certificate, answers, work)
    assert isinstance(found, Fetched)
    return found, site


def refused(
    certificate: Path, answers: dict[str, bytes], path: str = "/a", allowed: Allowed = ALLOWED
) -> str:
    with pytest.raises(RetrievalError) as caught:
        fetched(certificate, answers, path, allowed)
    assert caught.value.next_step
    return caught.value.message


def test_a_page_is_fetched_by_its_name_from_the_checked_address(certificate: Path) -> None:
    body = "多谢".encode()
    page = answer(body, Content_Type="text/html; charset=utf-8", Set_Cookie="a=b")
    found, site = fetched(certificate, {"/a": page})
    assert (found.content, found.media_type, found.charset) == (body, "text/html", "utf-8")
    assert found.url == site.url("/a")
    head = site.heads[0].lower()
    assert f"host: {HOST}:{site.port}" in head
    assert "cookie" not in head
    assert "authorization" not in head


def test_the_next_address_is_asked_where_one_does_not_listen(certificate: Path) -> None:
    async def work(site: Site, tls: ssl.SSLContext) -> Fetched:
        return await fetch(site.url("/a"), ALLOWED, resolve=to("127.0.0.9", "127.0.0.1"), tls=tls)

    found, _ = run(certificate, {"/a": answer(b"here")}, work)
    assert isinstance(found, Fetched)
    assert found.content == b"here"


def test_a_certificate_of_another_name_is_not_trusted(certificate: Path) -> None:
    async def work(site: Site, tls: ssl.SSLContext) -> Fetched:
        allowed = replace(ALLOWED, hosts=frozenset(("other.test",)))
        url = site.url("/a", "other.test")
        return await fetch(url, allowed, resolve=to("127.0.0.1"), tls=tls)

    with pytest.raises(RetrievalError, match="CERTIFICATE_VERIFY_FAILED"):
        run(certificate, {"/a": answer(b"x")}, work)


def test_redirects_are_followed_five_times_and_no_cookie_goes_along(certificate: Path) -> None:
    ways = {
        f"/{n}": answer(status="302 Found", Location=f"/{n + 1}", Set_Cookie="a=b")
        for n in range(5)
    }
    found, site = fetched(certificate, ways | {"/5": answer(b"end")}, "/0")
    assert found.content == b"end"
    assert len(site.heads) == 6
    assert not any("cookie" in head.lower() for head in site.heads)
    assert "more than 5 times" in refused(certificate, {"/0": ways["/0"], "/1": answer(
        status="302 Found", Location="/0")}, "/0")  # fmt: skip


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://documents.test/", "only https"),
        ("https://127.0.0.1:{port}/b", "'127.0.0.1' is not on the public network"),
        ("https://[::ffff:127.0.0.1]:{port}/b", "is not on the public network"),
        ("https://elsewhere.test/b", "'elsewhere.test' is not on the public network"),
        ("https://me:secret@documents.test/b", "name or password"),
        ("file:///etc/passwd", "only https"),
    ],
)
def test_a_redirect_is_checked_like_the_first_address(
    certificate: Path, location: str, why: str
) -> None:
    ways = {"/a": answer(status="301 Moved", Location=location), "/b": answer(b"secret")}
    said = refused(certificate, ways)
    assert why in said
    assert "secret" not in said


def test_a_name_that_leads_to_a_private_address_is_refused_and_resolved_once() -> None:
    asked: list[str] = []
    with pytest.raises(RetrievalError, match="not on the public network") as caught:
        asyncio.run(
            fetch(
                "https://rebind.test/x?key=abc",
                Allowed(1),
                resolve=to("93.184.215.14", "10.0.0.1", asked=asked),
            )
        )
    assert asked == ["rebind.test"]
    assert "key=abc" not in caught.value.message
    assert '[providers.NAME] address = "https://rebind.test"' in caught.value.next_step


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://[::1]/", "https://2130706433/", "https://localhost/",
     "https://0/", "https://169.254.169.254/latest/meta-data/"],
)  # fmt: skip
def test_spellings_of_private_addresses_are_seen_through(url: str) -> None:
    with pytest.raises(RetrievalError, match="is not fetched"):
        asyncio.run(fetch(url, Allowed(1, seconds=5)))


@pytest.mark.parametrize(
    "url", ["http://a.test/", "ftp://a.test/", "a.test", "https://", "//a", ""]
)
def test_only_https_is_an_address(url: str) -> None:
    with pytest.raises(RetrievalError):
        asyncio.run(fetch(url, Allowed(1), resolve=to("93.184.215.14")))


def test_what_is_too_large_is_not_read_to_its_end(certificate: Path) -> None:
    assert "larger than 0 MB" in refused(certificate, {"/a": answer(b"x" * 200_000)})


def test_a_bomb_is_counted_unfolded(certificate: Path) -> None:
    bomb = gzip.compress(b"x" * 50_000_000)
    assert len(bomb) < ALLOWED.bytes
    said = refused(certificate, {"/a": answer(bomb, Content_Encoding="gzip")})
    assert "larger than" in said


def test_what_is_packed_is_unfolded(certificate: Path) -> None:
    body = b"words " * 1000
    packed = answer(gzip.compress(body), Content_Encoding="gzip")
    assert fetched(certificate, {"/a": packed})[0].content == body
    assert "packed as 'br'" in refused(certificate, {"/a": answer(b"x", Content_Encoding="br")})


def test_a_server_that_does_not_answer_is_left(certificate: Path) -> None:
    said = refused(certificate, {}, allowed=replace(ALLOWED, seconds=0.3))
    assert "took more than 0.3 seconds" in said or "ReadTimeout" in said


def test_what_is_not_there_says_so(certificate: Path) -> None:
    assert "it answers 404" in refused(certificate, {"/a": answer(status="404 Not Found")})


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True), ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("169.254.169.254", False), ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 (an address to refuse)
        ("224.0.0.1", False), ("240.0.0.1", False), ("255.255.255.255", False),
        ("::1", False), ("::", False), ("fec0::1", False), ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("::ffff:10.0.0.1", False), ("::ffff:93.184.215.14", False), ("64:ff9b::a00:1", False),
        ("64:ff9b::5db8:d70e", True), ("2002:a00:1::", False), ("::127.0.0.1", False),
        ("not an address", False),
    ],
)  # fmt: skip
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public
