"""Addresses as documents: from a TLS server that the config names, from nothing else near."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import RetrievalError
from tests.conftest import isolated_environment
from tests.kernel import running_kernel
from tests.providers.test_fetch import Site, answer, certificate_for, serving

PAGE = "<html><head><title>t</title></head><body><h1>题</h1><p>words of it</p></body></html>"


@contextmanager
def site_beside(certificate: Path, answers: dict[str, bytes]) -> Iterator[Site]:
    """Serve in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    entered = serving(certificate, answers)
    try:
        yield asyncio.run_coroutine_threadsafe(entered.__aenter__(), loop).result()
        asyncio.run_coroutine_threadsafe(entered.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_a_host_that_the_config_names_is_asked(tmp_path: Path) -> None:
    certificate = certificate_for("localhost", tmp_path / "site.pem")
    kept = {
        "/page": answer(PAGE.encode("gbk"), Content_Type="text/html; charset=gbk"),
        "/notes.md": answer(b"# Notes\n\nwords", Content_Type="text/plain"),
    }
    with site_beside(certificate, kept) as site:
        config = tmp_path / "config" / "config.toml"
        config.parent.mkdir()
        address = site.url("", "localhost")
        config.write_text(f'[providers.mine]\naddress = "{address}"\n', encoding="utf-8")
        environment = isolated_environment(tmp_path) | {
            "SSL_CERT_FILE": str(certificate.with_suffix(".crt"))
        }
        with running_kernel(tmp_path, **environment) as kernel:
            kernel.ok("%load_ext jan_magics")
            kernel.ok(f"found = %rag chunks {address}/page")
            assert kernel.ok("(found.headings[0], found.text[0])").result == (
                "('题', '# 题\\n\\nwords of it')"
            )
            assert kernel.ok("found.attrs['jan']['source']").result == f"'{address}/page'"
            kernel.ok(f"import jan_magics as jan\nfound = jan.chunks('{address}/notes.md')")
            assert kernel.ok("found.headings[0]").result == "'Notes'"
            kernel.ok(f"%%chat -m offline:echo -o a --attach {address}/page\nSum it up")
            assert "File: page\\n# 题" in kernel.ok("print(a.sent)").out


@pytest.mark.parametrize(
    "address", ["https://127.0.0.1:9/x", "https://localhost/notes.md", "http://localhost/a"]
)
def test_an_address_of_this_machine_is_refused(address: str) -> None:
    with pytest.raises(RetrievalError, match=r"not on the public network|only https is fetched"):
        jan.chunks(address)
