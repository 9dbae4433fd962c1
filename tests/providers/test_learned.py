"""What a server refuses of a model is remembered, and not sent again."""

import asyncio
from typing import Any

import pytest

from jan_magics.domain.errors import Refused
from jan_magics.domain.events import Finish, LeftOut, TextDelta
from jan_magics.providers.access import Access
from jan_magics.providers.learned import Learned
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.providers.refusals import refused_in
from tests.providers.asking import asking, collect
from tests.providers.loopback import chunked, http, serving

WORD = b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n'
LAST = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
GOOD = chunked(WORD, LAST)
WHOLE = [TextDelta("one"), Finish("stop")]
NO = b'{"error":{"message":"Unsupported parameter: \'%s\'"}}'


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("image input is not supported - hint: you may need to provide the mmproj", "images"),
        ("Invalid content type. image_url is only supported by certain models.", "images"),
        ("No endpoints found that support image input", "images"),
        ("this model is missing data required for image input", "images"),
        ("unknown variant `image_url`, expected `text`", "images"),
        ("This model does not support images.", "images"),
        ("Image input modality is not enabled for models/gemma-3-1b-it", "images"),
        ("At most 0 image(s) may be provided in one request.", "images"),
        ("Unsupported content type: image_url", "images"),
        ("Model is not multimodal", "images"),
        ("model does not have vision capabilities", "images"),
        ("multimodal input is not supported", "images"),
        ("Unrecognized request argument supplied: tools", "tools"),
        ("Tool use has not been enabled, because it is unsupported", "tools"),
        ("Conversation roles must alternate user/assistant/user/assistant/...", "system"),
        ("Requests which include `tool_use` blocks must define tools", "calls"),
        ("The toolConfig field must be defined when using toolUse blocks", "calls"),
        ("Bedrock doesn't support tool calling without `tools=` param specified", "calls"),
        ("registry.ollama.ai/library/gemma:2b does not support tools", "tools"),
        ("No endpoints found that support tool use.", "tools"),
        ("`tool calling` is not supported with this model", "tools"),
        ("Function calling is not enabled for models/gemma-3-27b-it", "tools"),
        ('"auto" tool choice requires --enable-auto-tool-choice to be set', "tools"),
        ("tools param requires --jinja flag", "tools"),
        ("Unsupported parameter: 'tools' is not supported with this model.", "tools"),
        ("Unsupported value: 'messages[0].role' does not support 'system'", "system"),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", "system"),
        ("System role not supported", "system"),
        ("'parallel_tool_calls' is not supported with this model", None),
        ("'tool_choice' is not supported with this model", None),
        ("'temperature' does not support 0.5 with this model", None),
        ("The image could not be decoded", None),
        ("Invalid system prompt", None),
        ("tool_use ids were found without tool_result blocks", None),
        ("", None),
    ],
)
def test_what_a_servers_words_refuse(words: str, refused: Refused | None) -> None:
    assert refused_in(words) == refused


def test_a_refused_parameter_is_remembered_for_its_model() -> None:
    async def go() -> tuple[list[Any], list[Any], list[bytes]]:
        learned = Learned()
        no = http(NO % b"top_k", status=400, kind="application/json")
        async with serving(no, GOOD, GOOD, GOOD) as server:
            provider = OpenAIProvider("test", server.address, Access(learned=learned))
            known: dict[str, Any] = {"parameters": {"top_k": 3, "top_p": 0.5}}
            await collect(provider, asking("hi", **known))
            second = await collect(provider, asking("hi", **known))
            other = await collect(provider, asking("hi", model="test:other", **known))
            await provider.close()
            return second, other, server.bodies

    second, other, bodies = asyncio.run(go())
    assert second == [LeftOut("top_k", "test has refused it before"), *WHOLE]
    assert b'"top_p":0.5' in bodies[2]
    assert b"top_k" not in bodies[2]
    assert other == WHOLE
    assert b'"top_k":3' in bodies[3]


def test_an_alias_of_a_refused_parameter_is_left_out_too() -> None:
    async def go() -> bytes:
        no = http(NO % b"max_tokens", status=400, kind="application/json")
        async with serving(no, GOOD, GOOD) as server:
            provider = OpenAIProvider("test", server.address)
            await collect(provider, asking("hi", max_tokens=5))
            await collect(provider, asking("hi", parameters={"max_output_tokens": 5}))
            await provider.close()
            return server.bodies[2]

    assert b"max_" not in asyncio.run(go())
