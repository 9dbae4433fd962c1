"""A compaction that begins by itself, in a turn."""

import asyncio
from itertools import count

import pytest

from jan_magics.context.segments import look
from jan_magics.context.summary import summary_text
from jan_magics.domain.errors import ContextOverflow, ServerFailed
from jan_magics.domain.messages import text_of
from jan_magics.domain.overlays import Summary
from jan_magics.engine import marking
from jan_magics.engine.compacting import compact
from tests.engine.compacted import Talk, compacting, question, sent

DUE = 6
"""The question at which history has grown over its mark."""


def summaries(talk: Talk) -> list[Summary]:
    return [each for each in talk.records() if isinstance(each, Summary)]


def test_it_is_shown_while_it_goes_on_and_told_at_the_end(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    assert talk.notes == ["asking double:m"]
    outcome = talk.ask(question(DUE))
    said = "6 messages compacted into a summary: ≈624 → ≈28 tokens"
    assert [note for note in talk.notes if "compact" in note] == ["compacting 6 messages", said]
    assert f"{said} · back: %chat compact --off" in outcome.lines
    assert "oldest messages are left out" not in " ".join(outcome.lines)


def test_it_begins_at_the_high_mark_and_falls_to_the_low_one(talk: Talk) -> None:
    before = talk.chat(1, DUE - 1)[-1].turn.plan
    after = talk.ask(question(DUE)).turn.plan
    assert before
    assert after
    assert before.full < 0.8 * before.costs.history
    assert len(summaries(talk)) == 1
    assert after.full <= 0.4 * after.costs.history
    assert after.tokens <= after.budget.input


def test_newest_messages_are_protected_also_where_they_are_large(talk: Talk) -> None:
    talk.kernel.settings["compact_to"] = "0.0"
    talk.open()
    talk.chat(1, DUE)
    # Four messages before the prompt stay as they are.
    assert sent(talk.model.asked[-1]) == [
        "question 4", "answer 4 ", "question 5", "answer 5 ", "question 6",
    ]  # fmt: skip


def test_the_summary_is_never_trimmed(talk: Talk) -> None:
    talk.model.told = lambda _: " ".join(f"fact{n}" for n in range(60))
    talk.kernel.settings |= {"compact_at": "0.99", "compact_to": "0.9", "trim_to": "0.5"}
    talk.open()
    for outcome in talk.chat(1, 12):
        plan = outcome.turn.plan
        assert plan
        assert plan.tokens <= plan.budget.input
        if plan.seen.summary:
            assert outcome.turn.request.system.endswith(summary_text(plan.seen.summary))
    assert summaries(talk)


def test_the_next_one_takes_the_old_summary_and_the_new_messages(talk: Talk) -> None:
    number = count(1)
    talk.model.told = lambda _: f"This is summary {next(number)} of the talk."
    talk.chat(1, 10)
    first, second = talk.model.summaries
    assert "question 1" in text_of(first.messages[0])
    asked = text_of(second.messages[0])
    assert "This is summary 1 of the talk." in asked
    # Messages that it stands for are not read again, and newer ones always are.
    assert "question 3" not in asked
    assert "user: word" in asked
    assert "question 4" in asked
    one, two = summaries(talk)
    assert two.covers[: len(one.covers)] == one.covers
    assert len(two.covers) > len(one.covers)
    assert "This is summary 2 of the talk." in talk.model.asked[-1].system
    assert "This is summary 1" not in talk.model.asked[-1].system


def test_where_too_little_is_freed_it_says_so_once(talk: Talk) -> None:
    talk.model.told = lambda _: " ".join(f"word{n}" for n in range(500))
    lines = [line for outcome in talk.chat(1, DUE + 2) for line in outcome.lines]
    told = [line for line in lines if "would free" in line]
    assert told == [
        "compacting 6 messages would free 0 of 1144 tokens, less than 20%; the oldest messages are"
        " left out where room is short"
    ]
    assert summaries(talk) == []
    # Nor is it tried in vain every turn.
    assert len(talk.model.summaries) == 1


def test_after_three_failures_none_begins_by_itself(talk: Talk) -> None:
    talk.model.told = lambda _: ServerFailed("out of memory")
    outcomes = talk.chat(1, DUE + 4)
    assert len(talk.model.summaries) == 3
    failed = [line for each in outcomes for line in each.lines if "compacting failed" in line]
    assert len(failed) == 3
    assert "out of memory" in failed[0]
    assert "%chat compact" not in failed[0]
    assert failed[2].endswith("; none begins by itself any more: %chat compact")
    assert summaries(talk) == []
    assert all(len(each.turn.answer.parts) == 1 for each in outcomes)
    # One that is asked for and goes well closes the circuit again.
    talk.model.told = lambda _: "All is well."
    talk.compact()
    talk.chat(DUE + 5, DUE + 9)
    assert len(summaries(talk)) > 1


@pytest.mark.parametrize("answer", ["", " \n", "na " * 40, "\0\ufffd" * 40 + "<|im_end|>"])
def test_garbage_changes_nothing(talk: Talk, answer: str) -> None:
    talk.model.told = lambda _: answer
    talk.chat(1, DUE - 1)
    outcome = talk.ask(question(DUE))
    assert "the summary is of no use" in outcome.lines[-1]
    assert talk.records() == []
    assert sent(talk.model.asked[-1])[-1] == f"question {DUE}"


def test_a_late_summary_is_not_waited_for(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    talk.model.slow = 30
    talk.session.fitting.patience = 0.1
    outcome = talk.ask(question(DUE))
    assert "(no summary in 0.1 s)" in outcome.lines[-1]
    assert summaries(talk) == []
    assert outcome.turn.finish == "stop"


def test_late_or_failing_the_turn_goes_on_with_trimming(talk: Talk) -> None:
    talk.model.told = lambda _: ServerFailed("busy")
    outcomes = talk.chat(1, DUE + 3)
    plan = outcomes[-1].turn.plan
    assert plan
    assert plan.trimmed
    assert plan.tokens <= plan.budget.input


def test_an_interrupt_stops_the_turn_and_keeps_the_question(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    before = talk.records()
    talk.model.slow = 30

    async def interrupt() -> None:
        turn = asyncio.ensure_future(talk.send(question(DUE)))
        await talk.model.begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(interrupt())
    talk.open()
    assert talk.records() == before
    assert talk.kernel.path()[-1] == question(DUE)
    talk.model.slow = 0
    talk.ask(question(DUE))
    assert len(summaries(talk)) == 1


def test_two_turns_at_once_compact_once(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    talk.model.slow = 0.05

    async def both() -> None:
        await asyncio.gather(talk.send(question(DUE)), talk.send(question(DUE + 1)))

    asyncio.run(both())
    assert len(talk.model.summaries) == 1
    assert len(summaries(talk)) == 1
    assert sent(talk.model.asked[-1])[-1] == f"question {DUE + 1}"
    assert talk.model.asked[-1].system == talk.model.asked[-2].system != ""


def test_a_turn_and_a_compaction_at_once_compact_once(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    talk.model.slow = 0.05

    async def both() -> None:
        asked = compact(talk.session, 2, talk.show, dry_run=False)
        await asyncio.gather(asked, talk.send(question(DUE)))

    asyncio.run(both())
    assert len(talk.model.summaries) == 1


def test_too_much_for_the_summariser_is_read_in_parts(talk: Talk) -> None:
    talk.chat(1, 5)
    talk.model.window = 900
    talk.open()
    found = talk.compact(keep=1)
    *parts, joined = [text_of(each.messages[0]) for each in talk.model.summaries]
    assert len(parts) > 1
    read = "\n".join(parts)
    assert all(f"question {n}" in read and f"answer {n}" in read for n in range(1, 5))
    assert joined.count("Its data are being cleaned.") == len(parts)
    assert f"compacting 8 messages, part 2 of {len(parts)}" in talk.notes
    assert len(found.summary.covers) == 8


def test_a_summariser_that_overflows_is_asked_once_more_by_half(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    longest = 2000

    def refusing(request: object) -> str | Exception:
        length = len(text_of(talk.model.summaries[-1].messages[0]))
        return ContextOverflow(None, 300) if length > longest else "A part of the talk."

    talk.model.told = refusing
    talk.ask(question(DUE))
    assert len(summaries(talk)) == 1
    lengths = [len(text_of(each.messages[0])) for each in talk.model.summaries]
    assert lengths[0] > longest
    assert max(lengths[1:]) <= longest


def test_a_summariser_that_overflows_again_is_given_up(talk: Talk) -> None:
    talk.model.told = lambda _: ContextOverflow(900, 300)
    talk.chat(1, DUE - 1)
    outcome = talk.ask(question(DUE))
    assert len(talk.model.summaries) == 2
    assert "compacting failed" in outcome.lines[-1]
    assert talk.records() == []


def test_what_is_pinned_is_sent_word_for_word_and_never_compacted(talk: Talk) -> None:
    talk.chat(1, 2)
    pinned = talk.session.view().path()[0]
    marking.mark(talk.session, [pinned.id], "pin")
    talk.chat(3, 12)
    assert len(talk.model.summaries) >= 2
    for request in talk.model.summaries:
        said = text_of(request.messages[0])
        assert "question 1\n" not in said
        assert "answer 1 " not in said
    assert sent(talk.model.asked[-1])[:2] == ["question 1", "answer 1 "]
    view = talk.session.view()
    assert look(view.path(), view.records).status(pinned.id) == "active"


def test_a_side_turn_stores_no_summary(talk: Talk) -> None:
    talk.chat(1, DUE - 1)
    outcome = talk.ask(question(DUE), side=True)
    assert len(talk.model.summaries) == 1
    assert talk.model.asked[-1].system
    assert summaries(talk) == []
    assert "--off" not in outcome.lines[-1]


def test_a_summary_that_does_not_fit_is_not_kept(talk: Talk) -> None:
    talk.chat(1, 1)
    first = talk.session.view().path()[0].id
    marking.mark(talk.session, [first], "pin")
    talk.chat(2, DUE - 1)
    talk.model.told = lambda _: " ".join(f"w{n}" for n in range(150))
    talk.kernel.settings |= {"window": "1000", "compact_to": "0.0", "reserve_output": "0"}
    talk.open()
    outcome = talk.ask(question(DUE))
    assert len(summaries(talk)) <= 1
    plan = outcome.turn.plan
    assert plan
    assert plan.tokens <= plan.budget.input


def test_a_dry_run_asks_the_summariser_and_stores_nothing(talk: Talk) -> None:
    talk.chat(1, 5)
    before = talk.stored()
    made = talk.compact(dry_run=True)
    assert len(talk.model.summaries) == 1
    assert made.summary.text.startswith("The user plans")
    assert talk.stored() == before
    talk.open()
    assert talk.stored() == before


def test_it_is_off_where_nobody_asked_for_it(talk: Talk) -> None:
    quiet = compacting(talk.kernel.folder / "quiet", talk.kernel.store, overflow="trim")
    quiet.chat(1, DUE + 2)
    assert quiet.model.summaries == []
