"""Changes of a tree with our own records: the codec's law, and the contract of every Store."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jan_magics.domain.errors import StoreError, ThreadNotFound
from jan_magics.domain.messages import Json, text_of
from jan_magics.domain.overlays import (
    CellLink,
    Change,
    Hidden,
    Mark,
    NextRoot,
    Overlay,
    SegmentCut,
    SideTurn,
    Summary,
    TrimCut,
    Undone,
)
from jan_magics.domain.protocols import Store
from jan_magics.domain.tree import Changes
from jan_magics.storage.codec import canonical
from jan_magics.storage.overlays import decode_overlay, encode_overlay
from tests.storage.samples import (
    START,
    ids,
    json_values,
    make_message,
    make_thread,
    overlays,
    row,
)
from tests.storage.writer import open_store

EVERY: tuple[Overlay, ...] = (
    CellLink("a.ipynb", "c1", 0, "m"),
    SideTurn(make_message("q"), make_message("a", "aside", parent="q")),
    Hidden("m"),
    Hidden("m", hidden=False),
    NextRoot(),
    NextRoot("näme \ud800", pending=False),
    Change("c", "branch", {"head": "m", "n": [None, 0, False]}, START),
    Undone("c"),
    SegmentCut("m", "c"),
    Summary("m", "what was säid", {"paths": ("a/b.csv", "数据.csv")}, ("q", "m"), "c"),
    Mark("m", "pin", "a", "c"),
    TrimCut("m", "openai:gpt", 8192),
)


@given(overlays)
@settings(max_examples=100, deadline=None)
def test_an_overlay_survives_the_disk(overlay: Overlay) -> None:
    line = canonical(encode_overlay(overlay)).encode()
    assert decode_overlay(json.loads(line)) == overlay
    assert b"\n" not in line


KINDS = [encode_overlay(overlay)["type"] for overlay in EVERY]


@given(st.sampled_from(KINDS), json_values, st.data())
@settings(deadline=None)
def test_a_record_that_says_something_else_is_not_read(
    kind: Json, value: Json, data: st.DataObject
) -> None:
    good = next(each for each in map(encode_overlay, EVERY) if each["type"] == kind)
    key = data.draw(st.sampled_from(sorted(good)))
    found = decode_overlay({**good, key: value})
    assert found is None or encode_overlay(found)["type"] in KINDS


@pytest.mark.parametrize(
    "record", [None, [], {}, {"type": "later kind"}, {"type": 3}, {"type": "hidden", "id": "m"}]
)
def test_what_is_no_overlay_of_ours_is_none(record: Json) -> None:
    assert decode_overlay(record) is None


def test_overlays_come_back_in_order(kind: str, store: Store, tmp_path: Path) -> None:
    assert list(store.overlays("t")) == []
    store.apply("t", Changes(), EVERY[:3])
    store.apply("t", Changes(), EVERY[3:4])
    store.apply("t", Changes((make_message("m"),)), EVERY[4:])
    assert tuple(store.overlays("t")) == EVERY
    store.close()
    assert tuple(open_store(kind, tmp_path).overlays("t")) == EVERY
    assert ids(store.messages("t")) == ["m"]


def test_an_answer_comes_with_its_pointer_and_records(store: Store) -> None:
    question = make_message("q", parent=None)
    store.apply("t", Changes((question,), "q"), [CellLink("n", "c", 0, "q")])
    answer = make_message("a", "answer", parent="q")
    store.apply("t", Changes((replace(question, active_child_id="a"), answer)))
    found = store.messages("t")
    assert [(m.id, m.active_child_id) for m in found] == [("q", "a"), ("a", None)]
    assert store.thread("t").metadata == {"activeRootId": "q"}
    store.apply("t", Changes(active_root_id=None))
    assert store.thread("t").metadata == {}
    assert (row(store).messages, row(store).branches) == (2, 1)


def test_a_change_deletes_moves_and_points_at_once(store: Store) -> None:
    chain = (
        make_message("a", parent=None),
        make_message("b", parent="a"),
        make_message("c", parent="b"),
    )
    store.apply("t", Changes(chain, "a"))
    store.apply("t", Changes((replace(chain[2], parent_id="a"),), deleted=("b", "never there")))
    assert [(m.id, m.parent_id) for m in store.messages("t")] == [("a", None), ("c", "a")]
    assert store.tombstones("t") == {"b": "a"}
    store.apply("t", Changes((make_message("b", "late"), make_message("d")), deleted=("b",)))
    assert ids(store.messages("t")) == ["a", "c", "d"]
    assert store.tombstones("t") == {"b": "a"}


def test_tombstones_name_parents(store: Store) -> None:
    odd = "ø\x00\ud800"
    store.save(make_message("r", parent=None), make_message(odd, parent="r\ud801"))
    store.save(make_message("u"))
    assert store.tombstones("t") == {}
    for name in ("r", odd, "u"):
        store.delete("t", name)
    assert store.tombstones("t") == {"r": None, odd: "r\ud801", "u": None}


def test_nothing_new_changes_nothing(store: Store) -> None:
    store.apply("t", Changes((make_message("a"),), "a"))
    before = store.thread("t")
    store.apply("t", Changes())
    store.apply("t", Changes((make_message("a"),), "a", ("never there",)))
    assert store.thread("t") == before
    store.apply("t", Changes(), [Hidden("a")])
    assert store.thread("t").updated_at > before.updated_at


def test_changes_of_another_thread_are_refused_whole(store: Store) -> None:
    store.create_thread(make_thread("u"))
    with pytest.raises(StoreError, match="several threads"):
        store.apply("t", Changes((make_message("a", thread_id="u"),)), [Hidden("a")])
    assert (list(store.messages("u")), list(store.overlays("t"))) == ([], [])


def test_a_thread_that_is_not_there_has_no_records(store: Store) -> None:
    store.delete_thread("t")
    for call in (store.overlays, store.tombstones, lambda name: store.apply(name, Changes())):
        for name in ("t", "never there", "../x"):
            with pytest.raises(ThreadNotFound):
                call(name)
    store.restore_thread("t")
    store.apply("t", Changes((make_message("a"),)))
    assert text_of(store.messages("t")[0]) == "hello"
