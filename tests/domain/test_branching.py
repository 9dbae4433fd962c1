"""Plans for changes of branches: what is written, and what stays as it is."""

from dataclasses import dataclass, replace

import pytest

from jan_magics.domain.branching import (
    ERROR_MARKS,
    attach,
    backfill,
    fork,
    make_sibling,
    select,
)
from jan_magics.domain.messages import (
    UNLINKED,
    FilePart,
    Message,
    Parent,
    Part,
    ProviderData,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.tree import KEEP, Changes, TreeIndex
from tests.domain.trees import (
    FORKED,
    LEGACY,
    ROOTS,
    at,
    message,
    names,
    parents,
    stored,
    unlinked,
)

IMAGE = FilePart("image/png", data=b"png")


def pointers(changes: Changes) -> dict[str, str | None]:
    return {saved.id: saved.active_child_id for saved in changes.save}


# ---------------------------------------------------------------------------------------- select


def test_switch_writes_only_the_fork() -> None:
    changes = select(TreeIndex(FORKED), "u2")
    assert pointers(changes) == {"u1": "a1"}
    assert (changes.active_root_id, changes.deleted) == (KEEP, ())


def test_switch_to_what_is_shown_writes_nothing() -> None:
    assert select(TreeIndex(FORKED), "u1") == Changes()
    assert select(TreeIndex(LEGACY), "u1") == Changes()


def test_switch_to_another_root_goes_to_the_thread() -> None:
    index = TreeIndex([*FORKED, message("u9", None, 9)])
    assert select(index, "u3") == Changes(active_root_id="u1")


def test_switch_reaches_an_orphan_without_linking_it() -> None:
    index = TreeIndex([message("u1", None, 1), message("a1", "gone", 2), message("a2", "u1", 3)])
    changes = select(index, "a1")
    assert names(stored(index, changes).path()) == ["u1", "a1"]
    assert parents(changes) == {"u1": None}


# ------------------------------------------------------------------------------ backfill, sibling


def test_backfill_links_a_legacy_thread_once() -> None:
    filled = backfill(LEGACY)
    assert [link.parent_id for link in filled] == [None, "u1", "a1", "u2"]
    assert unlinked(filled) == list(LEGACY)
    assert backfill(filled) == backfill(()) == ()


@dataclass(frozen=True)
class Edit:
    id: str
    given: tuple[Part, ...]
    want: tuple[Part, ...]
    text: str | None = "new"


CALL, RESULT = ToolCallPart("c", "f", "{}"), ToolResultPart("c", "f", 1)
EDITS = (
    Edit("no text keeps all", (TextPart("old"), IMAGE), (TextPart("old"), IMAGE), None),
    Edit("text is replaced, files stay", (TextPart("old"), IMAGE), (TextPart("new"), IMAGE)),
    Edit("file before text", (IMAGE, TextPart("old")), (IMAGE, TextPart("new"))),
    Edit("only a file", (IMAGE,), (TextPart("new"), IMAGE)),
    Edit("no part at all", (), (TextPart("new"),)),
    Edit("empty text is a text", (TextPart("old"),), (TextPart(""),), ""),
    Edit(
        "an answer with tools ends with the text",
        (TextPart("let me look"), CALL, RESULT, TextPart("old")),
        (CALL, RESULT, TextPart("new")),
    ),
    Edit(
        "opaque data belongs to the old text",
        (TextPart("old", ProviderData("p", "m", "signature")),),
        (TextPart("new"),),
    ),
)


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case.id)
def test_parts_of_a_sibling(case: Edit) -> None:
    source = replace(message("u1", None), parts=case.given)
    assert make_sibling(source, "u2", at(9), case.text).parts == case.want


def test_a_sibling_inherits_neither_active_child_nor_marks_of_errors() -> None:
    source = replace(
        message("a1", "u1", 1, "u2"),
        metadata=dict.fromkeys(ERROR_MARKS, "boom") | {"stopped": True, "inline_file_contents": []},
        extra={"status": "error", "completed_at": 1, "object": "thread.message"},
    )
    sibling = make_sibling(source, "a2", at(9))
    assert (sibling.id, sibling.parent_id, sibling.created_at) == ("a2", "u1", at(9))
    assert sibling.active_child_id is None
    assert sibling.metadata == {"stopped": True, "inline_file_contents": []}
    assert sibling.extra == {"object": "thread.message"}


def test_first_fork_of_a_legacy_thread_links_it() -> None:
    index = TreeIndex(LEGACY)
    changes = fork(index, "u2", "u9", at(9), "again")
    assert parents(changes) == {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2", "u9": "a1"}
    assert pointers(changes)["a1"] == "u9"
    assert names(stored(index, changes).path()) == ["u1", "a1", "u9"]


def test_fork_of_the_first_message_makes_a_root() -> None:
    index = TreeIndex(LEGACY)
    changes = fork(index, "u1", "u9", at(9))
    assert (changes.active_root_id, parents(changes)["u9"]) == ("u9", None)
    assert names(stored(index, changes).path()) == ["u9"]


def test_fork_elsewhere_switches_to_it() -> None:
    index = TreeIndex(ROOTS)
    changes = fork(index, "u2", "u10", at(10))
    assert (pointers(changes), changes.active_root_id) == (
        {"u1": "a1", "a1": "u10", "u10": None},
        "u1",
    )
    assert names(stored(index, changes).path()) == ["u1", "a1", "u10"]


def test_fork_of_an_orphan_stays_at_its_place() -> None:
    index = TreeIndex([*FORKED, message("a9", "gone", 9), message("u9", time=10)])
    assert parents(fork(index, "a9", "a10", at(11)))["a10"] == "u3"
    assert parents(fork(index, "u9", "u10", at(11)))["u10"] == "a9"


# ---------------------------------------------------------------------------------------- attach


@dataclass(frozen=True)
class Attach:
    id: str
    given: tuple[Message, ...]
    new: Message
    want: dict[str, Parent]
    root: object = KEEP
    tombstones: tuple[tuple[str, str | None], ...] = ()


ATTACHED = (
    Attach("first message", (), message("u1"), {"u1": None}),
    Attach("at the head", FORKED, message("a9", time=9), {"u3": "a2", "a9": "u3"}),
    Attach("a legacy thread stays legacy", LEGACY, message("u9", time=9), {"u9": UNLINKED}),
    Attach("also after its head", LEGACY, message("u9", "a2", 9), {"u9": UNLINKED}),
    Attach(
        "a link into a legacy thread links it",
        LEGACY,
        message("a9", "u1", 9),
        {"u1": None, "a1": "u1", "u2": "a1", "a2": "u2", "a9": "u1"},
    ),
    Attach("a second root", FORKED, message("u9", None, 9), {"u9": None}, root="u9"),
    Attach("a fork", FORKED, message("a9", "u1", 9), {"u1": None, "a9": "u1"}),
    Attach(
        "the parent was deleted meanwhile",
        FORKED,
        message("a9", "gone", 9),
        {"a2": "u1", "a9": "a2"},
        tombstones=(("gone", "a2"),),
    ),
    Attach(
        "an answer to nobody goes to the nearest question",
        (*FORKED, message("a4", "u3", 6)),
        message("a9", "gone", 9),
        {"u3": "a2", "a9": "u3"},
    ),
    Attach(
        "a question after nobody goes to the head",
        (*FORKED, message("a4", "u3", 6)),
        message("u9", "gone", 9),
        {"a4": "u3", "u9": "a4"},
    ),
    Attach(
        "an answer to nobody where nobody asked",
        (message("a1", None, 1),),
        message("a9", "gone", 9),
        {"a1": None, "a9": "a1"},
    ),
    Attach("a lost parent in an empty thread", (), message("u9", "gone", 9), {"u9": None}),
)


@pytest.mark.parametrize("case", ATTACHED, ids=lambda case: case.id)
def test_attach(case: Attach) -> None:
    index = TreeIndex(case.given, tombstones=dict(case.tombstones))
    changes = attach(index, case.new)
    assert parents(changes) == case.want
    assert changes.active_root_id == case.root
    head = stored(index, changes).head()
    assert head is not None
    assert head.id == case.new.id


def test_a_grown_answer_keeps_its_links_and_gets_the_pointer() -> None:
    index = TreeIndex([*FORKED, message("a8", "u1", 8), message("a9", "u3", 9, "u9")])
    grown = replace(message("a9", "u1", 9), parts=(TextPart("whole"),))
    changes = attach(index, grown)
    assert parents(changes) == {"u3": "a2", "a9": "u3"}
    assert pointers(changes) == {"u3": "a9", "a9": "u9"}


def test_a_repeated_finish_changes_nothing_even_after_a_switch() -> None:
    index = TreeIndex(FORKED)
    answer = message("a9", "u1", 9)
    index = stored(index, attach(index, answer))
    assert attach(index, answer) == Changes()
    index = stored(index, select(index, "u2"))
    assert attach(index, answer) == Changes()
    assert names(index.path()) == ["u1", "a1", "u2"]


def test_a_known_message_of_a_legacy_thread_stays_unlinked() -> None:
    grown = replace(LEGACY[3], parts=(TextPart("whole"),))
    assert attach(TreeIndex(LEGACY), grown) == Changes((grown,))


def test_a_known_root_is_shown_again() -> None:
    index = TreeIndex([*FORKED, message("u9", None, 9)])
    grown = replace(FORKED[0], parts=(TextPart("whole"),))
    assert attach(index, grown) == Changes((grown,), "u1")
