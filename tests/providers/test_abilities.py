"""What a model has and lacks, as its server tells; what is not told is unknown."""

import asyncio
import json
import time
from typing import Any

import pytest

from jan_magics.domain.models import ModelInfo
from jan_magics.providers.abilities import in_properties, in_row
from jan_magics.providers.dialects import LLAMA
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_models import read_models
from tests.providers.asking import ASKED
from tests.providers.loopback import http, serving

PROPS: dict[str, Any] = {
    "modalities": {"vision": False, "audio": True},
    "chat_template_caps": {"supports_tools": False, "supports_system_role": True, "other": 3},
}


def listing(*rows: Any) -> bytes:
    return json.dumps({"data": rows}).encode()


@pytest.mark.parametrize(
    ("row", "has", "lacks"),
    [
        ({"capabilities": ["tool_use", "completion"]}, {"tools"}, set[str]()),
        ({"capabilities": {"function_calling": True, "vision": False}}, {"tools"}, {"vision"}),
        ({"supported_parameters": ["tools", "temperature", "reasoning"]}, {"tools", "reasoning"},
         set[str]()),
        ({"architecture": {"input_modalities": ["text", "image"]}}, {"vision"},
         {"audio", "video"}),
        ({"type": "vlm"}, {"vision"}, set[str]()),
        ({"capabilities": 3, "architecture": [], "supported_parameters": [1]}, set[str](),
         set[str]()),
        ({}, set[str](), set[str]()),
    ],
)  # fmt: skip
def test_rows(row: dict[str, Any], has: set[str], lacks: set[str]) -> None:
    found = in_row(row)
    assert (set(found.has), set(found.lacks)) == (has, lacks)
    assert {*found.has.values(), *found.lacks.values()} <= {"probed"}


def test_properties() -> None:
    found = in_properties(PROPS)
    assert (set(found.has), set(found.lacks)) == ({"audio"}, {"vision", "tools"})
    no_system = in_properties({"chat_template_caps": {"supports_system_role": False}})
    assert set(no_system.lacks) == {"system"}
    assert in_properties({"modalities": 3, "chat_template_caps": []}) == in_properties({})


def test_what_a_server_tells_goes_before_what_is_declared() -> None:
    body = json.dumps(PROPS).encode()
    (info,) = read_models(listing({"id": "llama-4-scout"}), ASKED, properties=body)
    assert info.capabilities == {"audio": "probed"}
    assert info.lacks == {"tools": "probed", "vision": "probed"}
    (plain,) = read_models(listing({"id": "llama-4-scout"}), ASKED)
    assert plain.capabilities == {"tools": "declared", "vision": "declared"}
    several = read_models(listing({"id": "a"}, {"id": "b"}), ASKED, properties=body)
    assert [each.lacks for each in several] == [{}, {}]


def test_the_properties_are_asked_for_with_the_list() -> None:
    both = json.dumps({"data": [{"id": "m"}], **PROPS}).encode()

    async def go() -> list[ModelInfo]:
        async with serving(http(both, kind="application/json")) as server:
            provider = OpenAIProvider("llamacpp", server.address, dialect=LLAMA)
            found = list(await provider.models())
            await provider.close()
            return found

    (info,) = asyncio.run(go())
    assert info.lacks == {"tools": "probed", "vision": "probed"}


def test_properties_that_do_not_come_in_time_are_unknown() -> None:
    async def go() -> tuple[list[ModelInfo], float]:
        # Whoever asks for anything but the list gets no answer at all.
        async def connected(reader: Any, writer: Any) -> None:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if "/v1/models" in head:
                body = listing({"id": "m"})
                writer.write(b"HTTP/1.1 200 X\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await reader.read()
            writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        provider = OpenAIProvider("llamacpp", address, dialect=LLAMA)
        begun = time.perf_counter()
        found = list(await provider.models())
        took = time.perf_counter() - begun
        await provider.close()
        server.close()
        await asyncio.sleep(0.05)  # until the other side of each connection is closed too
        return found, took

    (info,), took = asyncio.run(go())
    assert (info.ref.name, info.lacks) == ("m", {})
    assert took < 1
