"""What files name: as other programs write them, with secrets that are never shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.providers.mcp_config import McpServer, read_servers, server_at


def read(folder: Path, table: Any, **environment: str) -> tuple[McpServer, ...]:
    path = folder / "mcp.json"
    path.write_text(table if isinstance(table, str) else json.dumps(table), encoding="utf-8")
    return read_servers(path, environment)


def test_servers_of_both_kinds(tmp_path: Path) -> None:
    table = {
        "weather": {"command": "npx", "args": ["-y", "weather"], "env": {"KEY": "${TOKEN}"},
                    "cwd": "here", "timeout": 5},
        "docs": {"type": "http", "url": "https://docs.example/mcp?key=k3y",
                 "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "timeout": 60_000},
        "off": {"command": "x", "disabled": True}, "also": {"command": "x", "active": False},
    }  # fmt: skip
    weather, docs = read(tmp_path, {"mcpServers": table}, TOKEN="s3cret")  # noqa: S106
    assert (weather.command, weather.args) == ("npx", ("-y", "weather"))
    assert (weather.env, weather.timeout) == ({"KEY": "s3cret"}, 5)
    assert weather.folder == str(tmp_path / "here")
    assert (docs.headers, docs.timeout) == ({"Authorization": "Bearer s3cret"}, 60)
    assert not weather.trusted
    assert not docs.trusted
    assert weather.shown == "npx -y weather in here with the variables KEY"
    assert docs.shown == "https://docs.example/mcp?… with the headers Authorization"
    assert "s3cret" not in repr((weather, docs))


@pytest.mark.parametrize(
    "args",
    [
        ["--api-key", "s3cret"],
        ["--api-key=s3cret"],
        ["-e", "API_KEY=s3cret"],
        ["--header", "Authorization: Bearer s3cret"],
        ["--key", "${TOKEN}"],
        ["${TOKEN}"],
        ["sk-s3cret0123456789abc"],
    ],
)
def test_no_key_is_shown(tmp_path: Path, args: list[str]) -> None:
    entry = {"command": "run", "args": args}
    (server,) = read(tmp_path, {"mcpServers": {"x": entry}}, TOKEN="s3cret")  # noqa: S106
    assert "s3cret" not in server.shown
    assert any("s3cret" in each for each in server.args)


def test_what_a_server_says_is_cleaned_of_its_secrets(tmp_path: Path) -> None:
    entry = {"command": "run", "args": ["serve", "--key", "k3y-value"], "env": {"T": "s3cret"}}
    (server,) = read(tmp_path, {"mcpServers": {"x": entry}})
    said = server.cleaned("cannot serve with k3y-value, T=s3cret, Bearer abc")
    assert said == "cannot serve with [key], T=[key], [key]"
    (remote,) = read(
        tmp_path, {"mcpServers": {"x": {"url": "https://y/mcp", "headers": {"X-Key": "h3ader"}}}}
    )
    assert "h3ader" not in remote.cleaned("Illegal header value b'h3ader'")


def test_the_other_name_of_the_table(tmp_path: Path) -> None:
    (server,) = read(tmp_path, {"servers": {"我的 weather!": {"command": "x"}}})
    assert server.name == "weather"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("{", "cannot be read"),
        ([], "names no server"),
        ({"mcpServers": {}}, "names no server"),
        ({"mcpServers": {"x": {"command": "y", "disabled": True}}}, "switched off"),
        ({"mcpServers": {"x": {}}}, "neither a command nor a url"),
        ({"mcpServers": {"x": []}}, "it is no table"),
        ({"mcpServers": {"x": {"command": "y", "args": "z"}}}, "no list of texts"),
        ({"mcpServers": {"x": {"command": "y", "env": ["z"]}}}, "no table of texts"),
        ({"mcpServers": {"x": {"command": "y", "timeout": 0}}}, "timeout is 0"),
        ({"mcpServers": {"x": {"type": "sse", "url": "https://y"}}}, "SSE"),
        ({"mcpServers": {"x": {"url": "ftp://y"}}}, "address"),
        ({"mcpServers": {"x": {"url": "https://me:k3y@y/mcp"}}}, "user name"),
        ({"mcpServers": {"天气": {"command": "y"}}}, "no letter or digit"),
        ({"mcpServers": {"x": {"command": "${MISSING}"}}}, "'MISSING' is not set"),
    ],
)
def test_what_cannot_be_used_says_so(tmp_path: Path, table: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words) as raised:
        read(tmp_path, table)
    assert raised.value.next_step
    assert "k3y" not in str(raised.value)


def test_a_variable_may_have_a_default(tmp_path: Path) -> None:
    (server,) = read(tmp_path, {"mcpServers": {"x": {"command": "${PROGRAM:-run}"}}})
    assert server.command == "run"


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot be read"):
        read_servers(tmp_path / "nothing.json", {})


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://127.0.0.1:8000/mcp", "local"),
        ("https://mcp.example.com/mcp", "example"),
        ("https://docs.example.com/mcp?token=s3cret", "docs"),
    ],
)
def test_an_address_that_was_typed(address: str, name: str) -> None:
    server = server_at(address)
    assert (server.name, server.url, server.trusted) == (name, address, True)
    assert "s3cret" not in server.shown


def test_the_digest_is_that_of_what_is_started(tmp_path: Path) -> None:
    def one(**more: Any) -> str:
        (server,) = read(tmp_path, {"mcpServers": {"x": {"command": "y"} | more}})
        return server.digest()

    assert one() == one() == one(timeout=3)
    assert len({one(), one(args=["z"]), one(env={"A": "1"}), one(env={"A": "2"})}) == 4
