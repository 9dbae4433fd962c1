"""What Jan's transport does with providers, parameters and streams, and what ours does."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.errors import ProviderError, ServerFailed
from jan_magics.domain.events import TextDelta
from jan_magics.domain.messages import Message, ReasoningPart, Role, TextPart
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef, parse_model
from jan_magics.engine.continuing import Continued
from jan_magics.providers.catalog import CATALOG, Entry
from jan_magics.providers.connect import connect
from jan_magics.providers.dialects import CUSTOM, HOSTED, LLAMA, MISTRAL, Dialect
from jan_magics.providers.hosts import read_host, wire_of
from jan_magics.providers.keys import KeyChain
from jan_magics.providers.local import LocalProvider
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.openai_wire import encode
from jan_magics.providers.params import resending, settle
from jan_magics.providers.sse import SseDecoder
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas
from tests.providers.asking import collect
from tests.providers.doubles import pretending
from tests.providers.loopback import http, serving

THEN: Final = datetime(2026, 1, 1, tzinfo=UTC)
GOOD: Final = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'


def entry_of(provider: str, api_type: str | None = None) -> Entry:
    """Return how a provider is spoken with, as a user's config names it."""
    name = provider.lower()
    known = CATALOG.get(name)
    if known and (api_type is None or api_type == known.wire):
        return known
    table = {"address": "https://host.example/v1", "api_type": api_type or "openai"}
    return read_host(name, table, "config.toml").entry


# ----------------------------------------------------------------------------------- providers


def run_api_type(given: Any) -> object:
    provider = given["provider"]
    return wire_of(provider["provider"], provider.get("api_type"))


def run_dispatch(given: Any) -> object:
    ref = parse_model(f"{given['provider']}:m")
    entry = entry_of(ref.provider, given.get("api_type"))
    if entry.local:
        return f"local_{entry.name}"
    if entry.wire != "openai":
        return f"{entry.wire}_sdk"
    return "mistral_sdk" if entry.dialect == MISTRAL else "openai_compatible_with_params"


def run_predefined(given: Any) -> object:
    entry = CATALOG.get(given["provider"])
    return bool(entry and not entry.local)


def run_rejected(given: Any) -> object:
    dialect = entry_of(given["provider"]).dialect
    settled = settle(ChatOptions(parameters={given["param"]: 1}), dialect, given["model"])
    return any(left.name == given["param"] for left in settled.left_out)


def run_exclusion(given: Any) -> object:
    entry = entry_of(given["provider"], given["api_type"])
    settled = settle(ChatOptions(parameters=given["params"]), entry.dialect, "m")
    return [left.name for left in settled.left_out]


def run_keys(given: Any) -> object:
    told = given["provider"]
    entry = {"address": "https://host.example/v1", "key_env": "HOST_KEY"}
    host = read_host("mine", {**entry, "keys": told["api_key_fallbacks"]}, "config.toml")
    chain = KeyChain({"HOST_KEY": told.get("api_key", "")}, keyring=False)
    provider = connect(ModelRef("mine", "m"), keys=chain, host=host)
    assert isinstance(provider, OpenAIProvider)
    keys = provider._access.keys
    found = [keys.current, *(key for _, key in keys.after_current())]
    return [key.reveal(key.origin) for key in found if key]


def run_thoughts(given: Any) -> object:
    # A template's arguments are what its user writes, here as the defaults of the model.
    known = {model["id"]: model["template_kwargs"] for model in given["provider"]["models"]}
    listed = known.get(given["model_id"], ())
    arguments = {argument["name"]: argument["default"] for argument in listed}
    options = ChatOptions(parameters={"chat_template_kwargs": arguments})
    return resending(options, LLAMA, given["model_id"]) is not None


# --------------------------------------------------------------------------------------- wire


def request_of(body: Any, **options: Any) -> ChatRequest:
    messages = tuple(message_of(row) for row in body.get("messages", ()))
    return ChatRequest(ModelRef("test", body["model"]), messages, options=ChatOptions(**options))


def message_of(row: Any) -> Message:
    role: Role = row["role"]
    content = row.get("content") or ""
    said = content if isinstance(content, list) else [{"type": "text", "text": content}]
    thought = [
        ReasoningPart(row[name]) for name in ("reasoning_content", "reasoning") if name in row
    ]
    parts = [(ReasoningPart if p["type"] == "reasoning" else TextPart)(p["text"]) for p in said]
    return Message("m", "t", role, (*thought, *parts), THEN)


def sent(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    return encode(request, replace(dialect, usage=False))


def run_body(given: Any) -> object:
    dialect = LLAMA if given["local_llamacpp"] else HOSTED
    limit = given["body"].get("max_tokens")
    return sent(request_of(given["body"], max_tokens=limit, parameters=given["params"]), dialect)


def run_sentinels(given: Any) -> object:
    body = {"model": "m", **given["body"]}
    return {"messages": sent(request_of(body), CUSTOM)["messages"]}


def run_strip(given: Any) -> object:
    body = sent(request_of(given["body"]), HOSTED)
    return {name: body[name] for name in given["body"]}


def run_template(given: Any) -> object:
    level, kwargs = given["reasoning"], given["user_kwargs"]
    think = {"on": True, "off": False}.get(level)
    parameters = {"chat_template_kwargs": kwargs} if kwargs else {}
    request = request_of({"model": "m"}, think=think, parameters=parameters)
    found = sent(request, entry_of(given["provider"]).dialect)
    return {name: value for name, value in found.items() if name == "chat_template_kwargs"}


def run_retry(given: Any) -> object:
    async def go() -> tuple[list[Any], int]:
        words = json.dumps({"error": {"message": given.get("first_error", "boom")}}).encode()
        refused = http(words, status=given["first_status"], kind="application/json")
        async with serving(refused, http(GOOD)) as server:
            plain = replace(CUSTOM, usage=False)
            provider = OpenAIProvider("test", server.address, dialect=plain)
            body = given.get("body") or {"model": "m"}
            status = 200
            try:
                await collect(provider, request_of(body, parameters=given["params"]))
            except ProviderError as error:
                status = error.status or 0
            await provider.close()
            return [json.loads(each) for each in server.bodies], status

    bodies, status = asyncio.run(go())
    if "body" in given:
        return {"bodies_sent": bodies, "final_status": status}
    return {"calls": len(bodies), "final_status": status}


def run_crash(given: Any) -> object:
    assert (given["status"], given["body"]) == (500, "")  # as the double answers

    async def go(folder: Path) -> tuple[ServerFailed, int]:
        server, starts = pretending(folder, "wordless")
        provider = LocalProvider(server, own=True)
        try:
            with pytest.raises(ServerFailed) as raised:
                await collect(provider, request_of({"model": "tiny.Q4"}))
        finally:
            await provider.close()
        return raised.value, len(starts.read_text().split())

    with TemporaryDirectory() as folder:
        error, starts = asyncio.run(go(Path(folder)))
    named = {ServerFailed: "llamacpp_server_error"}
    return {
        "reload_called": starts - 1,
        "status": error.status,
        "error_type": named[type(error)],
        "message": {"$nonempty": bool(error.message)},
    }


def run_sse(given: Any) -> object:
    decoder = SseDecoder()
    found = [each for chunk in given["chunks"] for each in decoder.feed(chunk.encode())]
    return [each.decode() for each in (*found, *decoder.close())]


def run_continuation(given: Any) -> object:
    folding = Continued(before=(TextPart(given["prefix"].get("text", "")),))
    for chunk in given["chunks"]:
        if chunk["type"] == "text-delta":
            folding.add(TextDelta(chunk["delta"]))
    return folding.text()


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "provider.api_type": run_api_type,
        "provider.dispatch": run_dispatch,
        "provider.is_predefined_remote": run_predefined,
        "provider.model_level_rejected": run_rejected,
        "provider.mutual_exclusion": run_exclusion,
        "provider.key_chain": run_keys,
        "provider.preserves_reasoning": run_thoughts,
        "sanitize.llamacpp_reasoning_params": run_template,
        "wire.build_body": run_body,
        "wire.decode_sentinels": run_sentinels,
        "wire.strip_reasoning": run_strip,
        "wire.sampling_retry": run_retry,
        "wire.local_500": run_crash,
        "wire.sse_filter": run_sse,
        "stream.prepend_continuation": run_continuation,
    }
)

_BODY: Final = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
_LLAMA: Final = {**_BODY, "cache_prompt": True, "return_progress": True}
_QUIET: Final = "timings for each token triple a stream, and its last chunk tells them too"
_PLAIN: Final = "text is text: audio and video have parts of their own, and no text becomes one"
_FRAMES: Final = "named events are read too: an error may come in one, and others say nothing"
OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "provider.dispatch/openai": Ours("openai_compatible_with_params", "we speak the chat wire"),
        "provider.is_predefined_remote/deepseek": Ours(True, "the whole catalogue is known"),
        "provider.is_predefined_remote/moonshot": Ours(True, "the whole catalogue is known"),
        "wire.build_body/llamacpp_extras": Ours({**_LLAMA, "temperature": 0.5}, _QUIET),
        "wire.build_body/empty_samplers_dropped": Ours(_LLAMA, _QUIET),
        "wire.build_body/remote_zero_unchanged": Ours(_BODY, "max_tokens 0 is no limit anywhere"),
        "wire.decode_sentinels/malformed_audio_sentinel": Ours(
            {"messages": [{"role": "user", "content": "x\0__JAN_AUDIO__\x01flac\x01AA\0"}]}, _PLAIN
        ),
        "wire.decode_sentinels/string_content": Ours(
            {"messages": [{"role": "user", "content": "hi\0__JAN_AUDIO__\x01wav\x01QUJD\0bye"}]},
            _PLAIN,
        ),
        "wire.decode_sentinels/video_after_audio": Ours(
            {"messages": [{"role": "user", "content":
                           "a\0__JAN_AUDIO__\x01wav\x01QUJD\0 __JAN_VIDEO__QUJD z"}]},
            _PLAIN,
        ),
        "wire.sse_filter/crlf": Ours(["1", "2"], _FRAMES),
        "wire.sse_filter/empty_event_is_default": Ours(["1"], "we read payloads, not frames"),
        "wire.sse_filter/named_dropped": Ours(["{}", '{"a":1}'], _FRAMES),
        "wire.sse_filter/trailing_without_blank": Ours(["9"], "we read payloads, not frames"),
        "stream.prepend_continuation/text": Ours(
            "hello world", "the old text begins the message; it is no piece of the stream"
        ),
        "stream.prepend_continuation/second_block_not_prefixed": Ours(
            "p", "the old text begins the message; it is no piece of the stream"
        ),
        "sanitize.llamacpp_reasoning_params/user_enable_thinking_dropped": Ours(
            {"chat_template_kwargs": {"enable_thinking": True, "keep": 1, "obj": {"x": 1}}},
            "what a user writes out is sent as it is written",
        ),
    }
)  # fmt: skip


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_transport(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
