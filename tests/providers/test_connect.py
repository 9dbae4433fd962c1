"""From the name of a model to the provider that speaks its wire format."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.models import ModelRef, parse_model
from jan_magics.providers.catalog import CATALOG, Entry
from jan_magics.providers.connect import connect
from jan_magics.providers.discover import Found, discover
from jan_magics.providers.keys import Key, KeyChain, origin_of, store_key
from jan_magics.providers.local import LocalProvider
from jan_magics.providers.offline import OfflineProvider
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.loopback import Reply, http, serving
from tests.providers.recordings import load

NO_KEYS = KeyChain(keyring=False)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("offline:quote", OfflineProvider),
        ("local:x", LocalProvider),
        ("jan:x", OpenAIProvider),
        ("ollama:x", OllamaProvider),
        ("http://127.0.0.1:9/v1#x", OpenAIProvider),
        ("https://host.example/v1#x", OpenAIProvider),
    ],
)
def test_the_right_provider(model: str, kind: type) -> None:
    ref = parse_model(model)
    provider = connect(ref, keys=NO_KEYS)
    assert type(provider) is kind
    assert provider.name == ref.provider


@pytest.mark.parametrize(
    ("model", "continues"),
    [
        ("local:x", True),
        ("llamacpp:x", True),
        ("offline:echo", True),
        ("ollama:x", False),
        ("http://127.0.0.1:8000/v1#x", False),  # as llama-cpp-python, which begins anew
    ],
)
def test_who_goes_on_with_a_begun_answer(model: str, continues: bool) -> None:
    assert connect(parse_model(model), keys=NO_KEYS).continues is continues


def test_a_provider_nobody_knows() -> None:
    with pytest.raises(SettingError, match="closest: 'openai'") as raised:
        connect(parse_model("opnai:x"), keys=NO_KEYS)
    assert "%chat models" in raised.value.next_step


def test_a_key_that_is_missing() -> None:
    with pytest.raises(KeyRefused, match="groq needs a key") as raised:
        connect(parse_model("groq:x"), keys=NO_KEYS)
    assert "%chat key groq" in raised.value.next_step
    assert "GROQ_API_KEY" in raised.value.next_step


def test_a_known_name_at_another_address_gets_no_key_of_the_environment() -> None:
    keys = KeyChain({"OPENAI_API_KEY": "set"}, keyring=False)
    ref = ModelRef("openai", "x", "https://proxy.example/v1")
    provider = connect(ref, keys=keys)
    assert isinstance(provider, OpenAIProvider)
    assert provider.address == "https://proxy.example/v1"
    assert provider._access.keys.current is None


def test_keys_of_the_environment_of_the_file_and_of_the_caller(tmp_path: Path) -> None:
    store_key("mistral", "stored", tmp_path)
    keys = KeyChain({"GROQ_API_KEY": "set"}, tmp_path, keyring=False)
    given = Key("given", source="api_key=")
    assert connect(parse_model("groq:x"), keys=keys).name == "groq"
    assert connect(parse_model("mistral:x"), keys=keys).name == "mistral"
    one = connect(parse_model("xai:x"), keys=keys, key=given)
    assert isinstance(one, OpenAIProvider)
    assert given.origin == ""  # bound by a copy, so that the caller's own fits other servers too
    assert one.address == "https://api.x.ai/v1"


@pytest.mark.parametrize("host", ["10.0.0.7", "gpu.lan"])
def test_an_address_without_encryption(host: str) -> None:
    ref = parse_model(f"http://{host}:8000/v1#x")
    with pytest.raises(SettingError, match="not encrypted") as raised:
        connect(ref, keys=NO_KEYS)
    assert (
        f"config.toml: providers.NAME.address = 'http://{host}:8000/v1'" in raised.value.next_step
    )
    assert connect(ref, keys=NO_KEYS, trusted_hosts=frozenset({host.upper()})).name == "custom"


def test_an_address_with_a_password() -> None:
    with pytest.raises(SettingError, match="user name or key") as raised:
        connect(parse_model("https://me:hidden@host.example/v1#x"), keys=NO_KEYS)
    assert "hidden" not in str(raised.value)


# --------------------------------------------------------------------------------- catalogue


def test_the_catalogue() -> None:
    assert list(CATALOG)[:7] == [
        "jan", "ollama", "lmstudio", "llamacpp", "mlx", "local", "offline",
    ]  # fmt: skip
    for name, entry in CATALOG.items():
        assert entry.name == name
        assert entry.local or entry.key_variable
        assert entry.local or entry.address.startswith("https://") or name == "azure"
        assert not entry.address.endswith("/")
    origins = [origin_of(entry.address) for entry in CATALOG.values() if entry.address]
    assert len(origins) == len(set(origins))
    with pytest.raises(TypeError):
        CATALOG["x"] = CATALOG["jan"]  # type: ignore[index]  # it must not be changed


# ---------------------------------------------------------------------------------- discovery


def entry(name: str, address: str) -> Entry:
    return replace(CATALOG[name], address=address)


def test_discovery_finds_knows_and_does_not_know() -> None:
    async def go() -> tuple[tuple[Found, ...], float]:
        listing = http(load("llama_server-models").body, kind="application/json")
        async with serving(http()) as closed:
            gone = closed.address
        async with (
            serving(listing) as good,
            serving(http(b"{}", status=401)) as locked,
            serving(Reply((), hold=True)) as silent,
            serving(http(b"<html>")) as other,
        ):
            places = (
                entry("llamacpp", good.address),
                entry("jan", locked.address),
                entry("llamacpp", silent.address),
                entry("llamacpp", other.address),
                entry("llamacpp", gone),
            )
            await discover(9.0, servers=places[:1])  # the first use of httpx imports half of it
            begun = time.monotonic()
            found = await discover(2.0, servers=places)
            return found, time.monotonic() - begun

    found, seconds = asyncio.run(go())
    assert [place.reachable for place in found] == [True, True, None, None, False]
    assert [model.ref.name for model in found[0].loaded] == ["SmolLM2-135M-Instruct.Q4_1.gguf"]
    assert found[1].models == ()
    assert seconds < 3.0


def test_discovery_sends_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAN_API_KEY", "do-not-send")

    async def go() -> list[str]:
        async with serving(http(b"{}")) as server:
            await discover(9.0, servers=(entry("jan", server.address),))
            return server.heads

    heads = asyncio.run(go())
    assert {head.split()[1] for head in heads} == {"/v1/models", "/props"}
    head = "".join(heads)
    assert "authorization" not in head.lower()


def test_nothing_runs_here() -> None:
    assert [place.provider for place in asyncio.run(discover(0.5))] == [
        "jan", "ollama", "lmstudio", "llamacpp",
    ]  # fmt: skip
