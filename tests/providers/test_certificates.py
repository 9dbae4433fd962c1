"""Authorities and proxies of the environment: a server that only they vouch for is reached."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import ModelNotReachable, SettingError
from jan_magics.domain.events import Finish, TextDelta
from jan_magics.providers.http import proxy_variable
from jan_magics.providers.openai import OpenAIProvider
from tests.conftest import require
from tests.providers.asking import asking, collect
from tests.providers.loopback import http, serving

BODY = b'data: {"choices":[{"delta":{"content":"one"},"finish_reason":"stop"}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine that nobody else vouches for, and its key."""
    program = shutil.which("openssl")
    require("openssl", program, "no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    made, key = folder / "made.pem", folder / "key.pem"
    command = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    subprocess.run([str(program), *command, *names], check=True, capture_output=True)
    return made, key


@asynccontextmanager
async def encrypted(made: Path, key: Path) -> AsyncIterator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(HEAD % len(BODY) + BODY)
        await reader.read()
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        await asyncio.sleep(0.05)  # until the other side of each connection is closed too


def ask(certificate: tuple[Path, Path]) -> list[Any]:
    async def go() -> list[Any]:
        async with encrypted(*certificate) as address:
            provider = OpenAIProvider("test", address)
            try:
                return await collect(provider, asking("hi"))
            finally:
                await provider.close()

    return asyncio.run(go())


def test_a_certificate_that_nobody_vouches_for(certificate: tuple[Path, Path]) -> None:
    with pytest.raises(ModelNotReachable, match="its certificate is not trusted") as raised:
        ask(certificate)
    assert "SSL_CERT_FILE=" in raised.value.next_step


def test_a_server_that_speaks_without_encryption() -> None:
    async def go() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        provider = OpenAIProvider("test", f"https://127.0.0.1:{port}/v1")
        try:
            await collect(provider, asking("hi"))
        finally:
            await provider.close()
            server.close()

    with pytest.raises(ModelNotReachable, match="without encryption") as raised:
        asyncio.run(go())
    assert raised.value.next_step.startswith("Write http://127.0.0.1:")


def test_a_proxy_that_does_not_answer_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def go() -> None:
        async with serving(http(b"no", status=403)) as server:
            port = server.address.partition("127.0.0.1:")[2].partition("/")[0]
            monkeypatch.setenv("HTTPS_PROXY", f"http://user:hidden@127.0.0.1:{port}")
            provider = OpenAIProvider("test", "https://host.example/v1")
            try:
                await collect(provider, asking("hi"))
            finally:
                await provider.close()

    with pytest.raises(ModelNotReachable, match="the proxy that HTTPS_PROXY names") as raised:
        asyncio.run(go())
    assert "NO_PROXY=host.example" in raised.value.next_step
    assert "hidden" not in str(raised.value)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with pytest.raises(ModelNotReachable, match="the proxy that HTTPS_PROXY names"):
        asyncio.run(collect(OpenAIProvider("test", "https://host.example/v1"), asking("hi")))
    monkeypatch.setenv("NO_PROXY", "host.example")
    assert proxy_variable("https://host.example/v1") == ""


def test_an_authority_of_the_users_own(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert ask(certificate) == [TextDelta("one"), Finish("stop")]


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    path = tmp_path / "证书.pem"
    if content:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    provider = OpenAIProvider("test", "https://host.example/v1")
    with pytest.raises(SettingError, match="SSL_CERT_FILE") as raised:
        asyncio.run(collect(provider, asking("hi")))
    assert "PEM" in raised.value.next_step


def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://user:hidden@proxy.example")
    provider = OpenAIProvider("test", "https://host.example/v1")
    with pytest.raises(SettingError, match="a proxy of the environment") as raised:
        asyncio.run(collect(provider, asking("hi")))
    assert "hidden" not in str(raised.value)
