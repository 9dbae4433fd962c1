"""Which collection is meant: by name, by path, by owner; moved notebooks; the bin."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jan_magics.domain.errors import CollectionNotFound, RetrievalError
from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.engine.collections import Collections
from jan_magics.engine.listed import THREAD, Listed, is_path, shown_owner
from jan_magics.engine.restoring import drop_thread, take_back
from jan_magics.rag.ingest import add
from tests.storage.writer import ticking


@dataclass
class Place:
    """A kernel in a notebook; `at` is the notebook's path now, `before` those that it had."""

    folder: Path
    at: str = ""
    before: list[str] = field(default_factory=list)
    project: str | None = None
    made: int = 0

    def open(self) -> Collections:
        return Collections(
            self.folder / "collections", ticking(), self._id,
            lambda: self.at, lambda: self.before, lambda: self.project,
        )  # fmt: skip

    def _id(self) -> str:
        self.made += 1
        return f"{self.made:032x}"


def whole(document: Document, _: Recipe) -> tuple[Chunk, ...]:
    return (Chunk("c", document.id, 0, 0, len(document.text), 1),)


def fill(collections: Collections, listed: Listed, source: str = "a.md") -> None:
    collection = collections.open(listed)
    list(add(collection, [Document(source, "数据 🦊 data")], Recipe(), whole, None))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    notebook = tmp_path / "work.ipynb"
    notebook.write_text("{}", encoding="utf-8")
    return Place(tmp_path, str(notebook))


@pytest.mark.parametrize("name", ["support", 'a\'b-c "d"', "知识库 🦊", "drop table chunk;--"])
def test_a_shared_collection_is_found_by_its_name(place: Place, name: str) -> None:
    collections = place.open()
    made = collections.obtain(name)
    fill(collections, made)
    collections.close()
    again = place.open()
    assert again.existing(name) == made
    assert [each.source for each in again.open(made).documents()] == ["a.md"]
    assert (made.owner, made.base) == ("", None)
    with pytest.raises(CollectionNotFound, match="closest") as caught:
        again.existing(f"{name}x")
    assert "%rag add PATH -c" in caught.value.next_step


def test_a_notebook_has_its_own_which_follows_it(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    with pytest.raises(CollectionNotFound, match="this notebook has no collection yet"):
        collections.existing()
    assert not (tmp_path / "collections").exists()
    made = collections.obtain()
    assert (made.name, made.base) == ("work", tmp_path)
    assert shown_owner(made) == "notebook work.ipynb"
    collections.close()
    moved = tmp_path / "elsewhere" / "other.ipynb"
    moved.parent.mkdir()
    Path(place.at).rename(moved)
    place.before, place.at = [place.at], str(moved)
    assert place.open().existing().path == made.path
    assert place.open().existing().owner == f"notebook:{moved}"


def test_a_copied_notebook_does_not_take_the_collection(place: Place, tmp_path: Path) -> None:
    place.open().obtain()
    place.before, place.at = [place.at], str(tmp_path / "copy.ipynb")
    with pytest.raises(CollectionNotFound):
        place.open().existing()  # the first one is still where it was


def test_a_project_goes_before_the_notebook(place: Place) -> None:
    own = place.open().obtain()
    place.project = "论文"
    collections = place.open()
    shared = collections.obtain()
    assert shared.path != own.path
    assert shown_owner(shared) == "project 论文"
    assert collections.existing("work") == own


def test_a_path_is_a_file_of_its_own(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    assert is_path("a.db")
    assert is_path("folder/a")
    assert not is_path("a.md")
    made = collections.obtain(str(tmp_path / "库" / "a.db"))
    fill(collections, made)
    assert made.base == tmp_path / "库"
    assert collections.listed() == []
    assert collections.existing(str(tmp_path / "库" / "a.db")).name == "a"
    with pytest.raises(RetrievalError, match="is no collection"):
        collections.obtain(str(tmp_path / "a.txt"))
    with pytest.raises(CollectionNotFound):
        collections.existing(str(tmp_path / "none.db"))


def test_a_file_of_somebody_else_is_told_and_left_alone(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    collections.obtain("mine")
    strange = tmp_path / "collections" / "strange.db"
    strange.write_bytes(b"not a database at all" * 100)
    names = {each.name: each.fault for each in collections.listed()}
    assert names["mine"] is None
    assert names["strange"]
    with pytest.raises(RetrievalError, match="cannot be read"):
        collections.existing("strange")
    assert strange.read_bytes().startswith(b"not a database")


def test_two_of_one_name_are_named_by_their_files(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    collections.of_owner(THREAD + "1" * 32, "notes")
    collections.of_owner(THREAD + "2" * 32, "notes")
    with pytest.raises(RetrievalError, match="several collections are called 'notes'") as caught:
        collections.find("notes")
    assert ".db" in caught.value.next_step
    # The notebook's own goes before those of others, a shared one before all.
    own = collections._made("notes", collections.owner()[1])
    assert collections.find("notes") == own
    shared = collections._made("notes", "")
    assert collections.find("notes") == shared


def test_deleting_moves_to_the_bin_and_leaves_nothing(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    made = collections.obtain("support")
    fill(collections, made)
    place_in_bin = collections.delete(made)
    assert collections.find("support") is None
    assert [each.name for each in (tmp_path / "collections").iterdir()] == ["bin"]
    kept = collections.open(Listed(place_in_bin, "support"))
    assert [each.source for each in kept.documents()] == ["a.md"]
    thread = collections.of_owner(THREAD + "3" * 32, "t")
    drop_thread(collections, "3" * 32)
    assert not thread.path.exists()


def test_what_was_deleted_comes_back_to_its_place(place: Place, tmp_path: Path) -> None:
    collections = place.open()
    shared, own = collections.obtain("知识库 🦊"), collections.obtain()
    filed = collections.obtain(str(tmp_path / "elsewhere" / "my notes.db"))
    for each in (shared, own, filed):
        fill(collections, each)
        collections.delete(each)
    assert [each.name for each in collections.bin.listed()] == ["my notes", "work", "知识库 🦊"]
    with pytest.raises(CollectionNotFound, match="'知识库 🦊' is in the bin") as caught:
        collections.existing("知识库 🦊")
    assert caught.value.next_step == "Bring it back: %rag delete '知识库 🦊' --off"
    with pytest.raises(CollectionNotFound, match="this notebook's collection is in the bin"):
        collections.existing()
    assert take_back(collections, "知识库 🦊").path == shared.path
    assert take_back(collections, None) == own
    assert take_back(collections, str(filed.path)) == filed
    assert collections.bin.listed() == []
    collections.close()
    again = place.open()
    for each in (shared, own, filed):
        assert [row.source for row in again.open(each).documents()] == ["a.md"]
    assert again.existing() == own


def test_of_several_in_the_bin_the_last_comes_back(place: Place) -> None:
    collections = place.open()
    for source in ("first.md", "second.md"):
        made = collections.obtain("notes")
        fill(collections, made, source)
        collections.delete(made)
    back = take_back(collections, "notes")
    assert [row.source for row in collections.open(back).documents()] == ["second.md"]
    with pytest.raises(RetrievalError, match="taken the place of 'notes'") as caught:
        take_back(collections, "notes")
    named = caught.value.next_step.partition("-c ")[2].strip("'")
    assert [row.source for row in collections.open(collections.existing(named)).documents()] == [
        "first.md"
    ]
    with pytest.raises(CollectionNotFound, match="no collection 'nots' in the bin") as caught:
        take_back(collections, "nots")
    assert caught.value.next_step == "There are: 'notes'"


def test_a_deleted_default_gives_way_to_the_own_one(place: Place) -> None:
    collections = place.open()
    own, other = collections.obtain(), collections.obtain("animals")
    collections.default = "animals"
    collections.delete(own)
    assert collections.default == "animals"
    collections.delete(other)
    assert collections.find() is None
    collections.default = "gone elsewhere"
    with pytest.raises(CollectionNotFound) as caught:
        collections.existing()
    assert caught.value.next_step.endswith("take the notebook's own again: %rag use")


def test_what_is_not_yet_in_the_file_counts_as_its_size(place: Place) -> None:
    collections = place.open()
    made = collections.obtain("animals")
    fill(collections, made)
    log = made.path.with_name(f"{made.path.name}-wal")
    assert log.stat().st_size > 0
    assert made.size >= made.path.stat().st_size + log.stat().st_size
