"""The map of chunks: every character once, what is shared hatched, nothing in it acts."""

import re
from html import unescape

import pytest

import jan_magics as jan
from jan_magics.domain.errors import SettingError
from jan_magics.notebook.chunk_map import MOST_CHUNKS, Block, ChunkMap
from jan_magics.notebook.hit_cards import HitCards

TEXT = "# 检索\n\n" + "每一块都有位置。为什么要重叠？" * 20 + "\n\n## B\n\n"
TEXT += "Some words follow. " * 80 + "\n\n<script>alert(1)</script> & \\href{x}{y}\n"


def html(shown: ChunkMap | HitCards) -> str:
    return str(shown._repr_mimebundle_()["text/html"])


def boxes(page: str) -> list[str]:
    """Return the text of each box, without numbers."""
    inside = re.findall(r'role="region"[^>]*>(.*?)</div>', page, re.DOTALL)
    bare = (re.sub(r"<span[^>]*aria-label[^>]*>.*?</span>", "", box) for box in inside)
    return [unescape(re.sub(r"<[^>]+>", "", box)) for box in bare]


@pytest.mark.parametrize(("size", "overlap"), [(64, 0), (64, 16), (64, 60), (200, 40)])
def test_every_character_is_shown_once(size: int, overlap: int) -> None:
    page = html(jan.show(jan.chunks(TEXT, size=size, overlap=overlap)))
    assert [box.replace("\\ href", "\\href").rstrip() for box in boxes(page)] == [TEXT.rstrip()]


def test_what_two_chunks_share_is_hatched_and_named() -> None:
    frame = jan.chunks(TEXT, size=64, overlap=16)
    page = html(jan.show(frame))
    shared = int((frame["overlap_prev"] > 0).sum())
    assert page.count("repeating-linear-gradient") == shared > 3
    assert 'title="in chunk 1 and chunk 2"' in page
    assert page.count("aria-label") == len(frame) + 1


def test_nothing_in_it_acts() -> None:
    page = html(jan.show(jan.chunks(TEXT)))
    assert "<script" not in page
    assert "\\href" not in page


def test_each_recipe_of_a_grid_has_its_map() -> None:
    shown = jan.show(jan.chunks(TEXT, grid={"size": [64, 128], "overlap": [0]}))
    assert len(boxes(html(shown))) == 2
    assert str(shown).count("text · recursive") == 2


def test_the_text_form_marks_what_is_shared() -> None:
    lines = str(jan.show(jan.chunks(TEXT, size=64, overlap=16))).splitlines()
    assert lines[0].startswith("text · recursive 64/16 tokens (o200k_base) · ")
    assert lines[1].startswith("┌ chunk 1 · ")
    assert "检索 › B" in "\n".join(lines)
    assert {line[0] for line in lines[1:]} == {"┌", "│", "░"}


def test_a_long_text_is_shown_in_part_and_says_so() -> None:
    blocks = tuple(
        Block("r", n + 1, n * 10, n * 10 + 10, 3, "some words") for n in range(MOST_CHUNKS + 7)
    )
    shown = ChunkMap("a", blocks)
    assert "7 chunks more: the table has all of them" in html(shown)
    assert str(shown).endswith("7 chunks more: the table has all of them")


def test_no_chunks_and_no_table() -> None:
    assert "no chunks" in html(jan.show(jan.chunks("  \n")))
    with pytest.raises(SettingError, match="nothing to read in a dict"):
        jan.show({})  # type: ignore[arg-type]  # what users pass


def test_rows_may_be_chosen_and_sorted() -> None:
    frame = jan.chunks(TEXT, size=64, overlap=16)
    some = frame[frame["n"] > 2].sort_values("tokens")
    assert "┌ chunk 3 · " in str(jan.show(some)).splitlines()[1]
