"""Adding again: what is kept, what is cut and embedded anew, what is no longer there."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.api.shelf import status_of
from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.rag.embedders import installed

LONG = "熊猫吃竹子，狐狸捕老鼠。" * 40 + "\n\n" + "The panda eats bamboo all day long. " * 200
minilm = pytest.mark.skipif("minilm" not in installed(), reason="minilm is not installed")


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.md": LONG, "b.md": "短 text 🦊", "sub/c.md": "third"}.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    return tmp_path / "docs"


@pytest.fixture
def found(docs: Path) -> jan.Collection:
    """A collection beside the documents: their sources are relative to it."""
    return jan.Collection(docs.parent / "notes.db")


def rows(table: pd.DataFrame, column: str = "status") -> dict[str, Any]:
    return dict(zip(table.source, table[column], strict=True))


def test_without_sizes_a_document_keeps_its_recipe(found: jan.Collection, docs: Path) -> None:
    found.add("docs", size=512, splitter="markdown", embedder="hash")
    again = found.add("docs")
    assert set(again.status) == {"unchanged"}
    (docs / "a.md").write_text(LONG + "and more", encoding="utf-8")
    (docs / "new.md").write_text("new", encoding="utf-8")
    recipes = rows(found.add("docs"), "recipe")
    assert set(recipes.values()) == {"markdown 512/40 tokens (o200k_base)"}


def test_only_what_is_named_changes(found: jan.Collection) -> None:
    found.add("docs/a.md", size=512, overlap=100, splitter="markdown", embedder="hash")
    found.add("docs/b.md", size=128)
    assert rows(found.documents(), "recipe") == {
        "docs/a.md": "markdown 512/100 tokens (o200k_base)",
        "docs/b.md": "markdown 128/25 tokens (o200k_base)",
    }
    found.add("docs", splitter="recursive")
    assert set(found.documents().recipe) == {"recursive 128/25 tokens (o200k_base)"}
    found.add("docs/sub", overlap=0)
    assert rows(found.documents(), "recipe")["docs/sub/c.md"].startswith("recursive 128/0 ")
    found.add("docs/sub", splitter="chars")
    assert rows(found.documents(), "recipe")["docs/sub/c.md"] == "chars 512/64 chars"
    found.add("docs/sub", size=200)  # named, although it looks like the default
    assert rows(found.documents(), "recipe")["docs/sub/c.md"] == "chars 200/25 chars"


def test_who_counts_tokens_is_no_reason_to_cut_again(
    found: jan.Collection, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found.add("docs", embedder="hash")
    with found._shelf.open().database.writing() as connection:
        connection.execute("UPDATE document SET cut = replace(cut, 'o200k_base', 'another')")
    assert set(found.add("docs").status) == {"unchanged"}
    (docs / "b.md").write_text("changed", encoding="utf-8")
    assert rows(found.add("docs"))["docs/b.md"] == "replaced"


@minilm
def test_another_embedder_splits_what_it_cannot_read_whole(found: jan.Collection) -> None:
    found.add("docs", size=1000, embedder="hash")
    added = found.add("docs/b.md", embedder="minilm")
    assert rows(added) == {
        "docs/b.md": "unchanged", "docs/a.md": "replaced", "docs/sub/c.md": "unchanged",
    }  # fmt: skip
    reasons = rows(added, "reason")
    assert reasons["docs/sub/c.md"] == "re-embedded by minilm"
    assert reasons["docs/a.md"].startswith("re-embedded by minilm; ")
    assert "split for minilm: it reads 512 tokens" in reasons["docs/a.md"]
    stored = rows(found.documents(), "reason")
    assert "split for minilm: it reads 512 tokens" in stored["docs/a.md"]
    assert pd.isna(stored["docs/sub/c.md"])
    assert "minilm cannot read the script" in stored["docs/a.md"]
    back = found.add("docs/b.md", embedder="hash")
    assert rows(back)["docs/a.md"] == "replaced"
    assert rows(back, "reason")["docs/a.md"] == "re-embedded by hash"
    assert set(found.add("docs").status) == {"unchanged"}


def test_none_is_a_choice_that_is_kept_and_said(found: jan.Collection) -> None:
    found.add("docs", embedder="hash")
    assert found.search("panda").metric[0] == "convex"
    none = found.add("docs/b.md", embedder="none")
    assert set(none.status) == {"unchanged"}
    assert set(none.reason) == {"its vectors are forgotten (--embedder none)"}
    assert len(none) == 3
    bare = found.add("docs")
    assert (set(bare.status), set(bare.reason.isna())) == ({"unchanged"}, {True})
    hits = found.search("panda")
    assert hits.metric[0] == "bm25"
    assert "as it was told (--embedder none)" in "".join(hits.attrs["jan"]["said"])
    assert set(found.documents().reason) == {"no vectors (--embedder none)"}
    assert rows_of_doctor(found)["embedder"] == "none, as it was told (--embedder none): words only"
    with pytest.raises(EmbedderError, match="--embedder none") as caught:
        found.search("panda", mode="vector")
    assert caught.value.next_step.endswith("--embedder NAME")
    again = found.add("docs/b.md", embedder="hash")
    assert set(again.reason) == {"embedded by hash"}
    assert found.search("panda").metric[0] == "convex"
    assert found.documents().reason.isna().all()


def test_none_for_a_new_collection_is_listed(docs: Path) -> None:
    jan.Collection("words").add("docs", embedder="none")
    jan.Collection("words").add("docs")
    assert jan.collections().embedder.tolist() == ["none"]


def rows_of_doctor(found: jan.Collection) -> dict[str, str]:
    table = found.doctor()
    return dict(zip(table.check, table.detail, strict=True))


def test_what_is_no_longer_there_is_told_and_kept(found: jan.Collection, docs: Path) -> None:
    found.add("docs", embedder="hash")
    (docs / "a.md").unlink()
    (docs / "b.md").rename(docs / "my notes.md")
    for given in ("docs", "docs/*.md", ["docs/sub", "docs"]):
        added = found.add(given)
        assert rows(added)["docs/a.md"] == "skipped"
        assert rows(added, "reason")["docs/a.md"].startswith("no longer there: %rag remove -c ")
        assert rows(added, "reason")["docs/a.md"].endswith(" docs/a.md")
        assert added.source.is_unique
    assert rows(found.add("docs/a.md"), "reason")["docs/a.md"].startswith("no longer there: ")
    assert "docs/a.md" not in rows(found.add("docs/sub"))
    assert len(found.search("bamboo", mode="keyword")) > 0
    assert rows_of_doctor(found)["files"].endswith(": docs/a.md, docs/b.md")
    found.remove("docs/a.md")
    found.remove("docs/b.md")
    assert "files" not in rows_of_doctor(found)


def test_rows_of_a_table_are_no_files(found: jan.Collection) -> None:
    found.add(pd.Series(["one", "二 🦊"], name="docs"), embedder="hash")
    assert "files" not in rows_of_doctor(found)
    assert not [each for each in found.add("docs").source if each in ("docs/0", "docs/1")]


def test_a_folder_or_a_pattern_is_removed(
    found: jan.Collection, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found.add("docs", embedder="hash")
    with pytest.raises(RetrievalError, match=r"closest: 'docs/b\.md'"):
        found.remove("doc/b.md")
    monkeypatch.chdir(docs)
    found.remove("b.md")
    found.remove(docs / "sub")
    assert found.documents().source.tolist() == ["docs/a.md"]
    found.remove(f"{docs}/*.md")
    assert found.documents().empty


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "'' names no file"), (" ", "' ' names no file"), ("a\0b", "holds a NUL"),
        (["docs", ""], "'' names no file"), (Path("a\0b"), "holds a NUL"), (None, "NoneType"),
        (b"docs", "bytes"), ({"a": 1}, "dict"), (["docs", 5], "int"),
    ],
)  # fmt: skip
def test_what_names_nothing_is_refused_before_anything_is_made(
    found: jan.Collection, given: Any, said: str
) -> None:
    with pytest.raises(SettingError, match=said) as caught:
        found.add(given)
    assert caught.value.next_step
    assert not Path("notes.db").exists()


@pytest.mark.parametrize("given", ["", "a\0b", None])
def test_nothing_is_removed_by_no_name(found: jan.Collection, given: Any) -> None:
    found.add("docs", embedder="hash")
    with pytest.raises(SettingError):
        found.remove(given)
    assert len(found.documents()) == 3


def test_a_table_without_its_column_leaves_no_collection(docs: Path) -> None:
    with pytest.raises(SettingError, match="no column 'body'"):
        jan.Collection("papers").add(pd.DataFrame({"title": ["x"]}), text="body")
    assert jan.collections().empty


def test_columns_called_like_names_of_a_filter_can_be_named(docs: Path) -> None:
    frame = pd.DataFrame({"body": ["一 one", "two"], "page": [7, 8], "source": ["x", "y"]})
    found = jan.Collection("rows")
    added = found.add(frame, text="body", embedder="none")
    assert added.attrs["jan"]["said"] == [
        "the column 'page' of the table is column.page in --where",
        "the column 'source' of the table is column.source in --where",
    ]
    assert found.search("one", where="column.page = 7").source.tolist() == ["body/0"]
    assert found.search("one", where={"column.source": "y"}).empty


def test_the_file_behind_a_link_is_the_document(found: jan.Collection, docs: Path) -> None:
    (docs / "a link.md").symlink_to("b.md")
    found.add("docs", embedder="hash")
    assert "docs/a link.md" not in rows(found.documents())
    assert "docs/b.md" in rows(found.documents())


def test_size_counts_what_is_not_yet_in_the_file(docs: Path) -> None:
    found = jan.Collection("words")
    found.add("docs", embedder="hash")
    path = found._shelf.existing().path
    log = path.with_name(f"{path.name}-wal")
    assert log.stat().st_size > 0
    whole = path.stat().st_size + log.stat().st_size
    assert jan.collections().size_mb[0] >= whole / 1e6


def test_the_status_says_that_no_vectors_are_wanted(found: jan.Collection) -> None:
    found.add("docs", embedder="hash")
    assert "embedder    hash" in status_of(found._shelf)
    found.add("docs", embedder="none")
    assert "embedder    none, as it was told (--embedder none)" in status_of(found._shelf)


def test_a_collection_that_cannot_be_read_can_be_deleted(docs: Path) -> None:
    jan.Collection("words").add("docs", embedder="none")
    folder = jan.Collection("words")._shelf.existing().path.parent
    (folder / "strange.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(RetrievalError, match="cannot be read") as caught:
        jan.Collection("strange").documents()
    assert "%rag delete 'strange'" in caught.value.next_step
    jan.Collection("strange").delete()
    assert jan.collections().collection.tolist() == ["words"]
    assert [each.name[-10:] for each in (folder / "bin").iterdir()] == ["strange.db"]
