"""How a text would be cut, as a table."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.domain.errors import RetrievalError, SettingError

TEXT = "# 标题\n\n" + "今天天气很好。" * 60 + "\n\n## Second\n\n" + "Hello there. " * 120


def test_a_text_is_cut_and_every_row_says_where_it_stands() -> None:
    frame = jan.chunks(TEXT, size=80, overlap=16)
    assert (frame["tokens"] <= 80).all()
    assert list(frame["n"]) == list(range(1, len(frame) + 1))
    assert [TEXT[a:b] for a, b in zip(frame["start"], frame["end"], strict=True)] == [
        *frame["text"]
    ]
    assert set(frame["headings"]) == {"标题", "标题 › Second"}
    assert frame["page"].isna().all()
    assert frame["overlap_prev"].iloc[0] == 0
    assert (frame["overlap_prev"].iloc[1:3] > 0).all()
    assert frame.attrs["jan"]["recipe"] == "recursive 80/16 tokens (o200k_base)"


def test_a_grid_tries_every_combination() -> None:
    frame = jan.chunks(TEXT, grid={"size": [64, 128], "splitter": ["recursive", "tokens"]})
    assert [*dict.fromkeys(frame["recipe"])] == [
        "recursive 64/40 tokens (o200k_base)", "tokens 64/40 tokens (o200k_base)",
        "recursive 128/40 tokens (o200k_base)", "tokens 128/40 tokens (o200k_base)",
    ]  # fmt: skip
    assert frame.groupby("recipe", sort=False).size().is_monotonic_decreasing


def test_a_file_is_read_and_its_kind_known(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(TEXT, encoding="utf-8")
    assert jan.chunks(path).equals(jan.chunks(str(path)))
    assert jan.chunks(path).attrs["jan"]["source"] == path.as_posix()
    assert jan.chunks(path)["headings"].iloc[0] == "标题"


def test_what_was_guessed_stands_in_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(("这是一个中文的例子，我们在说这个国家的人。" * 40).encode("gb18030"))
    warnings = jan.chunks(path)["warning"]
    assert warnings[0] == "read as gb18030, a guess"
    assert warnings[1:].isna().all()


def test_characters_are_written_with_a_c() -> None:
    frame = jan.chunks("ab" * 400, size="512c", overlap="64c", splitter="chars")
    assert list(frame["end"] - frame["start"]) == [512, 352]


def test_a_text_without_words_has_no_rows_but_all_columns() -> None:
    frame = jan.chunks(" \n ")
    assert frame.empty
    assert "overlap_prev" in frame


@pytest.mark.parametrize("missing", ["nowhere.md", "data/x", Path("none")])
def test_a_file_that_is_not_there_is_no_text(missing: str | Path) -> None:
    with pytest.raises(RetrievalError, match="there is no such file"):
        jan.chunks(missing)


def test_what_cannot_be_tried_is_refused() -> None:
    with pytest.raises(SettingError, match="no key 'sizes'"):
        jan.chunks("text", grid={"sizes": [1]})
    with pytest.raises(SettingError, match="nothing to try for 'size'"):
        jan.chunks("text", grid={"size": []})
    with pytest.raises(SettingError, match="overlap 40 is not smaller than the size 40"):
        jan.chunks("text", size=40)


@pytest.mark.parametrize(
    ("given", "step"),
    [
        (None, "Pass a text"),
        (b"bytes", "Pass a text"),
        (["a", "b"], "Pass a text"),
        (pd.DataFrame({"text": ["一段话"]}), "frame['text'].iloc[0]"),
        (pd.Series(["一段话"]), "add all of them"),
    ],
    ids=["none", "bytes", "list", "frame", "series"],
)
def test_what_is_no_text_says_what_to_pass(given: Any, step: str) -> None:
    with pytest.raises(SettingError) as caught:
        jan.chunks(given)
    assert step in caught.value.next_step
