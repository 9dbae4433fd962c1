"""Faults that other splitters have had, each of them once, named by its number in our list."""

import time
from itertools import pairwise

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import CharacterCounter, counter_here, estimated
from jan_magics.rag.decoding import clean
from jan_magics.rag.recipes import LARGEST, SMALLEST_STORED, parse_size, recipe_of
from tests.rag.texts import FAMILY, FLAGS, SPLITTERS, pieces

ENGLISH = "The cat sat on the mat. It purred, and nobody knew why. " * 60
CHINESE = "今天天气很好。我们去公园散步吧！你觉得怎么样？过拟合；欠拟合……" * 40


def chunks(text: str, recipe: Recipe, kind: str = "markdown") -> list[Chunk]:
    document = Document("a", text, kind)  # type: ignore[arg-type]  # the tests name real kinds
    return list(cut(document, recipe, counter_here()))


def test_c1_an_overlap_in_tokens_has_a_place() -> None:
    found = chunks(ENGLISH, Recipe(overlap=40))
    assert len(found) > 3
    assert [c.start for c in found] == sorted({c.start for c in found})
    assert all(after.start < before.end for before, after in pairwise(found))
    counter = counter_here()
    shared = [counter.count(ENGLISH[b.start : a.end]) for a, b in pairwise(found)]
    assert all(20 <= tokens <= 40 for tokens in shared)


def test_c2_equal_chunks_have_different_spans_and_ids() -> None:
    found = chunks("chunk chunk " * 40, recipe_of(counter_here(), size=2, overlap=0))
    assert len({(c.start, c.end) for c in found}) == len(found) > 10
    assert len({c.id for c in found}) == len(found)


def test_c3_places_do_not_drift() -> None:
    text = "".join(f"line {n} of many, with ünïcödé {FAMILY}\n" for n in range(400))
    for chunk in chunks(text, Recipe(size=30, overlap=10)):
        assert text[chunk.start : chunk.end].startswith(("line", "of", "many", "with", "ü", FAMILY))


def test_c4_places_are_characters_not_bytes() -> None:
    text = "é" * 50 + " 好" * 50
    found = chunks(text, recipe_of(counter_here(), size="20c", overlap=0, splitter="chars"))
    assert [(c.start, c.end) for c in found][:3] == [(0, 20), (20, 40), (40, 60)]
    assert found[-1].end == len(text)


def test_c5_every_chunk_of_a_paged_document_has_its_page() -> None:
    pages = ("first page. " * 50, "second page. " * 50, "third. " * 80)
    text = "".join(pages)
    document = Document("a.pdf", text, "text", pages=(0, len(pages[0]), len(pages[0] + pages[1])))
    found = cut(document, Recipe(size=50, overlap=0), counter_here())
    assert [c.page for c in found] == sorted(c.page or 0 for c in found)
    assert {c.page for c in found} == {1, 2, 3}
    assert chunks(text, Recipe())[0].page is None


@pytest.mark.parametrize("splitter", ["recursive", "tokens"])
def test_c6_no_character_is_cut_into_bytes(splitter: str) -> None:
    text = "鱻龘😀靐" * 50 + "\ufffd"
    found = pieces(text, size=7, overlap=0, splitter=splitter)
    assert "".join(found) == text
    assert sum(piece.count("\ufffd") for piece in found) == 1


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_c7_families_flags_and_accents_stay_whole(splitter: str) -> None:
    cluster = "e\u0301\u0323"
    text = (FAMILY + FLAGS + cluster + "👍🏽") * 30
    unit = "c" if splitter == "chars" else ""
    found = pieces(text, size=f"24{unit}", overlap=0, splitter=splitter)
    assert "".join(found) == text
    firsts = {piece[0] for piece in found}
    assert not firsts & {"\u200d", "\u0301", "\u0323", "🏽", "\ufe0f"}
    # Seven people, and three flags of two signs: no torn one is left over.
    assert all(piece.count("\u200d") % 3 == 0 for piece in found)
    assert all(sum("🇦" <= sign <= "🇿" for sign in piece) % 2 == 0 for piece in found)


def test_c7_a_cluster_that_alone_exceeds_the_size_is_cut_and_says_so() -> None:
    monster = "Z" + "\u0324\u0351\u0307\u0321\u0353" * 40
    text = f"before {monster} after"
    found = chunks(text, Recipe(size=64, overlap=8))
    torn = [c for c in found if c.warning]
    assert torn
    assert {c.warning for c in torn} == {"cut inside a cluster, which alone exceeds the size"}
    assert all(c.tokens <= 64 for c in found)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("overlap", range(0, 20, 3))
def test_c8_a_unit_between_size_and_overlap_does_not_stop_it(overlap: int) -> None:
    text = "word " + "supercalifragilisticexpialidocious " * 30 + FAMILY * 9
    found = chunks(text, Recipe(size=20, overlap=overlap))
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(found))
    assert found[-1].end == len(text)


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_c8_an_overlap_as_large_as_the_size_is_refused(splitter: str) -> None:
    unit = "c" if splitter == "chars" else ""
    with pytest.raises(SettingError, match="overlap 64 is not smaller than the size 64"):
        recipe_of(counter_here(), size=f"64{unit}", overlap=64, splitter=splitter)


@pytest.mark.parametrize("text", ["x", "的", "ab1", " ", "\n", "😀", "🇯"], ids=ascii)
def test_c9_ten_megabytes_without_a_separator(text: str) -> None:
    long = text * (10_000_000 // len(text.encode()))
    counter = counter_here()
    begun = time.process_time()
    found = cut(Document("a", long), Recipe(), counter)
    taken = time.process_time() - begun
    assert max((c.tokens for c in found), default=0) <= 200
    assert taken < 2.0 * 2, "twice the promise: tests share the machine"


@pytest.mark.parametrize("splitter", ["recursive", "markdown", "code", "tokens"])
@pytest.mark.parametrize(
    "text", [ENGLISH, CHINESE, "a1b2" * 900, "| x | y |\n" * 300], ids=range(4)
)
def test_c10_the_size_is_a_limit(splitter: str, text: str) -> None:
    counter = counter_here()
    for size in (5, 64, 200):
        found = pieces(text, size=size, overlap=size // 5, splitter=splitter)
        assert max(map(counter.count, found)) <= size


def test_c11_tabs_indents_and_blank_lines_are_kept() -> None:
    text = "# T\n\n\tcode\n\u00a0\u00a0x\n\n\n```\n\tif a:\n\t\tb()\n\n\n```\n\n    four\n" * 20
    found = pieces(text, size=30, overlap=0, splitter="markdown")
    assert "".join(found) == text
    assert any(piece.startswith("\tcode") or "\n\tcode" in piece for piece in found)


def test_c11_a_line_that_begins_a_chunk_keeps_its_indent() -> None:
    text = "".join(f"    line({n})\n" for n in range(90))
    assert all(piece.startswith("    line") for piece in pieces(text, size=40, overlap=8))


FENCED = (
    "# One\n\nText.\n\n```sh\n# not a heading\nrun\n```\n\n"
    "## Two\n\nMore.\n\n~~~\n# open to the end\n"
)


def test_c12_a_hash_inside_a_fence_is_no_heading() -> None:
    found = chunks(FENCED, recipe_of(counter_here(), size=64, overlap=0, splitter="markdown"))
    assert [c.headings for c in found] == [("One",), ("One", "Two")]
    assert "".join(FENCED[c.start : c.end] for c in found) == FENCED


def test_c12_a_fence_stays_whole_where_it_fits() -> None:
    fence = "```python\nfor x in range(3):\n\n    print(x)\n```\n"
    text = ("Some words before it. " * 6 + "\n\n" + fence + "\n") * 6
    assert all(piece.count("```") % 2 == 0 for piece in pieces(text, size=90, overlap=0))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_c13_special_tokens_are_text(splitter: str) -> None:
    text = "<|endoftext|> and <|fim_prefix|> are text. <|im_start|>" * 20
    unit = "c" if splitter == "chars" else ""
    assert "".join(pieces(text, size=f"30{unit}", overlap=0, splitter=splitter)) == text
    # 7 tokens of text, not one that ends a text.
    assert counter_here().count("<|endoftext|>") == 7


def test_c14_without_a_vocabulary_sizes_are_estimated_and_said_to_be() -> None:
    counter = estimated()
    recipe = recipe_of(counter)
    assert str(recipe).endswith(", ≈)")
    assert not recipe.exact
    found = cut(Document("a", ENGLISH), recipe, counter)
    exact = [counter_here().count(ENGLISH[c.start : c.end]) for c in found]
    assert all(c.tokens <= 200 for c in found)
    assert 140 < sum(exact) / len(exact) < 240


def test_c15_nul_and_lone_surrogates_are_replaced_at_the_gate_and_recorded() -> None:
    cleaned = clean("ab\0c\ud800d")
    assert cleaned.text == "ab\ufffdc\ufffdd"
    assert cleaned.warning == "2 characters replaced (NUL, lone surrogate), the first at 2"
    assert clean("plain").warning is None


def test_c15_a_lone_surrogate_does_not_stop_the_cutting() -> None:
    text = "a \ud800 b. " * 60
    assert "".join(pieces(text, size=20, overlap=0)) == text


@pytest.mark.parametrize("stop", "。！？；…．｡")
def test_c16_chinese_and_japanese_stops_end_sentences(stop: str) -> None:
    text = ("今天天气很好我们去公园散步" + stop) * 30
    found = pieces(text, size=50, overlap=0)
    assert len(found) > 3
    assert all(piece.endswith(stop) for piece in found)


def test_c16_a_closing_quote_stays_with_its_sentence() -> None:
    text = "他说：「今天天气很好我们去公园散步。」" * 30
    assert all(piece.endswith("。」") for piece in pieces(text, size=50, overlap=0))


def test_paragraphs_go_before_lines_and_sentences() -> None:
    text = "One. Two.\nThree.\n\nFour. Five. Six. Seven. Eight. Nine. Ten. Eleven. Twelve."
    assert pieces(text, "text", size=12, overlap=0)[0] == "One. Two.\nThree.\n\n"


def test_a_heading_begins_a_chunk_and_no_overlap_reaches_over_it() -> None:
    text = "# A\n\n" + "Words of the first. " * 20 + "\n\n## B\n\n" + "Words of the second. " * 20
    found = chunks(text, Recipe(size=100, overlap=30))
    begins = [c for c in found if text.startswith("## B", c.start)]
    assert [c.headings for c in begins] == [("A", "B")]
    assert found[begins[0].index - 1].end == begins[0].start


def test_headings_of_restructured_text() -> None:
    text = "====\nTop\n====\n\nWords.\n\nBelow\n-----\n\nMore.\n\nDeep\n~~~~\n\nEnd.\n\n"
    text += "Next\n----\n\nLast.\n"
    counter = counter_here()
    found = chunks(text, recipe_of(counter, size=12, overlap=0, splitter="markdown"), "rst")
    assert {c.headings for c in found} >= {("Top",), ("Top", "Below"), ("Top", "Next")}


def test_code_is_cut_before_definitions_with_their_decorators() -> None:
    text = "import a\n\n\n" + "".join(
        f"@cached\n# why\ndef f{n}(x):\n    y = x + {n}\n\n    return y * {n}\n\n\n"
        for n in range(20)
    )
    found = chunks(text, recipe_of(counter_here(), size=64, overlap=0, splitter="code"))
    assert all(text.startswith("@cached", c.start) for c in found[1:])
    assert found[3].headings[0].startswith("f")


def test_chars_are_windows_as_the_reference_has_them() -> None:
    recipe = recipe_of(counter_here(), size="512c", overlap="64c", splitter="chars")
    text = "abcdefghij" * 200
    assert [(c.start, c.end) for c in chunks(text, recipe)] == [
        (0, 512), (448, 960), (896, 1408), (1344, 1856), (1792, 2000)
    ]  # fmt: skip
    assert str(recipe) == "chars 512/64 chars"


def test_the_tokens_of_chunks_in_characters_are_counted_too() -> None:
    found = chunks(ENGLISH, recipe_of(counter_here(), size="512c", overlap="64c"))
    counter = counter_here()
    assert [c.tokens for c in found] == [counter.count(ENGLISH[c.start : c.end]) for c in found]
    assert max(c.end - c.start for c in found) <= 512
    assert CharacterCounter().count("好") == 1


@pytest.mark.parametrize(
    ("given", "read"),
    [(200, (200, None)), ("200", (200, None)), ("512c", (512, "chars")), (" 1,024 ", (1024, None)),
     ("300t", (300, "tokens")), ("64 chars", (64, "chars"))],
)  # fmt: skip
def test_sizes_as_text(given: int | str, read: tuple[int, str | None]) -> None:
    assert parse_size(given) == read


@pytest.mark.parametrize("wrong", ["", "c", "-3", "2.5", "12x", True, None, 1.5])
def test_what_is_no_size_is_refused(wrong: object) -> None:
    with pytest.raises(SettingError, match="is no size"):
        parse_size(wrong)  # type: ignore[arg-type]  # what users type


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"size": 0}, "size 0 is not between 1 and 8,192"),
        ({"size": LARGEST + 1}, "size 8193 is not between"),
        ({"size": 2000, "overlap": 1025}, "overlap 1025 is larger than 1,024"),
        ({"size": "512c", "overlap": "40t"}, "'512c' is in chars, the overlap '40t' in tokens"),
        ({"splitter": "tokens", "size": "512c"}, "splitter 'tokens' counts tokens"),
        ({"splitter": "chars", "size": "512t"}, "splitter 'chars' counts chars"),
        ({"splitter": "semantic"}, "no splitter 'semantic'"),
        ({"size": 63, "smallest": SMALLEST_STORED}, "size 63 is not between 64"),
    ],
)
def test_recipes_that_cannot_be_are_refused(how: dict[str, int | str], why: str) -> None:
    with pytest.raises(SettingError, match=why) as refused:
        recipe_of(counter_here(), **how)  # type: ignore[arg-type]  # by name
    assert refused.value.next_step


def test_recipes_of_settings_are_as_the_reference_has_them() -> None:
    assert recipe_of(counter_here(), size=64, overlap=0, smallest=SMALLEST_STORED).size == 64
    assert recipe_of(counter_here(), size=8192, overlap=1024).overlap == 1024
    assert recipe_of(counter_here(), size=512, overlap=64, splitter="chars").unit == "chars"
