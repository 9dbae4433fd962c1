"""Which MCP servers a file or an address names, as other programs write such files. Starts nothing.

`{"mcpServers": {"weather": {"command": "npx", "args": ["-y", "…"]}, "docs": {"url": "https://…"}}}`
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from jan_magics.domain.errors import SettingError
from jan_magics.domain.parameters import names_a_key
from jan_magics.providers.complaints import redact
from jan_magics.providers.keys import KeyChain, host_of, is_loopback, origin_of

LONGEST_FILE: Final = 1_000_000
"""Bytes of a file that is still read."""
SHORTEST_KEY: Final = 6
"""Characters from which on a value is taken for a secret; shorter ones are words."""
SECONDS: Final = 60.0
"""Seconds that a call may take where the file does not say."""
_MILLISECONDS: Final = 1000
"""From here on a timeout is meant in milliseconds, as some programs write it."""
_TABLES: Final = ("mcpServers", "servers")
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_HTTP: Final = ("http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a command that is started here, or an address.

    `trusted`: its user has typed the address, so nobody is asked before it is used. `folder` is
    where the command runs, `timeout` in seconds. `shown` is what a person says yes to: the command
    as the file has it, without secrets. Values of all the rest may be some.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = SECONDS
    trusted: bool = False
    shown: str = ""

    def cleaned(self, text: str) -> str:
        """Return what a server or a library says without what may be a secret of this server."""
        hidden = (each for each in self.args if each not in self.shown)
        bare = (value.rpartition(" ")[2] for value in self.headers.values())
        for value in (*self.env.values(), *self.headers.values(), *bare, *hidden):
            text = text.replace(value, "[key]") if len(value) >= SHORTEST_KEY else text
        return redact(text, None)

    def digest(self) -> str:
        """Return what is the same exactly when the same is started or asked."""
        told = (self.command, self.args, sorted(self.env.items()), self.folder, self.url)
        return sha256(repr((told, sorted(self.headers.items()))).encode()).hexdigest()


def read_servers(path: Path, environment: Mapping[str, str]) -> tuple[McpServer, ...]:
    """Return the servers of a file, with `${NAME}` filled in.

    Raises:
        SettingError: for a file that cannot be read, and for a server that cannot be started.
    """
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise SettingError(f"{path.name} is too long for a list of servers", _FORM)
        data: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SettingError(f"{str(path)!r} cannot be read: {fault}", _FORM) from fault
    table = next((data[name] for name in _TABLES if _is_table(data, name)), None)
    if not table:
        raise SettingError(f"{path.name} names no server", _FORM)
    wanted = ((name, entry) for name, entry in table.items() if _wanted(entry))
    found = tuple(
        replace(_server(name, _filled(name, entry, environment), path.parent), shown=_shown(entry))
        for name, entry in wanted
    )
    if not found:
        raise SettingError(f"every server of {path.name} is switched off", _FORM)
    return found


def server_at(address: str, taken: Mapping[str, str] = MappingProxyType({})) -> McpServer:
    """Return the server at an address that its user has typed. Raises SettingError.

    `taken` are names that others have, with their addresses: another one gets another name.
    """
    _check_address(address)
    host = host_of(address)
    words = [word for word in host.split(".") if word not in ("www", "mcp", "api", "com", "org")]
    numeric = host.replace(".", "").replace(":", "").isdigit()
    bare = name = _usable(words[0] if words and not numeric else "local")
    number = 1
    while taken.get(name, address) != address:
        name, number = f"{bare}_{number + 1}", number + 1
    return McpServer(name, url=address, trusted=True, shown=bare_address(address))


def with_key(server: McpServer, keys: KeyChain) -> McpServer:
    """Return a server with the key that was stored for its origin, where it names none itself.

    A variable of the environment is never sent: it belongs to a provider of models.

    Raises:
        KeyRefused: when the file of keys is readable by others.
    """
    named = any(name.lower() == "authorization" for name in server.headers)
    if not server.url or named or not (server.url.startswith("https:") or is_loopback(server.url)):
        return server
    key = next(keys.keys_for("", server.url), None)
    if key is None:
        return server
    bearer = {"Authorization": f"Bearer {key.reveal(key.origin)}"}
    return replace(server, headers={**server.headers, **bearer})


def bare_address(address: str) -> str:
    """Return an address without what may be a secret in it: people put keys behind the `?`."""
    parts = urlsplit(address)
    return f"{origin_of(address)}{parts.path}{'?…' if parts.query else ''}"


_FORM: Final = (
    'Write it as other programs do: {"mcpServers": {"NAME": {"command": "…", "args": []}}}'
)


def _is_table(data: Any, name: str) -> bool:
    return isinstance(data, dict) and isinstance(data.get(name), dict) and bool(data[name])


def _wanted(entry: Any) -> bool:
    return not isinstance(entry, dict) or not (
        entry.get("disabled") is True or entry.get("active") is False
    )


def _filled(name: str, entry: Any, environment: Mapping[str, str]) -> Any:
    """Fill variables in, wherever a text stands; one that is not set is a fault."""

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(each) for key, each in value.items()}
        if isinstance(value, list):
            return [fill(each) for each in value]
        return _VARIABLE.sub(put, value) if isinstance(value, str) else value

    def put(match: re.Match[str]) -> str:
        found = environment.get(match[1], match[2])
        if found is None:
            raise SettingError(
                f"MCP server {name!r}: the variable {match[1]!r} is not set",
                f"Set it before the kernel starts, or here: %env {match[1]}=…",
            )
        return found

    return fill(entry)


def _server(name: str, entry: Any, folder: Path) -> McpServer:
    def refuse(what: str, step: str = _FORM) -> SettingError:
        return SettingError(f"MCP server {name!r}: {what}", step)

    if not isinstance(entry, dict):
        raise refuse("it is no table")
    known = _usable(name)
    if not known:
        raise refuse("its name has no letter or digit of ASCII", "Give it another name there.")
    kind, url, command = entry.get("type"), entry.get("url"), entry.get("command")
    seconds = entry.get("timeout", SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise refuse(f"its timeout is {seconds!r}", "It is a number of seconds.")
    seconds = seconds / 1000 if seconds >= _MILLISECONDS else seconds
    if kind == "sse":
        raise refuse("it speaks SSE, which servers have given up", "Name its address of type http.")
    if isinstance(url, str) and url:
        if kind not in (None, *_HTTP):
            raise refuse(f"it is of the type {kind!r}", "Servers here are of type stdio or http.")
        _check_address(url)
        return McpServer(known, url=url, headers=_texts(entry, "headers", refuse), timeout=seconds)
    if not isinstance(command, str) or not command.strip():
        raise refuse("it has neither a command nor a url")
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
        raise refuse(f"its args are no list of texts: {type(args).__name__}")
    cwd = entry.get("cwd")
    where = str(folder / cwd) if isinstance(cwd, str) and cwd else None
    env = _texts(entry, "env", refuse)
    return McpServer(known, command.strip(), tuple(args), env, where, timeout=seconds)


def _texts(entry: Mapping[str, Any], key: str, refuse: Any) -> dict[str, str]:
    found = entry.get(key) or {}
    if not isinstance(found, dict) or not all(isinstance(v, str | int) for v in found.values()):
        raise refuse(f"its {key} are no table of texts")
    return {str(name): str(value) for name, value in found.items()}


def _check_address(address: str) -> None:
    origin_of(address)  # raises for what is no address, and for one with a user name in it


def _usable(name: str) -> str:
    """Return a name as models know it: ASCII letters, digits, `-` and single `_`."""
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_-]+", "_", name)).strip("_")[:32]


def _shown(entry: Mapping[str, Any]) -> str:
    """Return what is started, or who is asked, as the file has it: what is filled in is secret."""
    if entry.get("url"):
        parts = urlsplit(str(entry["url"]))
        where = f"{parts.scheme}://{parts.netloc}{parts.path}{'?…' if parts.query else ''}"
        return f"{where}{_named(' with the headers', entry.get('headers'))}"
    line = shlex.join(_masked((str(entry["command"]), *entry.get("args", ()))))
    where = f" in {entry['cwd']}" if entry.get("cwd") else ""
    return f"{redact(line, None)}{where}{_named(' with the variables', entry.get('env'))}"


def _masked(words: Iterable[str]) -> list[str]:
    """Return a command line in which nothing stands that is called a key."""
    shown: list[str] = []
    hide = False
    for word in words:
        flag, equals, _ = word.partition("=")
        secret = names_a_key(flag.lstrip("-").replace("-", "_"))
        shown.append("[key]" if hide else f"{flag}=[key]" if secret and equals else word)
        hide = secret and not equals and word.startswith("-")
    return shown


def _named(what: str, table: Mapping[str, Any] | None) -> str:
    return f"{what} {', '.join(sorted(table))}" if table else ""
