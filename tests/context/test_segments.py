"""What a path sees of our records."""

from dataclasses import replace

from jan_magics.context.segments import ARCHIVED, COMPRESSED, TRUNCATED, look
from jan_magics.domain.overlays import Hidden, Mark, Overlay, SegmentCut, Summary, Undone
from tests.context.histories import talk

PATH = talk(5)
FIRST_TWO = Summary("a1", "told", {}, ("q0", "a0", "q1", "a1"), "s1")


def test_a_summary_stands_for_what_it_covers_where_it_is_seen() -> None:
    seen = look(PATH, [FIRST_TWO])
    assert seen.summary == FIRST_TWO
    assert seen.statuses == dict.fromkeys(FIRST_TWO.covers, COMPRESSED)
    # A branch made before its last message still sees the messages.
    assert look(PATH[:3], [FIRST_TWO]).statuses == {}
    assert look(PATH, [FIRST_TWO, Undone("s1")]).summary is None


def test_the_summary_that_reaches_furthest_counts() -> None:
    later = Summary("a2", "more", {}, (*FIRST_TWO.covers, "q2", "a2"), "s2")
    assert look(PATH, [FIRST_TWO, later]).summary == later
    assert look(PATH, [later, FIRST_TWO]).summary == later
    assert look(PATH, [FIRST_TWO, later, Undone("s2")]).summary == FIRST_TWO
    assert look(PATH[:5], [FIRST_TWO, later]).summary == FIRST_TWO


def test_a_cleared_segment_takes_its_summary_along() -> None:
    seen = look(PATH, [FIRST_TWO, SegmentCut("a2", "k")])
    assert seen.summary is None
    assert (seen.segment, set(seen.statuses.values())) == (6, {ARCHIVED})
    assert list(seen.statuses) == [message.id for message in PATH[:6]] or len(seen.statuses) == 6
    assert look(PATH, [FIRST_TWO, SegmentCut("a2", "k"), Undone("k")]).summary == FIRST_TWO


def test_summaries_on_both_sides_of_a_clearing_hold_once_it_is_taken_back() -> None:
    later = Summary("a3", "more", {"paths": ("b.csv",)}, ("q3", "a3"), "s2")
    records: list[Overlay] = [
        replace(FIRST_TWO, ledger={"paths": ("a.csv",)}),
        SegmentCut("a2", "k"),
        later,
    ]
    assert look(PATH, records).summary == later
    seen = look(PATH, [*records, Undone("k")])
    assert seen.summary
    assert (seen.summary.text, seen.summary.change) == ("told\n\nmore", "s2")
    assert seen.summary.ledger == {"paths": ("a.csv", "b.csv")}
    assert [m.id for m in PATH if m.id not in seen.statuses] == ["q2", "a2", "q4"]
    # The next one takes both along.
    third = Summary("a3", "all", {}, (*seen.summary.covers, "q2", "a2"), "s3")
    assert look(PATH, [*records, Undone("k"), third]).summary == third
    assert look(PATH, [*records, Undone("k"), Undone("s2")]).summary == records[0]


def test_a_pin_outlasts_a_clearing_and_a_summary() -> None:
    pin = Mark("a1", "pin", "a1", "p")
    for record in (FIRST_TWO, SegmentCut("a2", "k")):
        seen = look(PATH, [record, pin])
        assert seen.pinned == {"q1", "a1"}
        assert seen.status("q1") == seen.status("a1") == "active"
        assert seen.status("q0") != "active"
    keep = Mark("a1", "keep", "a1", "p")
    kept = look(PATH, [FIRST_TWO, keep])
    assert kept.status("q1") == kept.status("a1") == "active"
    assert look(PATH, [SegmentCut("a2", "k"), keep]).status("a1") == ARCHIVED


def test_an_answer_goes_with_its_hidden_question_but_not_with_one_in_a_summary() -> None:
    for record in (Hidden("q2"), Mark("q2", "drop", "q4", "m")):
        seen = look(PATH, [record])
        assert seen.statuses == {"q2": TRUNCATED, "a2": TRUNCATED}
        assert seen.led == {"a2"}
    assert look(PATH, [Hidden("a2")]).statuses == {"a2": TRUNCATED}
    pinned = look(PATH, [Hidden("q2"), Mark("a2", "pin", "q4", "m")])
    assert pinned.status("a2") == TRUNCATED


def test_what_is_hidden_is_hidden_before_all_else() -> None:
    seen = look(PATH, [FIRST_TWO, Hidden("q0"), Hidden("q1"), Hidden("q1", hidden=False)])
    assert (seen.status("q0"), seen.status("q1")) == (TRUNCATED, COMPRESSED)
    drop = Mark("a3", "drop", "a3", "d")
    assert look(PATH, [drop]).status("a3") == TRUNCATED
    assert look(PATH, [drop, Mark("a3", "keep", "a3", "e")]).status("a3") == "active"
