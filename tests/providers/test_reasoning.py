"""Reasoning inside the text of an answer."""

import pytest

from jan_magics.domain.events import fold
from jan_magics.domain.messages import ReasoningPart, TextPart
from jan_magics.engine.cassette_json import event_json, event_of
from jan_magics.providers.reasoning import Kind, Piece, Thoughts
from tests.providers.wires import OPENAI


def parted(*texts: str) -> dict[Kind, str]:
    thoughts = Thoughts()
    pieces: list[Piece] = [piece for text in texts for piece in thoughts.feed(text)]
    found: dict[Kind, str] = {"reasoning": "", "text": ""}
    for kind, text in [*pieces, *thoughts.close()]:
        if kind == "thought":
            found = {"reasoning": found["text"].strip("\n"), "text": ""}
        else:
            found[kind] += text
    return found


HARMONY = (
    "<|channel|>analysis<|message|>User asks 2+2.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>It is 4."
)
PARTED = [
    ("<think>hm</think>yes", "hm", "yes"),
    ("\n <think>\nhm\n好\n</think>\n\nyes 👍", "hm\n好", "yes 👍"),
    ("<thinking>a</thinking>b", "a", "b"),
    ("[THINK]a[/THINK]b", "a", "b"),
    ("◁think▷a◁/think▷b", "a", "b"),
    ("<think></think>b", "", "b"),
    ("<think>a < b </thin> c</think>d", "a < b </thin> c", "d"),
    ("<think>never closed", "never closed", ""),
    ("hm 想</think>Answer", "hm 想", "Answer"),
    ("</think>\n\nalone", "", "alone"),
    ("hm\n```\n<b>\n```\n</think>\n\nyes", "hm\n```\n<b>\n```", "yes"),
    ("a < b </thin>k</think>d </think>", "a < b </thin>k", "d </think>"),
    ("<think>a</think>b <think>c</think>", "a", "b <think>c</think>"),
    (HARMONY, "User asks 2+2.", "It is 4."),
    (HARMONY + "<|return|>", "User asks 2+2.", "It is 4."),
    ("<|channel|>commentary<|message|>hm<|end|>" + HARMONY, "hmUser asks 2+2.", "It is 4."),
    ("<|channel|>final<|message|>yes", "", "yes"),
]
TEXT = [
    "plain 文字", "", "<", "<th", "<thin air>", "The tag <think> begins reasoning.",
    "```html\n<think>x</think>\n```", "`<think>`", "<thinker>", "<|channel|>", "a <|channel|> b",
    "[THIN", "< think>x", "x<think>y</think>", "It ends with `</think>`.", "See </think> there",
    "```\nx</think>\n```", "</thin",
]  # fmt: skip


@pytest.mark.parametrize(("text", "reasoning", "answer"), PARTED)
def test_what_an_answer_begins_with_is_parted_however_it_is_cut(
    text: str, reasoning: str, answer: str
) -> None:
    expected = {"reasoning": reasoning, "text": answer}
    assert parted(text) == expected
    assert parted(*text) == expected
    for at in range(len(text)):
        assert parted(text[:at], text[at:]) == expected


@pytest.mark.parametrize("text", TEXT)
def test_text_that_only_mentions_a_tag_stays_text(text: str) -> None:
    for pieces in ([text], list(text)):
        found = parted(*pieces)
        assert found == {"reasoning": "", "text": text}


def test_nothing_is_held_back_once_it_is_known_to_be_text() -> None:
    thoughts = Thoughts()
    assert thoughts.feed("<thi") == []
    assert thoughts.feed("ng> is") == [("text", "<thing> is")]
    assert thoughts.feed(" <think>") == [("text", " <think>")]
    assert not thoughts.settled  # thoughts may end that never began
    assert thoughts.feed(" `</think>`") == [("text", " `</think>"), ("text", "`")]
    assert thoughts.settled


def test_reasoning_is_shown_while_it_comes() -> None:
    thoughts = Thoughts()
    assert thoughts.feed("<think>one") == [("reasoning", "one")]
    assert thoughts.feed(" two<") == [("reasoning", " two")]
    assert thoughts.feed("/think>") == []
    assert thoughts.feed("x") == [("text", "x")]


def test_a_server_that_parts_it_itself_gives_back_what_was_held() -> None:
    thoughts = Thoughts()
    assert thoughts.feed("<thi") == []
    assert thoughts.give_up() == [("text", "<thi")]
    assert thoughts.feed("<think>") == [("text", "<think>")]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_thoughts_that_only_end_in_the_answer_are_reasoning(size: int) -> None:
    words = "Let me see 想\n</think>\n\nIt is 4."
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    body = OPENAI.body(*map(OPENAI.words, pieces), *OPENAI.end)
    found = OPENAI.outcome([body])
    assert found.parts == (ReasoningPart("Let me see 想"), TextPart("It is 4."))
    events = [*OPENAI.answer().feed(body)]
    again = [event_of(event_json(event, 0.0)) for event in events]
    assert fold(event for event in again if event) == fold(events)
