"""The model that needs no network: it echoes or quotes."""

import asyncio
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.domain.errors import ModelNotFound, ProviderError, RateLimited, SettingError
from jan_magics.domain.events import Finish, StreamEvent, TextDelta, ToolCallDelta
from jan_magics.domain.models import Usage
from jan_magics.domain.retrieval import Chunk, Hit
from jan_magics.providers.offline import Behaviour, OfflineProvider
from jan_magics.providers.quoting import pieces, quote, sentences
from jan_magics.rag.blocks import blocks
from tests.providers.asking import asking, collect, message

NOTES = "The invoice is due on Friday. Tea is served at four. Dr. Novak pays every invoice late."


def answer(*, seed: int | None = None, model: str = "offline:quote", **options: object) -> str:
    request = asking("When is the invoice due?", model=model, system=NOTES, seed=seed, **options)
    events = asyncio.run(collect(OfflineProvider(), request))
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_it_quotes_what_fits() -> None:
    assert answer() == answer(seed=0) == "“The invoice is due on Friday.”"


def test_another_seed_is_another_answer() -> None:
    assert len({answer(seed=seed) for seed in range(3)}) == 3


def test_earlier_messages_and_the_prompts_own_text_are_quoted() -> None:
    earlier = message("assistant", "Ada keeps the key under the mat.")
    request = asking("hi", earlier, "Where is the key?", model="offline:quote")
    assert said(request_events(request)) == "“Ada keeps the key under the mat.”"
    prompt = "Whales are mammals. Ants have six legs. How many legs have ants?"
    assert quote(prompt, (prompt,)) == "“Ants have six legs.”"


@pytest.mark.parametrize(
    ("question", "source", "found"),
    [
        ("过拟合是什么？", "正则化可以减少过拟合。今天天气很好。", "正则化可以减少过拟合。"),
        ("東京の天気は？", "東京は日本の首都です。明日の天気は雨です。", "明日の天気は雨です。"),
    ],
)
def test_chinese_and_japanese(question: str, source: str, found: str) -> None:
    assert found in quote(question, (source,))


def test_what_was_retrieved_is_cited_by_its_number() -> None:
    given = blocks((hit("Boats float."), hit("熊猫吃竹子。\nFoxes hunt mice.")))
    assert quote(f"{given}\n\nWhat do foxes hunt?", (given,)) == "“Foxes hunt mice.” [2]"
    assert quote(f"{given}\n\n熊猫吃什么？", (given,)) == "“熊猫吃竹子。” [2]"
    assert quote(f"{given}\n\nfoxes", (given, "I like foxes.")).startswith("“Foxes hunt mice.” [2]")
    assert "no model is answering" in quote(f"{given}\n\nnumbered pieces?", (given,))


def hit(text: str) -> Hit:
    return Hit(Chunk("0", "1", 0, 0, len(text), 3), "numbered.md", text, 1, 1.0, "cosine")


def test_without_a_match_it_says_that_no_model_answers() -> None:
    text = quote("What is love? Tell me.", ("Tea is served at four.",))
    assert text.startswith("“What is love?”")
    assert "no model is answering" in text
    assert "No model is answering" in quote("", ("x",))


def request_events(request: object) -> list[StreamEvent]:
    return asyncio.run(collect(OfflineProvider(), request))  # type: ignore[arg-type]  # a request


def said(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@given(st.text(max_size=80))
def test_echo_is_verbatim(text: str) -> None:
    events = request_events(asking(text, model="offline:echo"))
    assert said(events) == text
    assert "".join(pieces(text)) == text


@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=3), st.integers(0, 9))
def test_a_quote_is_always_something_and_always_the_same(
    prompt: str, sources: list[str], seed: int
) -> None:
    assert quote(prompt, sources, seed=seed) == quote(prompt, sources, seed=seed) != ""
    assert all(sentence in prompt for sentence in sentences(prompt))


def test_usage_and_limit() -> None:
    events = request_events(asking("one two three", model="offline:echo", max_tokens=2))
    assert said(events) == "one two"
    assert isinstance(events[-1], Finish)
    assert events[-1].reason == "length"
    assert events[-1].usage == Usage(input=3, output=2, cached=0)


@pytest.mark.parametrize("way", ["behaviour", "parameters"])
def test_pace_and_delay(way: str) -> None:
    made = Behaviour(pace=0.05, delay=0.1) if way == "behaviour" else None
    parameters = {"pace": "0.05", "delay": 0.1} if way == "parameters" else {}

    async def go() -> list[float]:
        times = [time.monotonic()]
        request = asking("a b c", model="offline:echo", parameters=parameters)
        stream = OfflineProvider(made).stream(request)
        return times + [time.monotonic() async for _ in stream]

    gaps = [after - before for before, after in pairwise(asyncio.run(go()))]
    assert gaps[0] >= 0.09
    assert all(0.04 < gap < 0.5 for gap in gaps[1:3])


@pytest.mark.parametrize(("when", "words"), [("before", 0), ("in", 2), ("after", 3)])
def test_failures_by_parameter(when: str, words: int) -> None:
    async def go() -> list[StreamEvent]:
        stream = OfflineProvider().stream(
            asking("a b c", model="offline:echo", parameters={"fail": when})
        )
        events = [await anext(stream) for _ in range(words)]
        with pytest.raises(ProviderError, match=f"fails {when} the stream"):
            await anext(stream)
        return events

    assert len(asyncio.run(go())) == words


def test_a_failure_of_choice() -> None:
    error = RateLimited("slow", "wait", retry_after=2.0)
    provider = OfflineProvider(Behaviour(fail="before", error=error))
    with pytest.raises(RateLimited) as raised:
        asyncio.run(collect(provider, asking("a", model="offline:echo")))
    assert raised.value.retry_after == 2.0


@pytest.mark.parametrize("parameters", [{"fail": "never"}, {"pace": "x"}, {"pace": -1},
                                        {"delay": []}, {"delay": "nan"}])  # fmt: skip
def test_parameters_that_cannot_be_used(parameters: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        request_events(asking("a", model="offline:echo", parameters=parameters))


def test_a_name_it_does_not_have() -> None:
    with pytest.raises(ModelNotFound, match="'gpt'"):
        request_events(asking("a", model="offline:gpt"))


def test_a_script_and_chunks() -> None:
    script = ((ToolCallDelta(0, "1", "f", "{}"), Finish("tools")), (TextDelta("x"),))
    provider = OfflineProvider(Behaviour(script=script, chunk=2))

    async def go() -> list[list[StreamEvent]]:
        return [await collect(provider, asking("a b c", model="offline:echo")) for _ in range(3)]

    first, second, third = asyncio.run(go())
    assert (tuple(first), tuple(second)) == script
    assert third[:2] == [TextDelta("a b"), TextDelta(" c")]


def test_its_models() -> None:
    models = asyncio.run(OfflineProvider().models())
    assert [str(model.ref) for model in models] == ["offline:quote", "offline:echo"]


@pytest.mark.parametrize("name", ["quote", "echo"])
def test_a_begun_answer_is_repeated_and_gone_on_with(name: str) -> None:
    model, question = f"offline:{name}", "Green tea is mild. Black tea is strong. Which is strong?"
    whole = said(request_events(asking(question, model=model)))
    cut = said(request_events(asking(question, model=model, max_tokens=3)))
    begun = message("assistant", cut)
    events = request_events(asking(question, begun, model=model))
    assert events[0] == TextDelta(cut)
    assert said(events) == whole != cut


def test_a_conversation_is_outlined() -> None:
    said = "user: 40 kg of apples. Sold today.\n\nassistant: 好。\n\nuser: 还有 3 个苹果吗？ 好"
    outline = "- “40 kg of apples.”\n- “还有 3 个苹果吗？”"
    assert quote(f"The conversation:\n\n{said}", ()) == outline
    assert quote(f"The conversation:\n\n{outline}", ()) == outline
