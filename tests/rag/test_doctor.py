"""The doctor of a collection: what is sound is said to be, and what is not is found."""

from pathlib import Path

import pytest

from jan_magics.domain.retrieval import Document
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.doctor import examine
from jan_magics.rag.options import Options
from tests.rag.embedding import Counting
from tests.rag.library import DOCUMENTS, add, ask, opened_file


def told(collection: SqliteCollection) -> dict[str, tuple[str, str]]:
    return {each.check: (each.status, each.detail) for each in examine(collection)}


def test_a_sound_collection(filed: SqliteCollection) -> None:
    found = told(filed)
    assert {status for status, _ in found.values()} == {"ok"}
    assert found["orphans"] == ("ok", "none")
    assert found["embedder"][1].startswith("hash 1, 256 numbers")
    assert "made when" in found["vec0"][1]
    ask(filed, "thread", Options(index="vec0"))
    assert "has all" in told(filed)["vec0"][1]


@pytest.mark.parametrize(
    ("harm", "check"),
    [
        ("DELETE FROM document WHERE n = 1", "orphans"),
        ("DELETE FROM words WHERE rowid = 2", "orphans"),
        ("INSERT INTO passage VALUES (99, x'00', 'nobody')", "orphans"),
        ("DELETE FROM vectors_1 WHERE passage = 1", "vectors"),
        ("INSERT INTO vectors_1 VALUES (99, x'00')", "vectors"),
    ],
)
def test_s10_what_belongs_to_nothing_is_counted(
    filed: SqliteCollection, harm: str, check: str
) -> None:
    with filed.file.alone() as connection:
        connection.pragma("foreign_keys", 0)
        connection.execute(harm)
    assert told(filed)[check][0] == "error"


def test_a_begun_generation_and_texts_without_a_vector(filed: SqliteCollection) -> None:
    class StopError(Exception):
        pass

    def stop(_done: int, _all: int) -> None:
        raise StopError

    add(filed, Document("odd.txt", "!!!\n"))
    assert told(filed)["vectors"] == (
        "warning", "no usable one for 1 text (zeros, NaN or infinities)",
    )  # fmt: skip
    many = Document("many.txt", "".join(f"line {n}\n" for n in range(400)))
    add(filed, many)
    with pytest.raises(StopError):
        filed.switch(Counting("2"), stop)
    assert "left to embed" in told(filed)["generation"][1]


def test_without_vectors_words_are_enough(empty_file: SqliteCollection) -> None:
    add(empty_file, *DOCUMENTS, embedder=None)
    assert told(empty_file)["embedder"][0] == "warning"


def test_s7_vacuum_gives_the_room_back(tmp_path: Path) -> None:
    fresh, used = opened_file(tmp_path / "fresh.db"), opened_file(tmp_path / "used.db")
    last = Document("a.txt", "".join(f"the last form, line {n}\n" for n in range(300)))
    for form in range(6):
        lines = (f"form {form} of a text, line {n}\n" for n in range(2000))
        add(used, Document("a.txt", "".join(lines)))
    add(used, last)
    assert told(used)["size"][0] == "warning"
    used.vacuum()
    add(fresh, last)
    fresh.vacuum()
    used.close()
    fresh.close()
    sizes = [path.stat().st_size for path in (used.file.path, fresh.file.path)]
    assert sizes[0] <= 1.1 * sizes[1]
