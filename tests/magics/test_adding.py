"""`%rag add` while it goes on: how far it is, what an interrupt keeps; `{{ }}` on lines."""

import html
import re
from collections.abc import Iterator

import pytest

from tests.kernel import Kernel, homes, running_kernel

MANY = 6_000


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "我的 notes").mkdir()
    (folder / "我的 notes" / "a.md").write_text("熊猫 panda {{ secret }}", encoding="utf-8")
    (folder / "我的 notes" / "b.md").write_text("狐狸 fox 🦊", encoding="utf-8")
    here = {"JAN_EMBEDDER": "hash", "JPY_SESSION_NAME": str(folder / "work.ipynb")}
    with running_kernel(folder, **homes(folder), **here) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan\nimport pandas as pd")
        yield running


def test_an_interrupt_says_what_is_in_and_the_same_line_goes_on(kernel: Kernel) -> None:
    text = "f'row {n} ' + 'bamboo and more words ' * 200"
    kernel.ok(f"many = pd.Series([{text} for n in range({MANY})], name='p')")
    kernel.ok("%rag add many.none -c other")  # loads what it needs
    ran = kernel.run("added = %rag add many -c many", interrupt=2.0)
    assert ran.error is not None
    assert ran.error[0] == "Stopped"
    said = re.fullmatch(
        rf"([\d,]+) of {MANY:,} documents are in; the same line goes on", ran.error[1]
    )
    assert said, ran.error
    inside = int(said[1].replace(",", ""))
    shown = " ".join(html.unescape(str(each)) for each in ran.updates)
    assert re.search(rf"many: [\d,]+ of {MANY:,} documents", shown), shown
    kernel.ok("stored = jan.Collection('many').documents()")
    assert inside <= int(kernel.ok("len(stored)").result) < MANY
    kernel.ok("rest = %rag add many -c many")
    assert kernel.ok("len(rest), len(jan.Collection('many').documents())").result == (
        f"({MANY}, {MANY})"
    )
    assert int(kernel.ok("int((rest.status == 'unchanged').sum())").result) >= inside


def test_values_are_filled_in_on_every_line(kernel: Kernel) -> None:
    kernel.ok("folder, name, word, least = '我的 notes', '动物 animals', 'panda', 'a.md'")
    kernel.ok("added = %rag add {{ folder }}/*.md -c {{ name }}")
    assert kernel.ok("list(added.status)").result == "['added', 'added']"
    kernel.ok("%rag search -c {{ name }} --where \"source ~ '{{ least }}'\" -o hits {{ word }}")
    assert kernel.ok("hits.source.str[-4:].tolist(), len(hits)").result == "(['a.md'], 1)"
    # What was in a file is text: its braces are not filled in.
    assert "{{ secret }}" in kernel.ok("hits.text[0]").result
    assert "b.md" in kernel.ok("%rag remove -c {{ name }} {{ folder }}/b.md").result
    kernel.ok("cut = %rag chunks {{ folder }}/a.md")
    kernel.ok(r"%rag search -c {{ name }} --mode keyword -o hits \{{ secret")
    assert kernel.ok("len(hits)").result == "1"


def test_a_name_that_is_not_there_says_the_nearest(kernel: Kernel) -> None:
    kernel.ok("question = 'panda'")
    ran = kernel.run("%rag search {{ qestion }}")
    assert ran.error is not None
    assert ran.error[0] == "UndefinedName"
    assert "closest: 'question'" in ran.error[1]


def test_a_table_in_braces_is_a_table(kernel: Kernel) -> None:
    kernel.ok("papers = pd.DataFrame({'body': ['熊猫'], 'page': [3]})")
    ran = kernel.ok("added = %rag add {{ papers }} --text body -c papers")
    assert kernel.ok("list(added.source)").result == "['body/0']"
    assert ran.out == "the column 'page' of the table is column.page in --where\n"
