"""The whole life of a thread's context: what is sent and what is seen after every step."""

from jan_magics.context.segments import look
from jan_magics.engine import marking
from tests.engine.compacted import Talk, question, sent

FIRST = "Summary one. The data are cleaned."
SECOND = "Summary two. The data are cleaned and plotted."
HEAD = "## Summary of the conversation so far"


def statuses(talk: Talk) -> str:
    """Return a letter a message of the path: a for active, c for compressed, s for archived."""
    view = talk.session.view()
    seen = look(view.path(), view.records)
    short = {"active": "a", "compressed": "c", "archived_segment": "s"}
    return "".join(short[seen.status(message.id)] for message in view.path())


def turns(first: int, last: int) -> list[str]:
    """Return what is sent of some turns, the last of which is asked."""
    said = [each for n in range(first, last) for each in (f"question {n}", f"answer {n} ")]
    return [*said, f"question {last}"]


def folds(talk: Talk) -> list[str]:
    """Return the folded lines of the view, and the summaries under them."""
    return [line for line in talk.view().split("\n") if line.startswith(("▸", "Summary"))]


def check(talk: Talk, system: str, messages: list[str], shown: str, folded: list[str]) -> None:
    """Check the newest request and the view, now and after a restart."""
    request = talk.model.asked[-1]
    assert (request.system, sent(request)) == (system, messages)
    for _ in range(2):
        assert statuses(talk) == shown
        assert folds(talk) == folded
        talk.open()


def test_chat_clear_chat_compact_chat_compact_chat(talk: Talk) -> None:
    summaries = iter((FIRST, SECOND))
    talk.model.told = lambda _: next(summaries)

    talk.chat(1, 2)
    check(talk, "", turns(1, 2), "aaaa", [])

    _, count = marking.clear(talk.session)
    assert count == 4
    talk.chat(3, 3)
    cleared = "▸ context cleared · 4 messages"
    check(talk, "", turns(3, 3), "ssssaa", [cleared])

    talk.chat(4, 7)
    check(talk, "", turns(3, 7), "ssss" + "aa" * 5, [cleared])
    assert talk.model.summaries == []

    (by_itself,) = talk.chat(8, 8)
    system = f"{HEAD}\n\n{FIRST}"
    folded = [cleared, "▸ summary of 6 messages", FIRST]
    check(talk, system, turns(6, 8), "ssss" + "cc" * 3 + "aa" * 3, folded)
    assert by_itself.lines[-1].startswith("6 messages compacted into a summary: ≈624 → ≈")

    talk.chat(9, 9)
    check(talk, system, turns(6, 9), "ssss" + "cc" * 3 + "aa" * 4, folded)

    talk.compact(keep=1)
    system = f"{HEAD}\n\n{SECOND}"
    folded = [cleared, "▸ summary of 12 messages", SECOND]
    assert statuses(talk) == "ssss" + "cc" * 6 + "aa"

    talk.chat(10, 10)
    check(talk, system, turns(9, 10), "ssss" + "cc" * 6 + "aa" * 2, folded)

    # Nothing was deleted, and nobody said what nobody said.
    said = talk.session.view().index.messages
    assert [message.role for message in said] == ["user", "assistant"] * 10
    assert question(1) in [message.parts[0].text for message in said]  # type: ignore[union-attr]
