"""A request that is refused for images, tools or a system text goes out once more without them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import ProviderError, RequestRejected
from jan_magics.domain.messages import FilePart, TextPart
from jan_magics.domain.models import ChatRequest, ModelRef, ToolSpec, parse_model
from jan_magics.engine.narrowing import Objections
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Reply
from jan_magics.providers.access import Access
from jan_magics.providers.learned import Learned
from jan_magics.providers.openai import OpenAIProvider
from jan_magics.sanitize.cleaner import Cleaner
from tests.engine.threads import Kernel
from tests.providers.asking import asking, message
from tests.providers.loopback import Reply as Served
from tests.providers.loopback import chunked, http, serving
from tests.sanitize.saying import call, result

WORD = b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n'
LAST = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
GOOD = chunked(WORD, LAST)
PICTURE = FilePart("image/png", b"\x89PNG", name="猫.png")
TOOL = ToolSpec("stock", "Look up the stock.", {"type": "object", "properties": {}})
MODEL = ModelRef("test", "model")


def refusal(words: str, status: int = 400) -> Served:
    body = json.dumps({"error": {"message": words}}).encode()
    return http(body, status=status, kind="application/json")


NO_IMAGES = refusal("image input is not supported", 500)
NO_TOOLS = refusal("test:model does not support tools")
NO_SYSTEM = refusal("System role not supported")


async def no_sleep(_: float) -> None:
    return None


def taken(
    request: ChatRequest, *replies: Served, times: int = 1
) -> tuple[list[dict[str, Any]], Reply, Learned]:
    """Let a reply take the answer of a real server in, and return what reached the server."""

    async def go() -> tuple[list[dict[str, Any]], Reply, Learned]:
        learned = Learned()
        async with serving(*replies) as server:
            provider = OpenAIProvider("test", server.address, Access(sleep=no_sleep))
            reply = Reply(lambda _: None, lambda: None)
            try:
                for _ in range(times):
                    reply = Reply(lambda _: None, lambda: None, objections=Objections(learned))
                    await reply.receive(provider, request)
            finally:
                await provider.close()
            return [json.loads(body) for body in server.bodies], reply, learned

    return asyncio.run(go())


def test_images_are_left_out_after_a_refusal_and_not_sent_again() -> None:
    request = asking(message("user", "看这张图", PICTURE))
    bodies, reply, learned = taken(request, NO_IMAGES, GOOD, GOOD, times=2)
    assert "image_url" in json.dumps(bodies[0])
    assert [body["messages"][0]["content"] for body in bodies[1:]] == ["看这张图"] * 2
    assert reply.text() == "one"
    assert learned.lacks(MODEL) == {"images"}
    assert reply.sent
    assert reply.sent.messages[0].parts == (TextPart("看这张图"),)


@pytest.mark.parametrize(
    "words",
    [
        "'messages.0.content' : value must be a string",
        "Input should be a valid string: messages.0.content",
        "invalid message content type: []interface {}",
        "Sorry, this one reads no pictures",
    ],
)
def test_words_that_may_mean_images_earn_one_try_without(words: str) -> None:
    request = asking(message("user", "看这张图", PICTURE))
    bodies, reply, learned = taken(request, refusal(words, 422), GOOD)
    assert [body["messages"][0]["content"] for body in bodies[1:]] == ["看这张图"]
    assert reply.objections.told() == ("test:model takes no images: they were left out",)
    assert learned.lacks(MODEL) == {"images"}


def test_a_request_that_is_too_large_says_which_file_is() -> None:
    big = FilePart("image/png", bytes(2_100_000), name="熊猫.png")
    with pytest.raises(RequestRejected) as raised:
        taken(asking(message("user", "hi", PICTURE, big)), refusal("Payload too large", 413))
    told = "its files have 2.1 MB, '熊猫.png' alone 2.1 MB"
    assert raised.value.message.endswith(told)
    assert raised.value.next_step.startswith("Attach less")


def test_what_was_only_supposed_is_not_remembered_when_it_did_not_help() -> None:
    learned = Learned()
    objections = Objections(learned)
    request = asking(message("user", "hi", PICTURE))
    refused = RequestRejected("test refuses the request (400): bad content", status=400)
    refused.sends = 3
    assert PICTURE not in objections.less(request, refused).messages[0].parts
    assert learned.lacks(MODEL) == frozenset()
    objections.taken()
    assert learned.lacks(MODEL) == {"images"}


@pytest.mark.parametrize(
    ("words", "status"),
    [("image_url must be a valid URL", 400), ("the image is too large", 400), ("content", 500)],
)
def test_an_image_that_is_wrong_is_no_model_without_images(words: str, status: int) -> None:
    request = asking(message("user", "hi", PICTURE))
    with pytest.raises(ProviderError, match=words):
        taken(request, refusal(words, status), GOOD)


def test_the_footer_is_told_once_of_each_refusal() -> None:
    request = asking(message("user", "hi", PICTURE))
    _, reply, _ = taken(request, NO_IMAGES, GOOD)
    assert reply.objections.told() == ("test:model takes no images: they were left out",)
    _, reply, _ = taken(request, NO_IMAGES, GOOD, GOOD, times=2)
    assert reply.objections.told() == ()


def test_tools_are_left_out_after_a_refusal() -> None:
    request = ChatRequest(MODEL, asking("hi").messages, tools=(TOOL,))
    bodies, reply, learned = taken(request, NO_TOOLS, GOOD)
    assert ["tools" in body for body in bodies] == [True, False]
    assert reply.objections.told() == ("test:model takes no tools: none were offered",)
    assert learned.lacks(MODEL) == {"tools"}


def test_a_refused_system_text_moves_into_the_first_question() -> None:
    said = (message("user", "first"), message("assistant", "a"), message("user", "second"))
    request = ChatRequest(MODEL, said, "Be brief. 简短")
    bodies, reply, _ = taken(request, NO_SYSTEM, GOOD, GOOD, times=2)
    assert bodies[0]["messages"][0] == {"role": "system", "content": "Be brief. 简短"}
    for body in bodies[1:]:
        assert [each["role"] for each in body["messages"]] == ["user", "assistant", "user"]
        assert body["messages"][0]["content"] == "Be brief. 简短\n\nfirst"
    assert reply.sent
    assert reply.sent.system == ""


def test_calls_are_told_as_text_where_none_are_taken_without_tools() -> None:
    answer = message("assistant", call("1", '{"part": "螺栓"}', "stock"), result("1", "7", "stock"))
    said = (message("user", "how many?"), answer, message("user", "sure?"))
    refused = refusal("The toolConfig field must be defined when using toolUse blocks")
    bodies, reply, learned = taken(ChatRequest(MODEL, said), refused, GOOD, GOOD, times=2)
    assert "tool_calls" in json.dumps(bodies[0])
    for body in bodies[1:]:
        assert body["messages"][1]["content"] == '[stock({"part": "螺栓"}) returned: 7]'
    assert learned.lacks(MODEL) == {"calls"}
    assert reply.sent
    again = ChatRequest(MODEL, said, tools=(TOOL,))
    bodies, _, _ = taken(again, GOOD)
    assert "tool_calls" in json.dumps(bodies[0])


def test_several_refusals_one_after_the_other() -> None:
    request = ChatRequest(MODEL, (message("user", "hi", PICTURE),), "Be brief.", (TOOL,))
    bodies, reply, learned = taken(request, NO_SYSTEM, NO_IMAGES, NO_TOOLS, GOOD)
    assert bodies[3]["messages"] == [{"role": "user", "content": "Be brief.\n\nhi"}]
    assert learned.lacks(MODEL) == {"images", "tools", "system"}
    assert len(reply.objections.told()) == 3


@pytest.mark.parametrize("reply", [NO_IMAGES, NO_TOOLS, NO_SYSTEM])
def test_what_a_request_does_not_have_is_not_left_out(reply: Served) -> None:
    with pytest.raises(RequestRejected) as raised:
        taken(asking("hi"), reply, GOOD)
    assert raised.value.next_step.endswith("%chat use MODEL")


def test_four_sends_are_the_most_over_all_causes() -> None:
    busy = refusal("busy", 503)
    request = ChatRequest(MODEL, (message("user", "hi", PICTURE),), "Be brief.", (TOOL,))
    with pytest.raises(RequestRejected, match="does not support tools") as raised:
        taken(request, busy, NO_SYSTEM, NO_IMAGES, NO_TOOLS, GOOD)
    assert raised.value.sends == 0


def test_a_refusal_is_known_to_the_next_turn_of_a_thread(tmp_path: Path) -> None:
    def stock(part: str) -> str:
        """Look up the stock of a part."""
        return part

    async def go() -> tuple[list[Outcome], list[bytes]]:
        async with serving(NO_TOOLS, GOOD, GOOD, listed=False) as server:
            model = f"{server.address}#m"
            kernel = Kernel(tmp_path, settings={"model": model, "tokenizer": "estimate"})
            kernel.provider = OpenAIProvider("custom", server.address)
            asked = [kernel.asking(text, tools=(stock,)) for text in ("一", "二")]
            found = [await kernel.session.send(each, lambda _: None) for each in asked]
            assert kernel.session.engine.learned.lacks(parse_model(model)) == {"tools"}
            await kernel.session.engine.close()
            await kernel.provider.close()
            return found, server.bodies

    outcomes, bodies = asyncio.run(go())
    assert [b"stock" in body for body in bodies] == [True, False, False]
    for outcome in outcomes:
        assert [line for line in outcome.lines if "takes no tools: none were offered" in line]
    assert outcomes[1].turn.plan
    assert outcomes[1].turn.plan.terms.tools == ()


def test_a_server_that_says_its_model_takes_no_tools_is_named_before_it_ignores_them(
    tmp_path: Path,
) -> None:
    def stock(part: str) -> str:
        """Look up the stock of a part."""
        return part

    rows = [{"id": "m", "capabilities": {"function_calling": False, "vision": False}}]
    listed = http(json.dumps({"data": rows}).encode(), kind="application/json")

    async def go() -> tuple[Outcome, list[bytes]]:
        async with serving(listed, GOOD) as server:
            settings: dict[str, object] = {"model": f"{server.address}#m", "tokenizer": "estimate"}
            kernel = Kernel(tmp_path, settings=settings)
            kernel.provider = OpenAIProvider("custom", server.address)
            found = await kernel.session.send(kernel.asking("hi", tools=(stock,)), lambda _: None)
            await kernel.session.engine.close()
            return found, server.bodies

    outcome, bodies = asyncio.run(go())
    unseen = "may never call a tool: its server says that it takes none"
    assert any(line.endswith(unseen) for line in outcome.lines)
    assert b"stock" in bodies[1]  # it may be wrong
    assert outcome.turn.plan
    cleaner = outcome.turn.plan.terms.clean
    assert isinstance(cleaner, Cleaner)
    assert (cleaner.profile.images, cleaner.profile.tools) == (False, None)
