"""Several keys of one server: where they stand, in which order, and none is asked for early."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jan_magics.domain.errors import KeyRefused
from jan_magics.domain.models import parse_model
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.connect import connect
from jan_magics.providers.hosts import read_host
from jan_magics.providers.key_order import Keys
from jan_magics.providers.keys import Key, KeyChain, list_keys, store_key
from jan_magics.providers.openai import OpenAIProvider

GROQ = CATALOG["groq"].address
ORIGIN = "https://api.groq.com"


def key(text: str) -> Key:
    return Key(text, source=f"place of {text}", origin=ORIGIN)


def texts(keys: Iterator[Key]) -> list[str]:
    return [each.reveal(each.origin) for each in keys]


def written(folder: Path, value: str) -> KeyChain:
    path = folder / "keys.toml"
    path.write_text(f"[keys]\ngroq = {value}\n")
    path.chmod(0o600)
    return KeyChain({}, folder, keyring=False)


def test_a_variable_and_those_numbered_after_it() -> None:
    names = {"GROQ_API_KEY_2": "b", "GROQ_API_KEY": "a", "GROQ_API_KEY_9": "c"}
    chain = KeyChain({**names, "GROQ_API_KEY_10": "d", "GROQ_API_KEY_3": " "}, keyring=False)
    assert texts(chain.keys_for("groq", GROQ)) == ["a", "b", "c"]
    told = [f"environment {name}" for name in sorted(names)]
    assert list_keys(chain) == {"groq": tuple(told)}


def test_several_keys_in_the_file_stand_in_their_order(tmp_path: Path) -> None:
    chain = written(tmp_path, '["a", " ", "b", 3, "a"]')
    assert texts(chain.keys_for("groq", GROQ)) == ["a", "b", "a"]


def test_storing_a_key_leaves_the_further_ones(tmp_path: Path) -> None:
    chain = written(tmp_path, '["a", "b"]')
    store_key("groq", "new", tmp_path)
    store_key("openai", "x", tmp_path)
    assert texts(chain.keys_for("groq", GROQ)) == ["new", "b"]
    store_key("openai", "y", tmp_path)
    assert texts(chain.keys_for("openai", CATALOG["openai"].address)) == ["y"]


def test_the_environment_comes_first_then_the_config_then_what_was_stored(tmp_path: Path) -> None:
    written(tmp_path, '["stored"]')
    chain = KeyChain({"MINE": "one", "MINE_2": "two"}, tmp_path, keyring=False)
    table = {"address": GROQ, "key_env": "MINE", "keys": ["three", "one", " four "]}
    host = read_host("groq", table, "config.toml")
    provider = connect(parse_model("groq:x"), keys=chain, host=host)
    assert isinstance(provider, OpenAIProvider)
    keys = provider._access.keys
    found = [each for each in (keys.current, *(k for _, k in keys.after_current())) if each]
    assert texts(iter(found)) == ["one", "two", "three", "four", "stored"]
    assert [each.source for each in found[1:3]] == ["environment MINE_2", "config.toml"]


def test_a_key_of_the_caller_is_the_only_one() -> None:
    chain = KeyChain({"GROQ_API_KEY": "a"}, keyring=False)
    provider = connect(parse_model("groq:x"), keys=chain, key=key("given"))
    assert isinstance(provider, OpenAIProvider)
    assert list(provider._access.keys.after_current()) == []


def test_a_place_is_looked_into_only_when_the_key_before_was_refused() -> None:
    looked: list[str] = []

    def places() -> Iterator[Key]:
        for text in ("a", "a", "b"):
            looked.append(text)
            yield key(text)

    keys = Keys(places())
    assert looked == ["a"]
    further = keys.after_current()
    assert looked == ["a"]
    number, second = next(further)
    assert (number, second.reveal(ORIGIN)) == (2, "b")
    assert looked == ["a", "a", "b"]


def test_the_order_after_another_key_was_accepted() -> None:
    keys = Keys([key("a"), key("b"), key("c")])
    assert [number for number, _ in keys.after_current()] == [2, 3]
    keys.settle(2)
    assert keys.current
    assert keys.current.reveal(ORIGIN) == "b"
    assert [number for number, _ in keys.after_current()] == [3, 1]


def test_without_a_key() -> None:
    keys = Keys()
    assert keys.current is None
    assert list(keys.after_current()) == []


def test_a_further_key_that_is_none_is_named_by_its_place() -> None:
    chain = KeyChain({"GROQ_API_KEY": "a", "GROQ_API_KEY_2": "b c"}, keyring=False)
    keys = Keys(chain.keys_for("groq", GROQ))
    with pytest.raises(KeyRefused, match="environment GROQ_API_KEY_2"):
        next(keys.after_current())
