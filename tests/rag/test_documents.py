"""Files as documents; what cannot be read is a reason, and never stops the others."""

import io
import json
import os
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from jan_magics.domain.retrieval import Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import counter_here
from jan_magics.rag.documents import kind_of, read, read_bytes
from jan_magics.rag.limits import Limits, Unreadable
from tests.rag.files import archive, paragraph, pdf, slides, word


def text(data: bytes | str, source: str) -> str:
    found = document(data, source)
    return found.text


def document(data: bytes | str, source: str) -> Document:
    found = read_bytes(data.encode() if isinstance(data, str) else data, source)
    assert isinstance(found, Document), found
    return found


def reason(data: bytes, source: str, limits: Limits | None = None) -> str:
    found = read_bytes(data, source, limits or Limits())
    assert isinstance(found, Unreadable), found
    assert found.source == source
    return found.reason


@pytest.mark.parametrize(
    ("source", "kind"),
    [("a.md", "markdown"), ("A.MD", "markdown"), ("a.txt", "text"), ("a.rst", "rst"),
     ("a.rst.txt", "rst"), ("a.py", "code"), ("a", "text"), ("x/y.z/README", "text")],
)  # fmt: skip
def test_names_tell_the_kind(source: str, kind: str) -> None:
    assert kind_of(source) == kind
    assert document("words", source).kind == kind


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("utf-32", None),
        ("utf-16-le", "read as utf-16-le, a guess"), ("gb18030", "read as gb18030, a guess"),
    ],
)  # fmt: skip
def test_chinese_in_every_encoding(encoding: str, said: str | None) -> None:
    written = "今天的天气很好，我们去了公园。这是一个例子。\nplain lines of ASCII follow here\n" * 9
    found = document(written.encode(encoding), "a.txt")
    assert (found.text, found.warning) == (written, said)


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("shift_jis", "これは日本語の文章です。テストのために書きました。"),
        ("euc_jp", "これは日本語の文章です。テストのために書きました。"),
        ("euc_kr", "이것은 한국어 문장입니다. 시험을 위해 썼습니다."),
        ("big5", "這是一個中文的例子，我們在說這個國家的人。"),
        ("cp1251", "Это русский текст для проверки кодировки."),
        ("cp1252", "Voilà, le café crème coûte très cher à Zürich."),
    ],
)
def test_other_encodings_are_guessed_and_said_to_be(encoding: str, written: str) -> None:
    found = document(written.encode(encoding), "a.txt")
    assert (found.text, found.warning) == (written, f"read as {encoding}, a guess")


def test_a_few_bad_bytes_in_utf8_are_replaced_and_counted() -> None:
    found = document("多谢，再见".encode() * 9 + b"\xff!" + "很好".encode(), "a.md")
    assert found.text == "多谢，再见" * 9 + "\ufffd!很好"
    assert found.warning == "1 place in it not UTF-8, replaced"


def test_nul_is_replaced_and_its_place_recorded() -> None:
    found = document("some words " * 20 + "\0end", "a.txt")
    assert found.text.endswith("words \ufffdend")
    assert found.warning == "1 character replaced (NUL), the first at 220"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(400), bytes(range(256)) * 8])
def test_what_is_no_text_is_said_to_be_none(data: bytes) -> None:
    assert reason(data, "a.txt") == "it is no text"


def test_empty_files_are_empty() -> None:
    for name in ("a.txt", "a.md", "a.csv", "a.json"):
        assert reason(b" \n", name) in ("it is empty", "it is no text")


def test_html_keeps_its_structure_and_loses_its_scripts() -> None:
    page = """<!doctype html><html><head><title>The title</title><style>p{}</style>
    <script>var hidden = "<p>no</p>";</script></head><body><h1>One</h1>
    <p>First &amp; second<br>line.</p><div hidden><div>secret</div> more</div>
    <ul><li>apples<li>pears</ul><pre>  a = 1
  b = 2</pre><table><tr><th>x<th>y</tr><tr><td>1</td><td>2</td></tr></table><h2>Two</h2>tail"""
    found = document(page, "a.html")
    assert found.text == (
        "# One\n\nFirst & second\nline.\n\n- apples\n- pears\n\n```\n  a = 1\n  b = 2\n```\n\n"
        "x | y\n1 | 2\n\n## Two\n\ntail"
    )
    assert found.metadata == {"title": "The title"}
    assert found.kind == "markdown"


def test_a_broken_declaration_hides_what_a_browser_hides() -> None:
    assert text("<p>one <![A two</p><p>三</p>", "a.html") == "one\n\n三"
    assert text("<!--[if IE]> hidden <![endif]--><p>seen</p>", "a.html") == "seen"
    assert text("<![if !IE]><p>in</p><![endif]><p>a<![CDATA[x]]>b</p>", "a.html") == "in\n\nab"
    assert text("<p>a</p><![", "a.html") == "a"


def test_html_says_its_encoding() -> None:
    page = '<html><meta charset="gbk"><p>你好</p>'
    assert text(page.encode("gbk"), "a.htm") == "你好"
    assert text("<html><meta charset=no-such><p>你好</p>", "a.htm") == "你好"
    assert reason(b"<html><script>x()</script>", "a.html").startswith("it has no text")


def test_rows_of_a_table_carry_the_names_of_their_columns() -> None:
    written = 'name,note\n"Ada","first\nline, second"\nBob,\n'
    assert text(written, "a.csv") == "name: Ada; note: first line, second\nname: Bob"
    assert text("a\tb\n1\t2\n", "a.tsv") == "a: 1; b: 2"
    assert text("名;值\n甲;1\n", "a.csv") == "名: 甲; 值: 1"
    assert text("1,2\n3,4\n", "a.csv") == "1, 2\n3, 4"
    assert document(written, "a.csv").kind == "table"


def test_json_stays_as_it_is_unless_nobody_could_read_it() -> None:
    written = '{\n  "a": [1, 2],\n  "b": "text"\n}'
    assert text(written, "a.json") == written
    assert '"\\u4f60"' not in text('{"x": "\\u4f60\\u597d"}', "a.json")
    assert "你好" in text('{"x": "\\u4f60\\u597d"}', "a.json")
    long = json.dumps({"words": ["word"] * 900})
    assert max(map(len, text(long, "a.json").splitlines())) < 40
    broken = document('{"a": 1', "a.json")
    assert broken.text == '{"a": 1'
    assert (broken.warning or "").startswith("read as plain text: it is no JSON")


def test_json_lines_keep_a_record_a_line_and_count_the_broken_ones() -> None:
    found = document('{"a": "\\u4f60"}\nnot json\n{"b": 2}\n', "a.jsonl")
    assert found.text == '{"a": "你"}\nnot json\n{"b": 2}'
    assert found.warning == "1 line in it no JSON"


def test_json_that_is_nested_without_end_is_a_text() -> None:
    assert document("[" * 100_000, "a.json").warning
    assert isinstance(read_bytes(b"[" * 100_000 + b"]" * 100_000, "a.json"), Document | Unreadable)


def test_a_notebook_is_its_cells_and_what_they_wrote() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# 题\n", "words"]},
        {"cell_type": "code", "source": "print('```')", "outputs": [
            {"output_type": "stream", "text": ["out\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "4" * 2000, "image/png": "x"}},
        ]},
    ]  # fmt: skip
    found = document(json.dumps({"cells": cells, "metadata": {}}), "a.ipynb")
    assert found.text.startswith(
        "# 题\nwords\n\n````python\nprint('```')\n````\n\n```text\nout\n```"
    )
    assert found.text.endswith("4…\n```")
    assert len(found.text) < 1_200
    assert reason(b"{}", "a.ipynb") == "it is no notebook: KeyError"
    assert reason(b'{"cells": 3}', "a.ipynb").startswith("it is no notebook")


def test_word_has_headings_lists_and_tables() -> None:
    table = ("<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>").format(
        paragraph("a"), paragraph("b")
    )
    made = word(
        paragraph("题目", "T1"), paragraph("words &amp; more"), paragraph("Below", "Z2"),
        paragraph("item", listed=True), table,
    )  # fmt: skip
    found = document(made, "a.docx")
    assert found.text == "# 题目\n\nwords & more\n\n## Below\n\n- item\n\n| a | b |"
    assert document(made, "a file without a suffix").text == found.text


def test_slides_come_in_the_order_of_their_numbers_a_page_each() -> None:
    made = slides({10: ["Ten", "last"], 2: ["Two", "words"], 1: ["One"]})
    found = document(made, "a.pptx")
    assert found.text == "# One\n\n# Two\n\nwords\n\n# Ten\n\nlast"
    assert [found.text[at:].split("\n")[0] for at in found.pages] == ["# One", "# Two", "# Ten"]
    recipe = Recipe("markdown", 5, 0)
    chunks = cut(found, recipe, counter_here())
    assert {(c.headings[0], c.page) for c in chunks} == {("One", 1), ("Two", 2), ("Ten", 3)}


def test_pdf_keeps_its_pages() -> None:
    pytest.importorskip("pypdf")
    pages = ["The first page says something.", "The second one says more of it.", "Third."]
    found = document(pdf(pages), "a.pdf")
    assert found.text == "\n\n".join(pages)
    assert [found.text[a:b].strip() for a, b in pairwise((*found.pages, None))] == pages
    assert document(pdf(pages), "no suffix").pages == found.pages


def test_a_scan_is_said_to_be_one() -> None:
    pytest.importorskip("pypdf")
    assert reason(pdf(["", "", "p. 3"]), "a.pdf").startswith(
        "it is a scan: 3 pages with 3 characters of text"
    )


def test_a_damaged_pdf_is_a_reason(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("pypdf")
    whole = pdf(["words of a page that are long enough to be no scan at all"])
    for data in (b"%PDF-1.4 nothing", whole[:200], whole.replace(b"/Kids", b"/Kidz")):
        found = read_bytes(data, "a.pdf")
        assert isinstance(found, Unreadable)
    assert not caplog.records


def test_a_zip_bomb_is_not_unfolded() -> None:
    bomb = archive({"word/document.xml": b"<a>" + b" " * 50_000_000 + b"</a>"})
    assert len(bomb) < 100_000
    assert "times its size" in reason(bomb, "a.docx")
    small = Limits(unpacked_bytes=1_000_000)
    assert reason(bomb, "a.docx", small) == "it unfolds to more than 1 MB"


def test_an_archive_that_lies_of_its_sizes_is_refused() -> None:
    made = bytearray(archive({"word/document.xml": b"<a>" + b"x" * 5_000_000 + b"</a>"}))
    size = (5_000_007).to_bytes(4, "little")
    for at in (made.find(size), made.rfind(size)):
        made[at : at + 4] = (10).to_bytes(4, "little")
    assert reason(bytes(made), "a.docx", Limits(unpacked_bytes=1_000_000))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 broken", "it is damaged"),
        (archive({"other.txt": b"x"}), "no document in it"),
        (archive({"word/document.xml": b"<a>&b;"}), "damaged"),
        (archive({"word/document.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "entities"),
        (word(), "no text"),
    ],
)
def test_odd_office_files_are_reasons(data: bytes, said: str) -> None:
    assert said in reason(data, "a.docx")


def test_an_old_office_file_says_how_to_save_it() -> None:
    assert "save it as .docx" in reason(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "a.doc")


def test_a_protected_archive_says_so() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        target.writestr("word/document.xml", "<a/>")
    data = bytearray(made.getvalue())
    data[6] |= 1
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    assert reason(bytes(data), "a.docx") == "it is protected by a password"


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)  # a hole: it takes no room
    found = read(path)
    assert found == Unreadable(path.as_posix(), "1,000 MB is more than rag.max_file_mb, 100")


def test_what_is_no_file_is_a_reason(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == Unreadable(
        (tmp_path / "none").as_posix(), "there is no such file"
    )
    assert read(tmp_path, source="here") == Unreadable("here", "it is a folder")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert read(tmp_path / "pipe", source="p") == Unreadable("p", "it is no file")
