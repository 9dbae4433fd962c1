"""Reasoning inside the text of an answer."""

import pytest

from jan_magics.providers.reasoning import Kind, Piece, Thoughts


def parted(*texts: str) -> dict[Kind, str]:
    thoughts = Thoughts()
    pieces: list[Piece] = [piece for text in texts for piece in thoughts.feed(text)]
    found: dict[Kind, str] = {"reasoning": "", "text": ""}
    for kind, text in [*pieces, *thoughts.close()]:
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
    ("<think>a</think>b <think>c</think>", "a", "b <think>c</think>"),
    (HARMONY, "User asks 2+2.", "It is 4."),
    (HARMONY + "<|return|>", "User asks 2+2.", "It is 4."),
    ("<|channel|>commentary<|message|>hm<|end|>" + HARMONY, "hmUser asks 2+2.", "It is 4."),
    ("<|channel|>final<|message|>yes", "", "yes"),
]
TEXT = [
    "plain 文字", "", "<", "<th", "<thin air>", "The tag <think> begins reasoning.",
    "```html\n<think>x</think>\n```", "`<think>`", "<thinker>", "<|channel|>", "a <|channel|> b",
    "[THIN", "< think>x", "x<think>y</think>",
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
    assert thoughts.settled
    assert thoughts.feed(" <think>") == [("text", " <think>")]


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
