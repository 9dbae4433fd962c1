"""Answers that cited: their numbers go when a question follows, and are told as a repair."""

from dataclasses import replace
from typing import Any

from jan_magics.domain.messages import Message, ProviderData, TextPart, text_of
from jan_magics.domain.models import ALTERNATING, ModelRef
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.pipeline import Repair, clean
from tests.context.histories import START

SOURCES: list[Any] = [{"n": 1, "source": "a.md"}, {"n": 2, "source": "文.md"}]


def said(identifier: str, role: Any, text: str, *, sources: bool = False) -> Message:
    metadata: dict[str, Any] = {"jan_magics": {"model": "a:b"}}
    if sources:
        metadata["jan_magics"]["sources"] = SOURCES
    return Message(identifier, "t", role, (TextPart(text),), START, metadata=metadata)


ASKED = said("q1", "user", "Why [1]?")
CITED = said("a1", "assistant", "Ice [1]. 冰【2】。", sources=True)
LATER = said("q2", "user", "And [2]?")


def test_numbers_go_when_a_question_follows_and_are_told() -> None:
    done = clean([ASKED, CITED, LATER], ALTERNATING)
    assert [text_of(each) for each in done.messages] == ["Why [1]?", "Ice. 冰。", "And [2]?"]
    assert done.repairs == (
        Repair("a1", "source numbers", "assistant: Ice [1]. 冰【2】。", "assistant: Ice. 冰。"),
    )
    assert Cleaner(ALTERNATING)([ASKED, CITED, LATER]) == done.messages
    assert text_of(CITED) == "Ice [1]. 冰【2】。"
    assert clean(done.messages, ALTERNATING).messages == done.messages


def test_numbers_stay_while_their_sources_are_there() -> None:
    done = clean([ASKED, CITED], ALTERNATING)  # a turn that goes on
    assert text_of(done.messages[-1]) == text_of(CITED)
    assert done.repairs == ()


def test_what_never_had_sources_keeps_its_numbers() -> None:
    plain = said("a1", "assistant", "See [1] and a[2].")
    assert text_of(clean([ASKED, plain, LATER], ALTERNATING).messages[1]) == text_of(plain)


def test_an_answer_that_is_a_number_stays_and_signed_text_too() -> None:
    bare = said("a1", "assistant", "[1]", sources=True)
    assert text_of(clean([ASKED, bare, LATER], ALTERNATING).messages[1]) == "[1]"
    opaque = ProviderData("a", "b", {"signature": "x"})
    signed = replace(CITED, parts=(TextPart(text_of(CITED), opaque),))
    kept = clean([ASKED, signed, LATER], replace(ALTERNATING, model=ModelRef("a", "b")))
    assert text_of(kept.messages[1]) == text_of(CITED)
