"""A cleared context: nothing is deleted, nothing is inserted, and each branch has its own."""

from dataclasses import replace

import pytest

from jan_magics.context.segments import look
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import ToolCallPart, ToolResultPart
from jan_magics.engine import marking
from jan_magics.engine.branches import go
from jan_magics.engine.undoing import undo
from tests.engine.compacted import Talk, question, sent


def ids(talk: Talk) -> list[str]:
    return [message.id for message in talk.session.view().path()]


def statuses(talk: Talk) -> list[str]:
    view = talk.session.view()
    seen = look(view.path(), view.records)
    return [seen.status(message.id) for message in view.path()]


def test_it_archives_what_is_sent_and_neither_deletes_nor_inserts(talk: Talk) -> None:
    talk.chat(1, 2)
    before = talk.session.view().index.messages
    view, count = marking.clear(talk.session)
    assert (count, len(view.path())) == (4, 4)
    for _ in range(2):
        assert talk.session.view().index.messages == before
        assert statuses(talk) == ["archived_segment"] * 4
        talk.open()
    talk.ask(question(3))
    assert sent(talk.model.asked[-1]) == ["question 3"]
    assert talk.model.asked[-1].system == ""


@pytest.mark.parametrize("how", ["off", "undo"])
def test_it_is_taken_back_also_after_a_restart(talk: Talk, how: str) -> None:
    talk.chat(1, 2)
    marking.clear(talk.session)
    talk.ask(question(3))
    talk.open()
    if how == "off":
        marking.restore(talk.session, "clear")
    else:
        assert "the clearing" in undo(talk.session)[0]
    talk.open()
    assert set(statuses(talk)) == {"active"}
    talk.ask(question(4))
    assert len(sent(talk.model.asked[-1])) == 7
    with pytest.raises(ThreadError, match="no cleared context to restore"):
        marking.restore(talk.session, "clear")


def test_a_context_without_messages_cannot_be_cleared(talk: Talk) -> None:
    with pytest.raises(ThreadError, match="there is nothing to clear"):
        marking.clear(talk.session)
    talk.ask(question(1))
    marking.clear(talk.session)
    with pytest.raises(ThreadError, match="there is nothing to clear"):
        marking.clear(talk.session)


def test_clearings_follow_each_other_and_are_taken_back_in_turn(talk: Talk) -> None:
    talk.chat(1, 1)
    marking.clear(talk.session)
    talk.chat(2, 2)
    assert marking.clear(talk.session)[1] == 2
    assert statuses(talk) == ["archived_segment"] * 4
    marking.restore(talk.session, "clear")
    assert statuses(talk) == ["archived_segment"] * 2 + ["active"] * 2
    marking.restore(talk.session, "clear")
    assert set(statuses(talk)) == {"active"}


def test_another_answer_to_an_old_question_is_a_branch_from_before_it(talk: Talk) -> None:
    talk.chat(1, 3)
    path = ids(talk)
    marking.clear(talk.session)
    talk.ask(at=path[3], aim="retry")
    assert sent(talk.model.asked[-1]) == ["question 1", "answer 1 ", "question 2"]
    assert set(statuses(talk)) == {"active"}
    go(talk.session, path[-1])
    assert statuses(talk) == ["archived_segment"] * 6


def test_another_answer_after_it_does_not_see_what_was_cleared(talk: Talk) -> None:
    talk.chat(1, 1)
    marking.clear(talk.session)
    talk.chat(2, 3)
    talk.ask(aim="retry")
    assert sent(talk.model.asked[-1]) == ["question 2", "answer 2 ", "question 3"]


def test_one_branch_does_not_touch_the_other(talk: Talk) -> None:
    talk.chat(1, 2)
    first = ids(talk)
    talk.ask(question(3), at=first[1])
    marking.clear(talk.session)
    assert statuses(talk) == ["archived_segment"] * 4
    go(talk.session, first[-1])
    assert set(statuses(talk)) == {"active"}
    talk.ask(question(4))
    assert len(sent(talk.model.asked[-1])) == 5


def test_a_pin_outlasts_it(talk: Talk) -> None:
    talk.chat(1, 2)
    marking.mark(talk.session, [ids(talk)[0]], "pin")
    marking.clear(talk.session)
    talk.open()
    talk.ask(question(3))
    assert sent(talk.model.asked[-1]) == ["question 1", "answer 1 ", "question 3"]


def test_it_takes_a_summary_along_and_brings_it_back(talk: Talk) -> None:
    talk.chat(1, 3)
    talk.compact(keep=1)
    marking.clear(talk.session)
    talk.ask(question(4))
    assert talk.model.asked[-1].system == ""
    assert sent(talk.model.asked[-1]) == ["question 4"]
    marking.restore(talk.session, "clear")
    talk.ask(question(5))
    assert "are being cleaned" in talk.model.asked[-1].system
    assert len(sent(talk.model.asked[-1])) == 5


def test_taken_back_it_leaves_the_summaries_on_both_sides_of_it(talk: Talk) -> None:
    said = iter(["They bought a pump.", "They sold a valve."])
    talk.model.told = lambda _: next(said, "They own a pipe.")
    talk.chat(1, 3)
    talk.compact(keep=1)
    marking.clear(talk.session)
    talk.chat(4, 6)
    talk.compact(keep=1)
    marking.restore(talk.session, "clear")
    expected = ["compressed"] * 4 + ["active"] * 2 + ["compressed"] * 4 + ["active"] * 2
    for _ in range(2):
        assert statuses(talk) == expected
        talk.open()
    talk.ask(question(7))
    request = talk.model.asked[-1]
    assert 0 < request.system.index("bought a pump") < request.system.index("sold a valve")
    assert sent(request) == ["question 3", "answer 3 ", "question 6", "answer 6 ", "question 7"]
    marking.restore(talk.session, "compact")
    assert statuses(talk)[:10] == ["compressed"] * 4 + ["active"] * 6
    undo(talk.session)
    talk.compact(keep=0)
    asked = sent(talk.model.summaries[-1])[0]
    assert 0 < asked.index("bought a pump") < asked.index("sold a valve")
    assert set(statuses(talk)) == {"compressed"}


def test_a_compaction_reads_nothing_that_was_cleared(talk: Talk) -> None:
    talk.chat(1, 2)
    marking.clear(talk.session)
    talk.chat(3, 5)
    talk.compact(keep=1)
    (request,) = talk.model.summaries
    said = sent(request)[0]
    assert "question 3" in said
    assert "question 2" not in said
    assert statuses(talk) == ["archived_segment"] * 4 + ["compressed"] * 4 + ["active"] * 2


def test_a_call_goes_with_its_result(talk: Talk) -> None:
    """One message holds a whole turn's calls and results, so that no cut can part them."""
    talk.chat(1, 1)
    view = talk.session.view()
    call, result = ToolCallPart("1", "look", "{}"), ToolResultPart("1", "look", "42")
    assert view.thread
    engine = talk.session.engine
    answer = replace(view.path()[-1], parts=(call, result))
    engine.trees.save(answer)
    marking.clear(talk.session)
    assert statuses(talk) == ["archived_segment"] * 2
    talk.ask(question(2))
    assert sent(talk.model.asked[-1]) == ["question 2"]
