"""Branches, undo, restarts, other stores and copies: a summary stays where it was made."""

from pathlib import Path

import pytest

from jan_magics.context.segments import look
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import text_of
from jan_magics.domain.overlays import Mark, SegmentCut, Summary
from jan_magics.engine import marking
from jan_magics.engine.branches import go
from jan_magics.engine.copies import copy_path
from jan_magics.engine.undoing import undo
from jan_magics.storage.convert import Kind, convert, open_kind
from jan_magics.storage.thread_file import write_thread_file
from jan_magics.storage.thread_folder import write_thread_folder
from jan_magics.storage.transfer import WholeStore, read_threads, take_in
from tests.engine.compacted import Talk, question, sent
from tests.engine.threads import EPOCH
from tests.storage.writer import ticking

SUMMARY = "Its data are being cleaned."


def ids(talk: Talk) -> list[str]:
    return [message.id for message in talk.session.view().path()]


def statuses(talk: Talk) -> list[str]:
    view = talk.session.view()
    seen = look(view.path(), view.records)
    return [seen.status(message.id) for message in view.path()]


def system(talk: Talk) -> str:
    return talk.model.asked[-1].system


def compacted(talk: Talk) -> list[str]:
    """Talk for four turns and compact the first two; returns the ids of the path."""
    talk.chat(1, 4)
    talk.compact(keep=2)
    assert statuses(talk) == ["compressed"] * 4 + ["active"] * 4
    return ids(talk)


def test_a_branch_made_before_it_sees_the_messages(talk: Talk) -> None:
    path = compacted(talk)
    talk.ask(question(5), at=path[1])
    assert system(talk) == ""
    assert sent(talk.model.asked[-1]) == ["question 1", "answer 1 ", "question 5"]
    assert statuses(talk) == ["active"] * 4
    # The other branch is as it was.
    go(talk.session, path[-1])
    assert statuses(talk) == ["compressed"] * 4 + ["active"] * 4


def test_a_branch_made_after_it_sees_the_summary(talk: Talk) -> None:
    path = compacted(talk)
    talk.ask(question(5), at=path[5])
    assert SUMMARY in system(talk)
    assert sent(talk.model.asked[-1]) == ["question 3", "answer 3 ", "question 5"]
    talk.ask(question(6), at=path[3])
    assert SUMMARY in system(talk)
    assert sent(talk.model.asked[-1]) == ["question 6"]


def test_another_answer_to_the_last_question_that_it_covers_sees_the_messages(talk: Talk) -> None:
    path = compacted(talk)
    talk.ask(at=path[3], aim="retry")
    assert system(talk) == ""
    assert sent(talk.model.asked[-1]) == ["question 1", "answer 1 ", "question 2"]


def test_a_branch_is_compacted_by_itself(talk: Talk) -> None:
    path = compacted(talk)
    talk.ask(question(5), at=path[1])
    talk.ask(question(6))
    talk.compact(keep=1)
    assert statuses(talk) == ["compressed"] * 4 + ["active"] * 2
    go(talk.session, path[-1])
    assert statuses(talk) == ["compressed"] * 4 + ["active"] * 4
    marking.restore(talk.session, "compact")
    assert set(statuses(talk)) == {"active"}


@pytest.mark.parametrize("how", ["off", "undo"])
def test_it_is_taken_back_also_after_a_restart(talk: Talk, how: str) -> None:
    compacted(talk)
    talk.open()
    if how == "off":
        marking.restore(talk.session, "compact")
    else:
        assert "the compaction" in undo(talk.session)[0]
    for _ in range(2):
        assert set(statuses(talk)) == {"active"}
        talk.open()
    talk.kernel.settings["overflow"] = "trim"
    talk.open()
    talk.ask(question(5))
    assert system(talk) == ""
    assert len(sent(talk.model.asked[-1])) == 9
    with pytest.raises(ThreadError, match="no summary to take back"):
        marking.restore(talk.session, "compact")


def test_of_two_summaries_the_newest_is_taken_back_first(talk: Talk) -> None:
    compacted(talk)
    talk.compact(keep=1)
    assert statuses(talk) == ["compressed"] * 6 + ["active"] * 2
    undo(talk.session)
    assert statuses(talk) == ["compressed"] * 4 + ["active"] * 4
    marking.restore(talk.session, "compact")
    assert set(statuses(talk)) == {"active"}


def everything(talk: Talk) -> Talk:
    """Make a thread with a cut, a summary and a mark."""
    talk.chat(1, 1)
    marking.clear(talk.session)
    talk.chat(2, 5)
    marking.mark(talk.session, [ids(talk)[2]], "pin")
    talk.compact(keep=1)
    kinds = {type(record) for record in talk.records()}
    assert {Summary, SegmentCut, Mark} <= kinds
    return talk


WANTED = ["archived_segment"] * 2 + ["active"] * 2 + ["compressed"] * 4 + ["active"] * 2


def test_the_other_kind_of_store_holds_the_same(talk: Talk) -> None:
    everything(talk)
    records, folder = talk.records(), talk.kernel.folder
    talk.session.engine.store.close()
    kinds: tuple[Kind, Kind] = ("jsonl", "sqlite")
    other = kinds[talk.kernel.store == "jsonl"]
    convert(folder, other, ticking())
    talk.kernel.store = other
    talk.open()
    assert talk.records() == records
    assert statuses(talk) == WANTED
    undo(talk.session)
    assert "compressed" not in statuses(talk)


@pytest.mark.parametrize("name", ["talk.json", "a folder"])
def test_an_export_holds_it_and_an_import_brings_it_back(
    talk: Talk, tmp_path: Path, name: str
) -> None:
    everything(talk)
    thread, store = talk.session.current(), talk.session.engine.store
    assert thread
    assert isinstance(store, WholeStore)
    exported = tmp_path / name
    if exported.suffix:
        exported.write_text(write_thread_file(store.whole(thread.id)), encoding="utf-8")
    else:
        write_thread_folder(store.whole(thread.id), exported)
    target = open_kind("sqlite", tmp_path / "elsewhere", ticking())
    assert [take_in(target, each).status for each in read_threads(exported, EPOCH)] == ["added"]
    path, records = talk.session.view().path(), target.overlays(thread.id)
    seen = look(path, records)
    assert [seen.status(message.id) for message in path] == WANTED
    assert [each for each in records if isinstance(each, Summary)] == [
        each for each in talk.records() if isinstance(each, Summary)
    ]
    target.close()


def test_a_copied_notebook_has_its_summary_and_its_cut(talk: Talk) -> None:
    everything(talk)
    view = talk.session.view()
    made = copy_path(
        view.path(), view.records, thread="copy", notebook="b.ipynb",
        new_id=talk.session.engine.new_id,
    )  # fmt: skip
    seen = look(made.messages, made.overlays)
    assert [seen.status(message.id) for message in made.messages] == WANTED
    assert seen.summary
    assert seen.summary.text.endswith(SUMMARY)
    assert {text_of(m) for m in made.messages if m.id in seen.pinned} == {
        text_of(m) for m in view.path()[2:4]
    }
