"""Servers of the user's own config: how they are read, and how they are spoken with."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import KeyRefused, ProviderError, SettingError
from jan_magics.domain.models import parse_model
from jan_magics.engine.settings import Settings, read_settings
from jan_magics.providers.anthropic import AnthropicProvider
from jan_magics.providers.connect import connect
from jan_magics.providers.failures import Asked, failure
from jan_magics.providers.google import GoogleProvider
from jan_magics.providers.hosts import Host, read_host
from jan_magics.providers.keys import Key, KeyChain
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.openai import OpenAIProvider
from tests.kernel import running_kernel
from tests.providers.asking import asking, collect
from tests.providers.loopback import http, serving
from tests.providers.serving import serving_here
from tests.providers.wires import ANTHROPIC, OLLAMA

SECRET = "sk-lab-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
NO_KEYS = KeyChain(keyring=False)


def host(name: str, **table: Any) -> Host:
    return read_host(name, table, "config.toml")


def opened(name: str, **table: Any) -> Any:
    return connect(parse_model(f"{name}:m"), keys=NO_KEYS, host=host(name, **table))


@pytest.mark.parametrize(
    ("name", "table", "kind"),
    [
        ("lab", {"address": "https://lab.example/v1"}, OpenAIProvider),
        ("lab", {"address": "https://lab.example/v1", "api_type": "anthropic"}, AnthropicProvider),
        ("lab", {"address": "https://lab.example", "api_type": "google"}, GoogleProvider),
        ("lab", {"address": "https://lab.example", "api_type": "ollama"}, OllamaProvider),
        ("anthropic", {"address": "https://lab.example/v1"}, AnthropicProvider),
        ("anthropic", {"address": "https://lab.example/v1", "api_type": "openai"}, OpenAIProvider),
        ("openai", {"address": "https://lab.example/v1", "api_type": "anthropic"},
         AnthropicProvider),
        ("azure", {"address": "https://mine.openai.azure.example/openai/v1"}, OpenAIProvider),
    ],
)  # fmt: skip
def test_the_type_beats_the_name(name: str, table: dict[str, Any], kind: type) -> None:
    provider = opened(name, **table)
    assert (provider.name, provider.address) == (name, table["address"])
    assert type(provider) is kind


def test_a_scheme_in_capitals_is_the_same_scheme() -> None:
    assert opened("lab", address="HTTPS://lab.example/v1").address == "https://lab.example/v1"
    assert str(parse_model("HTTPS://Lab.example/V1/#M")) == "https://Lab.example/V1#M"
    assert parse_model("Http://127.0.0.1:1/v1#m").provider == "custom"


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("https://", "https://HOST/v1#MODEL"),
        ("https://#", "https://HOST/v1#MODEL"),
        ("https://host/v1#", "it: https://host/v1#NAME"),
        ("https://host/v1/", "it: https://host/v1#NAME"),
    ],
)
def test_half_an_address_is_completed(text: str, step: str) -> None:
    with pytest.raises(SettingError) as caught:
        parse_model(text)
    assert caught.value.next_step.endswith(step)


@pytest.mark.parametrize(
    ("name", "closest"),
    [("nope", ""), ("opnai", "'openai'"), ("antropic", "'anthropic'"), ("lama", "'ollama'")],
)
def test_only_a_near_name_is_offered(name: str, closest: str) -> None:
    with pytest.raises(SettingError) as caught:
        connect(parse_model(f"{name}:m"), keys=NO_KEYS)
    assert ("closest" in caught.value.message) == bool(closest)
    assert closest in caught.value.message


def test_a_key_that_is_not_sent_to_a_changed_address_is_told() -> None:
    lab = Asked("openai:m", "openai", "https://lab.example/v1")
    step = failure(401, {}, b"", lab, now=NOW).next_step
    assert "%chat key openai" in step
    assert "OPENAI_API_KEY belongs to https://api.openai.com" in step
    assert '[providers.openai] key_env = "OPENAI_API_KEY"' in step
    assert (
        "belongs"
        not in failure(
            401, {}, b"", replace(lab, key=Key(SECRET, source="keys.toml")), now=NOW
        ).next_step
    )
    own = replace(lab, address="https://api.openai.com/v1")
    assert "belongs" not in failure(401, {}, b"", own, now=NOW).next_step


def test_a_window_and_prices() -> None:
    lab = host("lab", address="https://x.example/v1/", window=9000, prices={"input": 1})
    assert (lab.window, lab.prices, lab.address) == (9000, {"input": 1.0}, "https://x.example/v1")
    assert host("openai", window=9).address == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "has no address"),
        ({"address": "lab.example"}, "is no address of a server"),
        ({"address": 3}, "address of [providers.lab] in config.toml is 3, not text"),
        ({"address": "https://x.example", "api_type": "soap"}, "api_type of"),
        ({"address": "https://x.example", "window": "big"}, "window of"),
        ({"address": "https://x.example", "window": True}, "window of"),
        ({"address": "https://x.example", "prices": {"input": -1}}, "prices of"),
        ({"address": "https://x.example", "prices": {"tea": 1}}, "prices of"),
        ({"address": "https://x.example", "keys": SECRET}, "keys of"),
        ({"address": "https://x.example", "adress": "x"}, "has no 'adress'"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_it_should_be(
    table: dict[str, Any], words: str
) -> None:
    with pytest.raises(SettingError) as raised:
        host("lab", **table)
    assert words in str(raised.value)
    assert raised.value.next_step
    assert SECRET not in str(raised.value)


def test_azure_needs_an_address_of_its_own() -> None:
    with pytest.raises(SettingError, match="an address of their own"):
        connect(parse_model("azure:gpt"), keys=NO_KEYS)


# ------------------------------------------------------------------------------------------ keys


def sent_key(name: str, environment: dict[str, str], **table: Any) -> str:
    """Return the key that a request to a host carries, "" for none."""

    async def go() -> str:
        body = ANTHROPIC.body(*ANTHROPIC.streams["text"])
        async with serving(http(body)) as server:
            told = host(name, address=server.address, api_type="anthropic", **table)
            chain = KeyChain(environment, keyring=False)
            provider = connect(parse_model(f"{name}:m"), keys=chain, host=told)
            await collect(provider, asking("hi"))
            await provider.close()
            return server.heads[0]

    lines = asyncio.run(go()).splitlines()
    return next((line[11:] for line in lines if line.lower().startswith("x-api-key: ")), "")


def test_the_variable_of_the_config_goes_before_its_keys() -> None:
    assert sent_key("lab", {"LAB_KEY": "one"}, key_env="LAB_KEY", keys=["two"]) == "one"
    assert sent_key("lab", {}, key_env="LAB_KEY", keys=["two", "three"]) == "two"
    assert sent_key("lab", {}) == ""


def test_a_usual_key_is_not_sent_to_another_address() -> None:
    assert sent_key("anthropic", {"ANTHROPIC_API_KEY": SECRET}) == ""


def test_keys_are_never_shown() -> None:
    lab = host("lab", address="https://x.example", keys=[SECRET, SECRET])
    assert len(lab.keys) == 1
    assert SECRET not in repr(lab)


def test_a_provider_at_its_own_address_needs_a_key() -> None:
    with pytest.raises(KeyRefused, match="openai needs a key"):
        opened("openai", window=9)


def read(folder: Path, text: str, mode: int) -> Settings:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return read_settings(folder, folder, {})


def test_keys_in_a_file_that_others_can_read_are_not_used(tmp_path: Path) -> None:
    text = f'[providers.lab]\naddress = "https://x.example/v1"\nkeys = ["{SECRET}"]'
    assert len(read(tmp_path, text, 0o600).hosts["lab"].keys) == 1
    settings = read(tmp_path, text, 0o644)
    assert settings.hosts["lab"].keys == ()
    (note,) = settings.notes
    assert "chmod 600" in note
    assert SECRET not in note


# ------------------------------------------------------------------------------------ in a kernel


def test_a_cell_asks_a_host_of_the_config_with_its_window(tmp_path: Path) -> None:
    answer = http(OLLAMA.body(*OLLAMA.streams["text"]), kind=OLLAMA.kind)
    with serving_here(answer) as server, running_kernel(tmp_path) as kernel:
        kernel.ok("import os, pathlib")
        kernel.ok("folder = pathlib.Path(os.environ['JAN_CONFIG_FOLDER'])")
        kernel.ok("folder.mkdir(parents=True, exist_ok=True)")
        table = f'[providers.lab]\naddress = "{server.address}"\napi_type = "ollama"\nwindow = 9000'
        kernel.ok(f"_ = (folder / 'config.toml').write_text({table!r})")
        kernel.ok("%load_ext jan_magics")
        ran = kernel.ok("%%chat lab:m\nhi")
        assert "Das ist schön" in str(ran.displays[-1]["text/plain"])
    asked = [json.loads(each) for each in server.bodies if b'"messages"' in each]
    assert [each["options"]["num_ctx"] for each in asked] == [9000]


@pytest.mark.parametrize(
    ("api_type", "path"),
    [
        ("openai", "/deployments/gpt4/chat/completions?api-version=2024-10-21&code=geheim77"),
        ("google", "streamGenerateContent?alt=sse&api-version=2024-10-21&code=geheim77"),
        ("ollama", "/deployments/gpt4/api/chat?api-version=2024-10-21&code=geheim77"),
    ],
)
def test_what_stands_behind_the_address_goes_with_every_request_and_is_not_shown(
    api_type: str, path: str
) -> None:
    async def go() -> tuple[list[str], str]:
        async with serving(http(b'{"error": "no ?code=geheim77"}', status=500)) as server:
            root = server.address.removesuffix("/v1")
            address = f"{root}/deployments/gpt4/?api-version=2024-10-21&code=geheim77"
            known = host("lab", address=address, api_type=api_type)
            provider: Any = connect(parse_model("lab:m"), keys=NO_KEYS, host=known)
            with pytest.raises(ProviderError) as raised:
                await collect(provider, asking("hi", model="lab:m"))
            await provider.close()
            return server.heads, f"{raised.value} {provider.address} {known} {known.address}"

    heads, shown = asyncio.run(go())
    assert path in heads[-1].splitlines()[0]
    assert "api-version" not in shown
    assert "deployments/gpt4" in shown


def test_an_address_that_is_none_names_its_provider() -> None:
    with pytest.raises(SettingError, match=r"address of \[providers.lab\] in config.toml"):
        host("lab", address="https://127.0.0.1:99999/v1")
