"""Titles: what is asked, what is made of an answer, and when there is none to be had."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from jan_magics.domain.messages import Json, Message, ReasoningPart, TextPart, Thread
from jan_magics.engine.titles import (
    LONGEST_TITLE,
    clean_title,
    is_unnamed,
    question_title,
    should_title,
    title_of,
    transcript,
)

NOW = datetime(2026, 3, 9, tzinfo=UTC)


def said(role: Literal["user", "assistant", "system"], text: str) -> Message:
    return Message("m", "t", role, (ReasoningPart("hm"), TextPart(text)), NOW)


def thread(title: str = "", **metadata: Json) -> Thread:
    return Thread("t", title, NOW, NOW, metadata)


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Well-known boats", "Well-known boats"),
        ("Don't panic: Anna's plan", "Don't panic Anna's plan"),
        ("L’été à l’ombre", "L’été à l’ombre"),
        ("Version 2.0 costs 1,000", "Version 2.0 costs 1,000"),
        ('"Winter Boats."', "Winter Boats"),
        ("**Winter** _Boats_", "Winter Boats"),
        ("Title: Winter Boats", "Winter Boats"),
        ("**Title:** Winter Boats", "Winter Boats"),
        ("标题：冬天的船", "冬天的船"),
        ("Book Title: Dune", "Book Title Dune"),
        ("船的标题：冬天", "船的标题冬天"),
        ("Input/output - a guide", "Input output a guide"),
        ("हिन्दी में नाव", "हिन्दी में नाव"),
        ("one two three four five six seven eight nine ten eleven", "one two three four five six "
         "seven eight nine ten"),
        ("reasoning went here</think>Boats Here", "Boats Here"),
        ("<THINKING>x</THINKING> Boats <reasoning a='b'>y", None),
        ("-", None),
        ("船", None),
    ],
)  # fmt: skip
def test_titles_are_cleaned(raw: str, title: str | None) -> None:
    assert clean_title(raw) == title


def test_a_script_without_spaces_is_cut_by_characters() -> None:
    assert clean_title("船" * 500) == "船" * LONGEST_TITLE


@pytest.mark.parametrize(
    "raw",
    [
        "Okay, the user wants a title for a chat about boats.",
        "The user asks about boats, so a title could be Boats.",
        "We need to write a title of at most ten words.",
        "Let me think about what this is about",
        "好的，用户想要一个标题",
        "This chat is about boats and how to keep them over the winter in a cold country "
        "where lakes freeze and nobody has a shed",
        "<think>never closed",
    ],
)
def test_thinking_aloud_is_no_title(raw: str) -> None:
    assert title_of(raw) is None


@pytest.mark.parametrize("raw", ["First Aid at Sea", "So Long and Thanks", "Users and Boats"])
def test_a_title_is_a_title(raw: str) -> None:
    assert title_of(raw) == raw


def test_else_the_first_question_names_the_thread() -> None:
    path = [said("system", "be brief"), said("user", "how do I store boats?"), said("user", "and?")]
    assert question_title(path) == "how do I store boats"
    assert question_title([said("user", "🚤")]) is None
    assert question_title([]) is None


def test_a_transcript_has_the_last_turns_and_no_reasoning() -> None:
    path = [said(role, f"{role} {n}") for n in range(10) for role in ("user", "assistant")]
    lines = transcript(path, "").split("\n\n")
    assert lines[0] == "User: user 2"
    assert lines[-1] == "Assistant: assistant 9"
    assert len(lines) == 16


def test_who_was_named_keeps_the_name() -> None:
    assert is_unnamed(thread())
    assert is_unnamed(thread("Boats", jan_magics={"auto_title": "Boats"}))
    assert not is_unnamed(thread("notes"))
    assert not is_unnamed(thread("notes", jan_magics={"auto_title": "Boats"}))
    assert not is_unnamed(
        thread("Boats", jan_magics={"auto_title": "Boats"}, titleSetManually=True)
    )
    assert not is_unnamed(thread("", titleSetManually=True))


@pytest.mark.parametrize("setting", ["panel", "off", ""])
def test_nothing_is_asked_unless_the_setting_asks(setting: str) -> None:
    assert not should_title(thread(), 1, setting, stopped=False)
    assert should_title(thread(), 1, "auto", stopped=False)
    assert not should_title(thread(), 1, "auto", stopped=True)


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Here is a possible title: Winter Boats", "Winter Boats"),
        ('Sure! Here\'s a title for this chat:\n\n"Winter Boats"', "Winter Boats"),
        ("Here are some possible titles:\n\n1. Winter Boats\n2. Boats in Winter", "Winter Boats"),
        ("A possible title could be: **Winter Boats: a guide**", "Winter Boats a guide"),
        ("The title of the chat is: Winter Boats", "Winter Boats"),
        ("Possible title: Winter Boats", "Winter Boats"),
        ("Title: Winter Boats", "Winter Boats"),
        ("好的，以下是一个可能的标题：冬天的船", "冬天的船"),
        ("标题：冬天的船", "冬天的船"),
        ("How to choose a title: tips", "How to choose a title tips"),
        ("Here comes winter: boats", "Here comes winter boats"),
        ("The title fight: a history", "The title fight a history"),
        ("Here is a possible title:", "Here is a possible title"),
    ],
)
def test_what_announces_a_title_is_no_part_of_it(raw: str, title: str) -> None:
    assert title_of(raw) == title
