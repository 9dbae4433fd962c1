"""A server that wants a key: what is said, and how it gets one."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.errors import ToolServerRefused
from jan_magics.providers.keys import KeyChain, store_key
from jan_magics.providers.mcp import McpConnection
from jan_magics.providers.mcp_config import McpServer, read_servers, server_at, with_key
from tests.mcp.conftest import WriteFile, free_port, http_serving
from tests.mcp.test_turns import close, runner, turns

__all__ = ["runner"]
TOKEN = "t0ken-密".encode().hex()


def opening(server: McpServer) -> list[str]:
    async def go() -> list[str]:
        connection = McpConnection(server)
        try:
            return [spec.name for spec in await connection.open()]
        finally:
            await connection.close()

    return asyncio.run(go())


def keys(folder: Path, address: str, value: str = TOKEN) -> KeyChain:
    store_key(address, value, folder)
    return KeyChain({"OPENAI_API_KEY": "ours"}, folder, keyring=False)


def test_a_server_without_its_key_is_named_with_what_to_do() -> None:
    with http_serving(free_port(), "--token", TOKEN) as address:
        with pytest.raises(ToolServerRefused) as raised:
            opening(server_at(address))
        assert raised.value.message == "the MCP server 'local' wants a key (401)"
        assert f"%chat key {address.removesuffix('/mcp')}" in raised.value.next_step
        assert "Bearer ${TOKEN}" in raised.value.next_step


def test_a_wrong_key_is_said_to_be_one_and_is_not_shown() -> None:
    with http_serving(free_port(), "--token", TOKEN) as address:
        wrong = replace(server_at(address), headers={"Authorization": "Bearer wr0ng-secret"})
        with pytest.raises(ToolServerRefused, match="does not accept the key") as raised:
            opening(wrong)
        assert "wr0ng" not in str(raised.value)
        assert "another" in raised.value.next_step


def test_a_key_that_was_stored_for_its_origin_is_sent(tmp_path: Path) -> None:
    with http_serving(free_port(), "--token", TOKEN) as address:
        server = with_key(server_at(address), keys(tmp_path, address))
        assert "forecast" in opening(server)
        assert TOKEN not in repr(server)
        assert server.cleaned(f"it said {TOKEN}") == "it said [key]"


def test_a_key_in_the_file_comes_out_of_a_variable(mcp_file: WriteFile) -> None:
    with http_serving(free_port(), "--token", TOKEN) as address:
        entry = {"url": address, "headers": {"Authorization": "Bearer ${TOKEN}"}}
        (server,) = read_servers(mcp_file(docs=entry), {"TOKEN": TOKEN})
        assert "forecast" in opening(server)
        assert TOKEN not in server.shown


def test_no_other_key_is_sent_and_none_goes_unencrypted(tmp_path: Path) -> None:
    chain = keys(tmp_path, "https://docs.example/mcp")
    for address in ("https://other.example/mcp", "https://docs.example:444/mcp",
                    "http://docs.example/mcp", "https://api.openai.com/mcp"):  # fmt: skip
        assert with_key(server_at(address), chain) == server_at(address)
    given = replace(server_at("https://docs.example/x"), headers={"authorization": "mine"})
    assert with_key(given, chain) is given
    assert with_key(McpServer("x", "run"), chain).headers == {}
    assert with_key(server_at("https://docs.example/x"), chain).headers["Authorization"]


def test_a_turn_goes_on_without_it(tmp_path: Path, runner: asyncio.Runner) -> None:
    made = turns(tmp_path, runner, ("without",), ("with",))
    with http_serving(free_port(), "--token", TOKEN) as address:
        box = made.kernel.session.toolbox
        box.add_servers([server_at(address)])
        outcome = made.ask(tools=("mcp:local",))
        (line,) = [line for line in outcome.lines if "wants a key (401)" in line]
        assert "%chat key http://127.0.0.1:" in line
        box.add_servers([with_key(server_at(address), keys(tmp_path / "keys", address))])
        made.ask(tools=("mcp:local",))
        assert "local__forecast" in made.offered()
    close(made)
