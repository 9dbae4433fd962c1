"""A model that is not there: the error names those of its server that are nearly called so."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from jan_magics.api.tables import models_table
from jan_magics.domain.errors import ModelNotFound
from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.choose import FLAG, Choice, Finder
from jan_magics.engine.listing import list_models
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.speaking import nearest_names
from tests.providers.asking import asking, collect
from tests.providers.loopback import http, serving

MISSING = http(b'{"error":{"message":"no such model"}}', status=404, kind="application/json")


def refused(listed: Any, status: int = 200) -> ModelNotFound:
    async def go() -> ModelNotFound:
        body = json.dumps(listed).encode()
        async with serving(MISSING, http(body, status=status, kind="application/json")) as server:
            provider = OpenAIProvider("test", server.address)
            with pytest.raises(ModelNotFound) as raised:
                await collect(provider, asking("hi", model="test:llama3.1"))
            await provider.close()
            return raised.value

    return asyncio.run(go())


def test_the_nearest_names_of_the_server_are_told() -> None:
    rows = [{"id": "llama-3.1:8b"}, {"id": "多语"}, {"id": "gpt-x"}]
    error = refused({"data": rows})
    assert error.next_step == "Nearest there: llama-3.1:8b   then: %chat use test:llama-3.1:8b"


@pytest.mark.parametrize(("listed", "status"), [({"data": [{"id": "多语"}]}, 200), ({}, 500)])
def test_where_none_is_near_or_nobody_tells_the_list_is_named(listed: Any, status: int) -> None:
    assert refused(listed, status).next_step.startswith("List what it has: %chat models")


def test_a_part_of_a_name_is_near() -> None:
    names = ["models/gemini-2.5-pro-preview", "other", "Gemini-2.5-Pro"]
    assert nearest_names("gemini-2.5-pro", names)[0] == "Gemini-2.5-Pro"
    assert "models/gemini-2.5-pro-preview" in nearest_names("gemini-2.5-pro", names)


def test_models_of_configured_providers_are_listed_where_they_answer() -> None:
    async def none() -> tuple[ModelInfo, ...]:
        return ()

    async def ask(name: str) -> Sequence[ModelInfo] | None:
        many = (ModelInfo(ModelRef(name, f"m{n}")) for n in range(45))
        return {"lab": (ModelInfo(ModelRef("lab", "千问"), 9000),), "big": tuple(many)}.get(name)

    hosts = {"lab": "https://lab.example/v1", "away": "https://away.example", "big": "http://b"}
    finder, choice = Finder(none, lambda: None), Choice(ModelRef("offline", "echo"), FLAG)
    rows = asyncio.run(list_models(finder, {}, choice, hosts, asking=ask))
    frame = models_table(rows)
    lab, away, big = (frame[frame["provider"] == name] for name in hosts)
    assert [*lab["model"]] == ["lab:千问"]
    assert [*lab["window"]] == [9000]
    assert lab["reachable"].all()
    assert away[["model", "reachable"]].isna().all(axis=None)
    assert len(big) == 41
    assert big["why"].iloc[-1] == "5 more, only when you name its model"
