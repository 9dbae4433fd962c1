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


def test_a_file_is_called_by_its_own_name_and_not_by_a_link(folder: Path) -> None:
    (folder / "a link.md").symlink_to(folder / "sub" / "c.md")
    (folder / "a folder").symlink_to(folder / "sub", target_is_directory=True)
    (folder / "outside.md").symlink_to(folder / ".git" / "x.md")
    whole = ["a.md", "b.txt", "outside.md", "sub/c.md", "sub/deep/d.md", "é/ß.md"]
    assert names(folder, folder) == whole
    assert names(folder, f"{folder}/**/*.md") == [each for each in whole if each != "b.txt"]
    assert names(folder, folder / "a link.md", folder / "sub" / "c.md") == ["sub/c.md"]
    assert names(folder, folder / "a link.md") == ["a link.md"]


def test_below_a_folder_that_is_a_link_itself_nothing_changes(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "a link.md").symlink_to("b.txt")
    way = tmp_path_factory.mktemp("way") / "here"
    way.symlink_to(folder, target_is_directory=True)
    assert names(way, way) == names(folder, folder)
    assert names(way, f"{way}/*") == ["a.md", "b.txt"]


@pytest.mark.parametrize("pattern", ["**/*.md", "*/*/*/*/*.md", "**/c.md", "sub/**"])
def test_a_pattern_follows_no_link_back(folder: Path, pattern: str) -> None:
    for at in (folder, folder / "sub", folder / "sub" / "deep"):
        (at / "loop").symlink_to(folder, target_is_directory=True)
        (at / "self").symlink_to(".", target_is_directory=True)
    found = names(folder, f"{folder}/{pattern}")
    assert not [each for each in found if "loop" in each or "self" in each]


def test_all_below_a_folder_can_be_written_as_a_pattern(folder: Path) -> None:
    assert names(folder, f"{folder}/sub/**") == ["sub/c.md", "sub/deep/d.md"]
    assert names(folder, f"{folder}/**/.hidden.md") == ["sub/.hidden.md"]
