"""Which files paths, folders and patterns mean."""

from pathlib import Path

import pytest

from jan_magics.rag.finding import found
from jan_magics.rag.limits import Limits, Unreadable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "b.txt",
        "a.md",
        "sub/c.md",
        "sub/.hidden.md",
        ".git/x.md",
        "sub/deep/d.md",
        "é/ß.md",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words", encoding="utf-8")
    return tmp_path


def names(folder: Path, *paths: str | Path, limits: Limits | None = None) -> list[str]:
    return [
        each.reason if isinstance(each, Unreadable) else each.relative_to(folder).as_posix()
        for each in found(paths, limits or Limits())
    ]


def test_a_folder_is_its_visible_files_in_order(folder: Path) -> None:
    assert names(folder, folder) == ["a.md", "b.txt", "sub/c.md", "sub/deep/d.md", "é/ß.md"]


def test_a_pattern_is_what_matches(folder: Path) -> None:
    assert names(folder, f"{folder}/**/*.md") == ["a.md", "sub/c.md", "sub/deep/d.md", "é/ß.md"]
    assert names(folder, f"{folder}/*.md") == ["a.md"]
    assert names(folder, f"{folder}/*.pdf") == ["no file matches"]


def test_a_file_is_found_once_and_a_missing_one_is_passed_on(folder: Path) -> None:
    assert names(folder, folder / "a.md", folder, folder / "none.md")[0:2] == ["a.md", "b.txt"]
    assert names(folder, folder / "none.md") == ["none.md"]


def test_a_link_that_leads_back_is_cut(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "sub" / "broken.md").symlink_to(folder / "nowhere")
    assert names(folder, folder) == [
        "a.md", "b.txt", "sub/broken.md", "sub/c.md", "sub/deep/d.md", "é/ß.md"
    ]  # fmt: skip


def test_a_name_with_brackets_is_a_file_before_it_is_a_pattern(folder: Path) -> None:
    (folder / "[1].md").write_text("words", encoding="utf-8")
    assert names(folder, folder / "[1].md") == ["[1].md"]


def test_too_many_files_are_a_reason(folder: Path) -> None:
    assert names(folder, folder, limits=Limits(files=2)) == [
        "a.md",
        "b.txt",
        "it has more than 2 files",
    ]
