"""Retry, edit, go, drop and new: what is shown, what is stored, what is sent."""

import asyncio
from typing import Any

import pytest

from jan_magics.context.segments import look
from jan_magics.domain.errors import JanError, MessageNotFound, ServerFailed, ThreadError
from jan_magics.domain.messages import FilePart, TextPart
from jan_magics.domain.tree import Changes
from jan_magics.engine.branches import begin, drop, edit_answer, go
from jan_magics.engine.marking import mark
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.records import finish_of, model_of
from jan_magics.engine.undoing import undo
from tests.engine.threads import Kernel, texts


def sent(outcome: Any) -> list[str]:
    return texts(outcome.turn.request.messages)


def test_retry_adds_a_version_and_overwrites_nothing(kernel: Kernel) -> None:
    first = kernel.ask("one")
    again = kernel.ask(aim="retry")
    assert (again.version, again.versions, again.counted) == (2, 2, "answer")
    assert kernel.path() == ["one", "one"]
    assert kernel.everything() == ["one", "one", "one"]
    assert again.turn.answer.id != first.turn.answer.id
    assert again.turn.question == first.turn.question or again.turn.question.id == kernel.id(0)


def test_retry_of_an_earlier_turn_leaves_a_branch_and_says_so(kernel: Kernel) -> None:
    kernel.ask("one")
    answer = kernel.id(1)
    kernel.ask("two")
    again = kernel.ask(aim="retry", at=answer[:9])
    assert kernel.path() == ["one", "one"]
    assert again.lines == ("2 later messages stay on answer 1 · back: %chat undo",)


def test_there_is_nothing_to_retry_at_first(kernel: Kernel) -> None:
    with pytest.raises(ThreadError, match="nothing was asked here yet"):
        kernel.ask(aim="retry")


def test_an_edited_question_is_asked_beside_the_old_one(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    edited = kernel.ask("two, please", aim="edit", at=kernel.id(2))
    assert kernel.path() == ["one", "one", "two, please", "two, please"]
    assert (edited.version, edited.versions, edited.counted) == (2, 2, "question")
    assert edited.turn.question.active_child_id is None
    assert sent(edited) == ["one", "one", "two, please"]


def test_an_edited_question_keeps_its_files(kernel: Kernel) -> None:
    kernel.ask("look")
    view = kernel.session.view()
    question = view.index[kernel.id(0)]
    image = FilePart("image/png", data=b"png")
    assert view.thread
    with_image = Changes(
        (type(question)(question.id, question.thread_id, "user", (TextPart("look"), image),
                        question.created_at, question.parent_id, question.active_child_id),)
    )  # fmt: skip
    kernel.session.engine.apply(view.thread, with_image)
    edited = kernel.ask("look again", aim="edit", at=question.id)
    assert edited.turn.question.parts == (TextPart("look again"), image)
    assert edited.turn.request.messages[-1].parts == (TextPart("look again"), image)


def test_an_edited_answer_is_a_version_and_nothing_is_sent(kernel: Kernel) -> None:
    kernel.ask("one two three four", options={"max_tokens": 2})
    kernel.ask("next")
    outcome = edit_answer(kernel.session, kernel.id(1), "my own words")
    assert kernel.path() == ["one two three four", "my own words"]
    assert (outcome.version, outcome.versions) == (2, 2)
    assert (outcome.turn.finish, outcome.turn.request.messages) == ("stop", ())
    stored = kernel.session.view().path()[-1]
    assert (finish_of(stored), model_of(stored)) == ("stop", "offline:echo")
    assert stored.active_child_id is None


def test_go_by_id_number_and_direction(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    deep = kernel.id(3)
    kernel.ask(aim="retry", at=kernel.id(0))
    kernel.ask(aim="retry")
    for target, length in (("1", 4), (2, 2), ("next", 2), ("prev", 2), (deep[:8], 4)):
        go(kernel.session, target)
        assert len(kernel.path()) == length, target
    answers = kernel.session.view().index.children(kernel.id(0))
    go(kernel.session, answers[1].id)
    assert kernel.id(1) == answers[1].id
    go(kernel.session, "next")
    assert kernel.id(1) == answers[2].id


def test_numbers_mean_the_last_answer_else_the_nearest_fork_above(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask(aim="retry")
    kernel.ask("two")  # one version only; the fork is two messages above
    go(kernel.session, 1)
    assert kernel.path() == ["one", "one"]
    go(kernel.session, "2")
    assert kernel.path() == ["one", "one", "two", "two"]


@pytest.mark.parametrize("target", ["3", "0", "999"])
def test_a_version_that_is_not_there_is_an_error(kernel: Kernel, target: str) -> None:
    kernel.ask("one")
    kernel.ask(aim="retry")
    with pytest.raises(ThreadError, match="version 2 of 2 is shown"):
        go(kernel.session, target)
    assert kernel.id(1) == kernel.session.view().index.messages[-1].id


def test_going_nowhere_is_an_error_that_says_what_to_do(kernel: Kernel) -> None:
    with pytest.raises(ThreadError, match="nothing was asked here yet"):
        go(kernel.session, "next")
    kernel.ask("one")
    with pytest.raises(ThreadError, match="retry"):
        go(kernel.session, "next")
    with pytest.raises(MessageNotFound):
        go(kernel.session, "abcdef")


@pytest.mark.parametrize("how", ["dropped", "marked"])
@pytest.mark.parametrize("again", [{"text": "two", "cell": "b"}, {"aim": "retry"}])
def test_a_hidden_question_that_is_asked_again_is_sent_again(
    kernel: Kernel, how: str, again: dict[str, str]
) -> None:
    kernel.ask("one")
    kernel.ask("two", cell="b")
    question = kernel.id(2)
    if how == "dropped":
        drop(kernel.session, question)
    else:
        mark(kernel.session, [question], "drop")
    ran = kernel.ask(**again)
    assert sent(ran) == ["one", "one", "two"]
    # A mark holds on the branch that it was made on, and this one leaves it.
    told = "the question was hidden; as it is asked again, it is sent again too"
    assert (told in ran.lines) == (how == "dropped")
    assert sent(kernel.ask("three")) == ["one", "one", "two", "two", "three"]
    undo(kernel.session)
    assert kernel.path() == ["one", "one", "two", "two"]


def test_a_stored_answer_to_a_hidden_question_shows_it_again(kernel: Kernel) -> None:
    kernel.ask("two", cell="b")
    drop(kernel.session, kernel.id(0))
    assert kernel.ask("two", cell="b", rerun="reuse").turn.stored
    assert sent(kernel.ask("three")) == ["two", "two", "three"]


def test_a_dropped_message_stays_and_is_not_sent(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    drop(kernel.session, kernel.id(0)[:8])
    view = drop(kernel.session, kernel.id(1)[:8])
    assert len(view.hidden) == 2
    assert kernel.path() == ["one", "one", "two", "two"]
    assert sent(kernel.ask("three")) == ["two", "two", "three"]
    records = len(kernel.session.view().records)
    drop(kernel.session, kernel.id(0))
    assert len(kernel.session.view().records) == records  # twice is as once


def test_a_request_begins_with_a_question(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    drop(kernel.session, kernel.id(0))
    outcome = kernel.ask("three")
    assert sent(outcome) == ["two", "two", "three"]
    assert [each.role for each in outcome.turn.request.messages] == ["user", "assistant", "user"]
    assert kernel.path() == ["one", "one", "two", "two", "three", "three"]
    for place in (2, 4):
        drop(kernel.session, kernel.id(place))
    assert sent(kernel.ask("four")) == ["four"]


def test_an_answer_is_not_sent_without_its_question(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    view = drop(kernel.session, kernel.id(2))
    seen = look(view.path(), view.records)
    assert [seen.status(message.id) for message in view.path()] == [
        "active", "active", "truncated", "truncated",
    ]  # fmt: skip
    assert sent(kernel.ask("three")) == ["one", "one", "three"]
    undo(kernel.session)
    assert sent(kernel.ask("four"))[:4] == ["one", "one", "two", "two"]


def test_a_hidden_question_that_is_asked_again_is_sent(kernel: Kernel) -> None:
    kernel.ask("one")
    drop(kernel.session, kernel.id(0))
    assert sent(kernel.ask(aim="retry")) == ["one"]


def test_new_begins_a_thread_or_a_root_branch_of_one(kernel: Kernel) -> None:
    thread = begin(kernel.session, "notes")
    kernel.ask("one")
    assert begin(kernel.session, None).id != thread.id
    assert begin(kernel.session, "notes").id == thread.id
    assert kernel.path() == []
    kernel.open()  # it survives a restart
    begin(kernel.session, "notes")  # and twice is as once
    outcome = kernel.ask("two")
    assert sent(outcome) == ["two"]
    assert kernel.path() == ["two", "two"]
    kernel.ask("three")
    assert kernel.path() == ["two", "two", "three", "three"]
    assert sorted(kernel.everything()) == ["one", "one", "three", "three", "two", "two"]


def test_going_back_from_a_branch_that_has_not_begun(kernel: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one")
    begin(kernel.session, "notes")
    go(kernel.session, "prev")
    assert kernel.path() == ["one", "one"]
    kernel.ask("two")
    assert kernel.path() == ["one", "one", "two", "two"]


def test_at_appends_or_branches(kernel: Kernel) -> None:
    kernel.ask("one", cell="a")
    first = kernel.id(1)
    kernel.ask("two", cell="b")
    kernel.ask("one", cell="a", at="head")
    assert kernel.path() == ["one", "one", "two", "two", "one", "one"]
    outcome = kernel.ask("aside", at=first)
    assert kernel.path() == ["one", "one", "aside", "aside"]
    assert outcome.lines == ("4 later messages stay on question 1 · back: %chat undo",)


@pytest.mark.parametrize("target", ["-1", "1.5", "+2", "0,5"])
def test_a_number_that_is_no_version_is_not_taken_for_an_id(kernel: Kernel, target: str) -> None:
    kernel.ask("one")
    kernel.ask(aim="retry")
    with pytest.raises(ThreadError, match="no number of a version: they are 1, 2") as caught:
        go(kernel.session, target)
    assert caught.value.next_step.startswith("See them all: %chat tree")


def test_below_a_question_means_below_its_answer(kernel: Kernel) -> None:
    kernel.ask("one")
    kernel.ask("two")
    ran = kernel.ask("three", at=kernel.id(0))
    assert sent(ran) == ["one", "one", "three"]
    assert (ran.version, ran.counted) == (2, "question")


def test_below_a_question_without_an_answer_nothing_can_be_asked(kernel: Kernel) -> None:
    with pytest.raises(ServerFailed):
        kernel.ask("one", options={"parameters": {"fail": "before"}})
    with pytest.raises(ThreadError, match="nothing can be asked below it") as caught:
        kernel.ask("two", at=kernel.id(0))
    assert caught.value.next_step.endswith(f"answer it first: %chat retry {kernel.id(0)[:8]}")
    assert kernel.everything() == ["one"]


def test_an_answer_that_broke_off_says_so(kernel: Kernel) -> None:
    ended: list[Outcome] = []
    broken = kernel.asking("one two three", options={"parameters": {"fail": "in"}})
    with pytest.raises(JanError):
        asyncio.run(kernel.session.send(broken, lambda _: None, ended.append))
    assert "error" in ended[0].flags


def test_a_new_root_branch_has_no_model_before_it(kernel: Kernel) -> None:
    begin(kernel.session, "notes")
    kernel.ask("one", model="offline:quote")
    begin(kernel.session, "notes")
    assert "model changed" not in kernel.ask("two", model="offline:echo").flags
    assert "model changed" in kernel.ask("three", model="offline:quote").flags
