"""Where a key is found, and that it is shown nowhere."""

import copy
import os
import pickle
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.keys import (
    Key,
    KeyChain,
    is_loopback,
    list_keys,
    origin_of,
    store_key,
)

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing
OPENAI = "https://api.openai.com/v1"
ENVIRONMENT = {"OPENAI_API_KEY": SECRET}


def chain(folder: Path | None = None, environment: Mapping[str, str] = ENVIRONMENT) -> KeyChain:
    return KeyChain(environment, folder, keyring=False)


def key() -> Key:
    return Key(SECRET, source="environment OPENAI_API_KEY", origin="https://api.openai.com")


# ---------------------------------------------------------------------------------- secrecy


def test_a_key_is_never_shown() -> None:
    shown = f"{key()} {key()!r} {[key()]} {KeyChain(ENVIRONMENT)!r}"
    assert SECRET not in shown
    assert "environment OPENAI_API_KEY" in shown


def test_a_key_is_not_in_a_traceback_with_its_variables() -> None:
    def use(held: Key, chained: KeyChain) -> None:
        raise ValueError(held, chained)

    with pytest.raises(ValueError, match="Key") as raised:
        use(key(), KeyChain(ENVIRONMENT))
    shown = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    assert "chained" in "".join(shown.format())
    assert SECRET not in "".join(shown.format())


@pytest.mark.parametrize("dump", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_key_is_not_pickled_or_copied(dump: object) -> None:
    assert callable(dump)
    with pytest.raises(TypeError, match="never pickled"):
        dump(key())


def test_a_key_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        key().origin = "https://evil.example"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del key().source
    assert not hasattr(key(), "__dict__")


def test_a_key_is_revealed_to_its_origin_only() -> None:
    assert key().reveal("https://api.openai.com") == SECRET
    for other in (
        "http://api.openai.com",
        "https://api.openai.com:444",
        "https://evil.example",
        "",
    ):
        with pytest.raises(KeyRefused, match="belongs to") as raised:
            key().reveal(other)
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize("value", ["", "  ", "two words", "line\nbreak", "schlüssel", "nul\0"])
def test_impossible_keys_are_refused_without_repeating_them(value: str) -> None:
    with pytest.raises(KeyRefused, match="from a test") as raised:
        Key(value, source="a test")
    assert value.strip() == "" or value not in str(raised.value)


# ---------------------------------------------------------------------------------- origins


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("HTTPS://API.OpenAI.com:443/v1", "https://api.openai.com"),
        ("http://127.0.0.1:1337/v1", "http://127.0.0.1:1337"),
        ("http://[::1]:8080/v1", "http://[::1]:8080"),
        ("http://host", "http://host"),
    ],
)
def test_origins(address: str, origin: str) -> None:
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    "address",
    ["", "ftp://host", "https://", "host/v1", "https://user:pw@host/v1", "https://host:99999/v1",
     "https://[::1/v1", "https://sk-key@host"],
)  # fmt: skip
def test_no_origin(address: str) -> None:
    with pytest.raises(SettingError) as raised:
        origin_of(address)
    assert "pw" not in str(raised.value)
    assert "sk-key" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "home"),
    [
        ("http://localhost:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]", True),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost.evil.example", False),
        ("http://10.0.0.1", False),
        ("http://0.0.0.0", False),
    ],
)
def test_loopback(address: str, home: bool) -> None:
    assert is_loopback(address) is home


# ------------------------------------------------------------------------------------ chain


def first_key(keys: KeyChain, provider: str, address: str) -> Key | None:
    return next(keys.keys_for(provider, address), None)


def test_an_environment_key_goes_to_the_catalogued_origin_only() -> None:
    found = first_key(chain(), "openai", OPENAI)
    assert found
    assert found.source == "environment OPENAI_API_KEY"
    assert found.reveal("https://api.openai.com") == SECRET
    assert first_key(chain(), "openai", "https://proxy.example/v1") is None
    assert first_key(chain(), "openai", "http://api.openai.com/v1") is None
    assert first_key(chain(), "custom", OPENAI) is None
    assert first_key(chain(), "groq", CATALOG["groq"].address) is None


def test_a_custom_host_gets_only_a_key_stored_for_it(tmp_path: Path) -> None:
    store_key("https://host.example:8443/v1", "host-key", tmp_path)
    store_key("openai", "openai-key", tmp_path)
    found = first_key(chain(tmp_path), "custom", "https://host.example:8443/other/v1")
    assert found
    assert found.reveal("https://host.example:8443") == "host-key"
    for other in ("https://host.example/v1", "http://host.example:8443/v1", "https://x.example"):
        assert first_key(chain(tmp_path), "custom", other) is None


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    store_key("openai", "stored", tmp_path)
    first = first_key(chain(tmp_path), "openai", OPENAI)
    second = first_key(chain(tmp_path, {"OPENAI_API_KEY": "  "}), "openai", OPENAI)
    assert first
    assert second
    assert (first.source, second.source) == ("environment OPENAI_API_KEY", "keys.toml")


class Vault(ModuleType):
    """Stands for the keyring package."""

    def __init__(self, answer: str | Exception) -> None:
        super().__init__("keyring")
        self.answer = answer

    def get_password(self, service: str, name: str) -> str | None:
        assert service == "jan-magics"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if name == "openai" else None


def install(monkeypatch: pytest.MonkeyPatch, answer: str | Exception) -> None:
    errors = ModuleType("keyring.errors")
    errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined] # a double
    monkeypatch.setitem(sys.modules, "keyring", Vault(answer))
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


def test_the_keyring_comes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, "from-keyring")
    store_key("openai", "stored", tmp_path)
    found = first_key(KeyChain({}, tmp_path), "openai", OPENAI)
    assert found
    assert (found.source, found.reveal(found.origin)) == ("keyring", "from-keyring")


@pytest.mark.parametrize("error", [RuntimeError("no backend"), OSError("no bus"), ValueError("?")])
def test_a_broken_keyring_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    install(monkeypatch, error)
    store_key("openai", "stored", tmp_path)
    found = first_key(KeyChain({}, tmp_path), "openai", OPENAI)
    assert found
    assert found.source == "keys.toml"


def test_no_keyring_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert first_key(KeyChain({}), "openai", OPENAI) is None


# ------------------------------------------------------------------------------------- file


def test_a_stored_key_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "config"
    path = store_key("openai", SECRET, folder)
    store_key("groq", "other", folder)
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in folder.iterdir()] == ["keys.toml"]
    assert list_keys(chain(folder, {})) == {"openai": ("keys.toml",), "groq": ("keys.toml",)}


@pytest.mark.skipif(os.name != "posix", reason="modes exist on POSIX only")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o620])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    store_key("openai", SECRET, tmp_path).chmod(mode)
    for use in (
        lambda: first_key(chain(tmp_path, {}), "openai", OPENAI),
        lambda: store_key("groq", "x", tmp_path),
        lambda: list_keys(chain(tmp_path)),
    ):
        with pytest.raises(KeyRefused, match="other users") as raised:
            use()
        assert "chmod 600" in raised.value.next_step


@pytest.mark.parametrize("content", ["keys = 3", "[keys]\nopenai = 3", "", "[other]\nx = 1"])
def test_a_file_without_keys(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(content)
    path.chmod(0o600)
    assert first_key(chain(tmp_path, {}), "openai", OPENAI) is None


@pytest.mark.parametrize("content", [f"[keys\nopenai = {SECRET}", "\x00"])
def test_a_damaged_file_is_named_and_not_quoted(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(SettingError, match=r"keys\.toml cannot be read") as raised:
        first_key(chain(tmp_path, {}), "openai", OPENAI)
    assert SECRET not in "".join(traceback.format_exception(raised.value))


def test_an_unknown_name_or_one_without_a_server_is_refused(tmp_path: Path) -> None:
    for name in ("opnai", "offline", "ftp://x"):
        with pytest.raises(SettingError):
            store_key(name, "x", tmp_path)
    assert not (tmp_path / "keys.toml").exists()


def test_odd_characters_survive(tmp_path: Path) -> None:
    odd = 'a"b\\c#d=e'
    store_key("openai", odd, tmp_path)
    found = first_key(chain(tmp_path, {}), "openai", OPENAI)
    assert found
    assert found.reveal(found.origin) == odd


def test_list_of_sources(tmp_path: Path) -> None:
    store_key("openai", "x", tmp_path)
    store_key("https://host.example/v1", "y", tmp_path)
    assert list_keys(chain(tmp_path)) == {
        "openai": ("environment OPENAI_API_KEY", "keys.toml"),
        "https://host.example": ("keys.toml",),
    }
    assert list_keys(chain(None, {})) == {}


def test_importing_keys_and_catalogue_does_not_import_httpx() -> None:
    import subprocess

    code = (
        "import sys, jan_magics.providers.keys, jan_magics.providers.catalog;"
        "assert not {'httpx', 'keyring', 'asyncio'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
