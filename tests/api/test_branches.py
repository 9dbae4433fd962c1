"""Branches from Python: versions, going there and back, the tree, and two versions side by side."""

import re
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import pytest

import jan_magics as jan
from jan_magics.api.diff import compared, diff
from jan_magics.api.sent import newest_sent
from jan_magics.api.tree import tree_of
from jan_magics.domain.errors import SettingError, ThreadError
from jan_magics.domain.messages import Message, TextPart, Thread
from jan_magics.domain.overlays import Hidden
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.views import View
from jan_magics.notebook.columns import width
from tests.domain.trees import EPOCH, FORKED, message

FORMS = ("text/plain", "text/markdown", "text/html")


@pytest.fixture
def chat() -> Iterator[jan.Chat]:
    with jan.Chat("notes", model="offline:echo") as chat:
        yield chat


def view_of(*messages: Message, hidden: tuple[str, ...] = ()) -> View:
    thread = Thread("t", "notes", EPOCH, EPOCH)
    return View(thread, TreeIndex(messages), [Hidden(name) for name in hidden])


def test_methods_return_the_same_chat(chat: jan.Chat) -> None:
    chat.send("one")
    chat.retry()
    answer = chat.messages().id.iloc[1]
    assert chat.go(1) is chat.go("next") is chat.go(answer[:10]) is chat
    assert chat.drop(answer) is chat.undo() is chat.new("notes") is chat
    assert list(chat.messages().text) == []


def test_retry_and_resume_return_answers(chat: jan.Chat) -> None:
    cut = chat.send("one two three", max_tokens=1)
    assert (cut.text, cut.finish) == ("one", "length")
    whole = chat.resume()
    assert (whole.text, whole.finish, whole.message) == ("one two three", "stop", cut.message)
    again = chat.retry(cut.message[:8])
    assert (again.version, again.versions, again.text) == (2, 2, "one two three")


def test_editing_a_question_asks_and_editing_an_answer_does_not(chat: jan.Chat) -> None:
    first = chat.send("one")
    question = chat.messages().id.iloc[0]
    asked = chat.edit(question[:8], "uno")
    assert (asked.text, asked.versions) == ("uno", 2)
    chat.go(first.message)
    mine = chat.edit(first.message, "my words")
    assert (str(mine), mine.versions, mine.finish, mine.sent["messages"]) == (
        "my words",
        2,
        "stop",
        [],
    )
    assert "edited, nothing sent" in mine._repr_mimebundle_()["text/plain"]
    assert list(chat.messages().text) == ["one", "my words"]
    assert len(chat.messages(all=True)) == 5


@pytest.mark.parametrize("text", ["", " \n", None, 3])
def test_a_version_must_say_something(chat: jan.Chat, text: object) -> None:
    answer = chat.send("one")
    for identifier in chat.messages().id:
        with pytest.raises(SettingError):
            chat.edit(identifier, text)  # type: ignore[arg-type]
    assert list(chat.messages(all=True).text) == ["one", "one"]
    assert answer.versions == 1


def test_a_dropped_message_has_its_status(chat: jan.Chat) -> None:
    first = chat.send("one")
    chat.drop(first.message)
    assert list(chat.messages().status) == ["active", "truncated"]
    assert "hidden" in str(chat.show())
    assert chat.send("two").sent["messages"][0]["text"] != "one"  # two questions in a row are one
    chat.undo()
    assert set(chat.messages().status) == {"active"}


def test_at_branches_and_reuse_sends_nothing(chat: jan.Chat) -> None:
    first = chat.send("one")
    chat.send("two")
    chat.send("deux", at=first.message[:9])
    assert list(chat.messages().text) == ["one", "one", "deux", "deux"]
    stored = chat.send("two", at=first.message, reuse=True)
    assert stored.text == "two"
    assert len(chat.messages(all=True)) == 6
    assert "stored answer" in stored._repr_mimebundle_()["text/plain"]
    assert "".join(chat.stream("three", at="head")) == "three"


# ------------------------------------------------------------------------------------------ tree


def test_the_tree_shows_every_version_and_marks_the_path(chat: jan.Chat) -> None:
    chat.send("one two three", max_tokens=1)
    chat.retry()
    chat.send("next")
    text = re.sub(r"[0-9a-f]{6,}", "ID", str(chat.tree()))
    assert text.splitlines() == [
        "notes: 5 messages, 2 branches",
        "● ID  You  one two three",
        "  ○ ID  offline:echo, length ‹1/2›  one",
        "● ID  offline:echo ‹2/2›  one two three",
        "● ID  You  next",
        "● ID  offline:echo  next",
    ]


def test_hidden_messages_and_unbegun_branches_are_marked(chat: jan.Chat) -> None:
    first = chat.send("one")
    chat.drop(first.message)
    assert "offline:echo, hidden  one" in str(chat.tree())
    chat.new("notes")
    text = str(chat.tree())
    assert "a new one begins with the next turn" in text
    assert "●" not in text
    assert str(jan.Chat("empty").tree()) == "a new thread: nothing said yet"


def test_ids_in_the_tree_can_be_typed(chat: jan.Chat) -> None:
    chat.send("one")
    chat.retry()
    ids = re.findall(r"[●○] (\w+) ", str(chat.tree()))
    assert len(ids) == 3
    for identifier in ids:
        assert identifier in str(chat.show(identifier).messages[0].id)


def test_a_long_thread_is_a_straight_line() -> None:
    chain = [message("m0", None)] + [message(f"m{n}", f"m{n - 1}", n) for n in range(1, 200)]
    lines = str(tree_of(view_of(*chain))).splitlines()
    assert len(lines) == 201
    assert all(line.startswith("● ") for line in lines[1:])


def test_a_tree_of_ten_thousand_is_quick_and_whole() -> None:
    chain = [message("m0", None)] + [
        message(f"m{n}", f"m{n - 2}" if n % 3 == 0 else f"m{n - 1}", n) for n in range(1, 10_000)
    ]
    begun = perf_counter()
    tree = tree_of(view_of(*chain))
    assert len({row.id for row in tree.rows}) == len(chain)
    assert perf_counter() - begun < 5  # generous; forks nest 3,333 times here


def test_wide_letters_are_cut_in_columns() -> None:
    long = "北京是中国的首都" * 12
    wide = replace(message("u1", None), parts=(TextPart(long),))
    (row,) = tree_of(view_of(wide)).rows
    assert row.text.endswith("…")
    assert width(row.text) <= 64


def test_every_form_says_the_same_and_harms_nobody() -> None:
    hostile = "<img src=x onerror=f()> ![p](http://x/y.png) **bold** | `a` \x1b[31m\n# head"
    versions = [replace(each, parts=(TextPart(hostile),)) for each in FORKED]
    view = view_of(*versions, hidden=("u3",))
    for shown in (tree_of(view), diff(view)):
        bundle = shown._repr_mimebundle_()
        assert tuple(bundle) == FORMS
        assert bundle["text/plain"] == str(shown) == repr(shown)
        assert "\x1b" not in bundle["text/plain"]
        for form in FORMS[1:]:
            assert "<img" not in bundle[form]
            assert "bold" in bundle[form]
        assert "![" not in bundle["text/markdown"]


# ------------------------------------------------------------------------------------------ diff


def test_the_two_newest_versions_stand_side_by_side(chat: jan.Chat) -> None:
    first = chat.send("the quick brown fox")
    chat.edit(first.message, "the slow brown dog")
    shown = diff(chat._host.session().view())
    lines = str(shown).splitlines()
    assert lines[0].count("│") == 1
    assert "‹1/2›" in lines[0].split("│")[0]
    assert lines[2].split("│")[0].strip() == "the [-quick-] brown [-fox-]"
    assert lines[2].split("│")[1].strip() == "the {+slow+} brown {+dog+}"
    bundle = shown._repr_mimebundle_()
    assert "<del>quick</del>" in bundle["text/html"]
    assert "<ins>slow</ins>" in bundle["text/html"]
    assert "~~quick~~" in bundle["text/markdown"]
    assert "**slow**" in bundle["text/markdown"]


def test_any_two_can_be_named(chat: jan.Chat) -> None:
    first = chat.send("one")
    for text in ("two", "three"):
        chat.edit(first.message, text)
    view = chat._host.session().view()
    assert "{+three+}" in str(diff(view, "1"))
    assert "{+two+}" in str(diff(view, "1", "2"))
    assert "[-three-]" in str(diff(view, "3", first.message[:8]))
    with pytest.raises(ThreadError):
        diff(view, "4")


def test_there_must_be_two_versions(chat: jan.Chat) -> None:
    chat.send("one")
    with pytest.raises(ThreadError, match="second version"):
        diff(chat._host.session().view())
    chat.new("notes")
    with pytest.raises(ThreadError, match="second version"):
        diff(chat._host.session().view())


@pytest.mark.parametrize(
    ("old", "new", "left", "right"),
    [
        ("a b", "a c", ["a ", "-b"], ["a ", "+c"]),
        ("北京很大", "北京很小", ["北京很", "-大"], ["北京很", "+小"]),
        ("", "a", [], ["+a"]),
        ("a", "a", ["a"], ["a"]),
        ("x\ny", "x\nz", ["x\n", "-y"], ["x\n", "+z"]),
    ],
)
def test_words_that_differ_are_marked(
    old: str, new: str, left: list[str], right: list[str]
) -> None:
    signs = {"same": "", "gone": "-", "new": "+"}
    sides = compared(old, new)
    assert [[signs[piece.kind] + piece.text for piece in side] for side in sides] == [left, right]


# ------------------------------------------------------------------------------------------ sent


def test_what_was_sent_can_be_read(chat: jan.Chat) -> None:
    with pytest.raises(ThreadError, match="nothing was sent"):
        newest_sent(chat._host)
    answer = chat.send("one two", system="be <b>brief</b>", max_tokens=1)
    chat.resume()
    sent = newest_sent(chat._host)
    assert str(sent).splitlines()[0] == "sent to offline:echo · 2 messages"
    assert f"assistant ({answer.message[:8]})\none" in str(sent)
    assert "system\nbe <b>brief</b>" not in str(sent)  # it was a flag of the first turn only
    bundle = sent._repr_mimebundle_()
    assert tuple(bundle) == FORMS
    assert sent.request == chat._host.last_answer().sent  # type: ignore[union-attr]
