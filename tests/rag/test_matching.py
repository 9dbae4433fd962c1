"""Which documents a path, a folder or a pattern means, there or no longer."""

from pathlib import Path

import pytest

from jan_magics.rag.matching import gone, matches, meant, none_is, typed

SOURCES = (
    "docs/a.md", "docs/b/笔记 🦊.md", "docs/b/c.txt", "docsx/a.md", "https://a.example/x",
    "https://a.example/y", "title/0", "title/1", "/else/where.md",
)  # fmt: skip


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("docs/a.md", ["docs/a.md"]),
        ("./docs/../docs/a.md", ["docs/a.md"]),
        ("~/home.md", ["home.md"]),
        ("docs", ["docs/a.md", "docs/b/笔记 🦊.md", "docs/b/c.txt"]),
        ("docs/b/", ["docs/b/笔记 🦊.md", "docs/b/c.txt"]),
        ("docs/**/*.md", ["docs/a.md", "docs/b/笔记 🦊.md"]),
        ("docs/*", ["docs/a.md"]),
        ("**/*.md", ["docs/a.md", "docs/b/笔记 🦊.md", "docsx/a.md", "home.md"]),
        ("docs/b/笔记*", ["docs/b/笔记 🦊.md"]),
        ("title", ["title/0", "title/1"]),
        ("title/[0-0]", ["title/0"]),
        ("https://a.example/x", ["https://a.example/x"]),
        ("https://a.example", ["https://a.example/x", "https://a.example/y"]),
        ("/else/where.md", ["/else/where.md"]),
        ("/else", ["/else/where.md"]),
        ("nowhere", []),
    ],
)
def test_what_is_meant(
    given: str, wanted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert meant(given, (*SOURCES, "home.md"), tmp_path) == wanted


def test_a_path_is_read_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "docs" / "b")
    assert meant("../a.md", SOURCES, tmp_path) == ["docs/a.md"]
    assert meant(".", SOURCES, tmp_path) == ["docs/b/笔记 🦊.md", "docs/b/c.txt"]
    assert meant(tmp_path / "docs" / "a.md", SOURCES, tmp_path) == ["docs/a.md"]
    assert meant("c.txt", SOURCES, None) == []


def test_only_files_that_are_not_there_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "b").mkdir(parents=True)
    (tmp_path / "docs" / "b" / "c.txt").write_text("x", encoding="utf-8")
    assert [*gone(["docs", "docs/*.md"], SOURCES, tmp_path)] == ["docs/a.md", "docs/b/笔记 🦊.md"]
    assert [*gone(["docs"], SOURCES, None)] == []  # nobody knows where they stood


@pytest.mark.parametrize(
    ("given", "near"),
    [("docs/aa.md", "docs/a.md"), ("where.md", "/else/where.md"), ("笔记.md", "docs/b/笔记 🦊.md")],
)
def test_a_miss_names_the_nearest(given: str, near: str) -> None:
    error = none_is(given, SOURCES)
    assert f"closest: {near!r}" in error.message
    assert error.next_step == "List them with: %rag documents"


def test_a_star_stays_in_its_folder() -> None:
    assert not matches("/a/b/c.md", "/a/*.md")
    assert matches("/a/b/c.md", "/a/**")
    assert matches("/a/c.md", "/a/**/c.md")
    assert not matches("/a", "/a/**")


def test_what_has_to_be_quoted_is() -> None:
    assert (typed("a.md"), typed("my notes.md")) == ("a.md", "'my notes.md'")
