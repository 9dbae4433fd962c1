"""`%rag add`, `search`, `documents`, … and `%%chat -c`, in a real kernel."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel
from tests.magics.test_tools import step
from tests.providers.loopback import Reply
from tests.providers.serving import serving_here
from tests.providers.test_embeddings import rows

TEXTS = {
    "panda.md": "# 熊猫\n\n熊猫吃竹子。 The panda eats bamboo all day.\n",
    "fox.md": "# Fox 🦊\n\nThe fox hunts mice in the forest at night.\n",
    "notes/boat.txt": "Boats are made of wood, and they float on water.\n",
}


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    environment = {"JAN_EMBEDDER": "hash", "JPY_SESSION_NAME": str(tmp_path / "work.ipynb")}
    with running_kernel(tmp_path, **environment) as running:
        running.ok("%load_ext jan_magics\nimport jan_magics as jan")
        yield running


def value(kernel: Kernel, code: str) -> str:
    return kernel.ok(code).result


def test_files_are_added_searched_and_forgotten(kernel: Kernel) -> None:
    assert "this notebook has no collection yet" in value(kernel, "%rag")
    kernel.ok("added = %rag add docs")
    assert value(kernel, "list(added.source)") == (
        "['docs/fox.md', 'docs/panda.md', 'docs/notes/boat.txt']"
    )
    assert value(kernel, "set(added.status)") == "{'added'}"
    kernel.ok("again = %rag add docs")
    assert value(kernel, "set(again.status)") == "{'unchanged'}"
    kernel.ok("%rag search -k 1 -o hits 熊猫 bamboo")
    assert (
        value(kernel, "hits.source.tolist(), hits.used.tolist()") == "(['docs/panda.md'], [True])"
    )
    status = value(kernel, "%rag")
    assert "work (notebook work.ipynb)" in status
    assert "3 documents, 3 chunks" in status
    kernel.ok("%rag remove docs/panda.md")
    assert value(kernel, "'docs/panda.md' in set(jan.Collection().documents().source)") == "False"
    assert value(kernel, "len(jan.Collection().search('熊猫', mode='keyword'))") == "0"


def test_a_turn_is_given_what_a_collection_has(kernel: Kernel) -> None:
    kernel.ok("%rag add docs -c animals")
    ran = kernel.ok("%%chat -m offline:echo -c animals -k 2 -o answer\nWhat does the panda eat?")
    assert "sources: 2 of 3 from animals (" in ran.displays[-1]["text/plain"]
    assert value(kernel, "answer.sources.source[0]").endswith("docs/panda.md'")
    assert value(kernel, "answer.sources.n.tolist()") == "[1, 2]"
    assert value(kernel, "jan.current().messages().text[0]") == "'What does the panda eat?'"
    assert value(kernel, "int(jan.current().turns().sources[0])") == "2"
    kernel.ok("%chat use -c animals -k 1")
    kernel.ok("%%chat -m offline:echo -o answer\nfox?")
    assert value(kernel, "len(answer.sources)") == "1"
    assert "collection" in kernel.ok("%chat config").results[-1]["text/html"]
    kernel.ok("%chat use -c ''")
    kernel.ok("%%chat -m offline:echo -o answer\nfox?")
    assert value(kernel, "len(answer.sources)") == "0"


def test_a_table_is_added_row_by_row(kernel: Kernel) -> None:
    kernel.ok(
        "import pandas as pd\n"
        "papers = pd.DataFrame({'title': ['熊猫 panda', 'fox', None], 'year': [2001, 2002, 2003]})"
    )
    kernel.ok("added = %rag add papers --text title -c papers")
    assert value(kernel, "list(added.status)") == "['added', 'added', 'skipped']"
    kernel.ok("%rag search -c papers --where 'year = 2001' -o hits panda")
    assert value(kernel, "hits.source.tolist()") == "['title/0']"
    failed = kernel.run("%rag add papers -c papers")
    assert failed.error is not None
    assert failed.error[2][1] == "Name it: text='title'"


def test_collections_are_listed_used_and_deleted(kernel: Kernel) -> None:
    kernel.ok("%rag add docs/fox.md -c fox")
    kernel.ok("%rag add docs -c animals")
    assert value(kernel, "jan.collections().collection.tolist()") == "['animals', 'fox']"
    assert "animals" in value(kernel, "%rag use animals")
    kernel.ok("%rag search -o hits wood float")
    assert value(kernel, "hits.source[0]").endswith("boat.txt'")
    gone = value(kernel, "%rag delete animals")
    assert "is in the bin · back: %rag delete animals --off" in gone
    assert "the notebook's own collection is the default again" in gone
    assert "this notebook has no collection yet" in value(kernel, "%rag")
    lost = kernel.run("%rag use animals")
    assert lost.error is not None
    assert lost.error[2][1] == "Bring it back: %rag delete 'animals' --off"
    kernel.ok("checks = %rag doctor -c fox")
    assert "'animals'" in value(kernel, "checks.set_index('check').detail['bin']")
    back = value(kernel, "%rag delete 'animals' --off")
    assert back.startswith("animals is back")
    assert "3 documents, 3 chunks" in back
    assert value(kernel, "jan.collections().collection.tolist()") == "['animals', 'fox']"


def test_what_cannot_be_read_is_a_row(kernel: Kernel, tmp_path: Path) -> None:
    (tmp_path / "docs" / "bad.txt").write_bytes(b"\x00\x01\x02" * 500)
    kernel.ok("added = %rag add docs nowhere.md")
    rows = value(kernel, "dict(zip(added.source, added.status))")
    assert "'docs/fox.md': 'added'" in rows
    assert "'nowhere.md': 'failed'" in rows
    assert value(kernel, "added.set_index('source').reason['nowhere.md']") == (
        "'there is no such file'"
    )


def test_a_search_says_what_it_left_out(kernel: Kernel) -> None:
    kernel.ok("%rag add docs")
    assert kernel.ok("%rag search -k 1 panda").out == "1 used · 2 near misses (--all)\n"
    nothing = kernel.ok("%rag search --mode keyword 量子力学")
    assert nothing.out.startswith("nothing was found")
    assert kernel.ok("%rag search -k 9 panda").out == ""


def test_why_a_chunk_lost_is_said(kernel: Kernel) -> None:
    kernel.ok("%rag add docs")
    kernel.ok("%rag search -k 1 --all -o hits panda bamboo fox")
    lost = value(kernel, "hits[~hits.used].chunk.iloc[0]").strip("'")
    ran = kernel.ok(
        f"%rag search -k 1 -o used panda bamboo fox\nwhy = %rag explain --chunk {lost} -k 1 "
        "panda bamboo fox"
    )
    assert "lost at k · let in by k " in ran.out
    assert value(kernel, "list(why.columns)") == "['knob', 'now', 'needed', 'rank_then']"
    assert "'k'" in value(kernel, "set(why.knob)")
    refused = kernel.run("%rag explain panda")
    assert "which chunk is not said" in refused.err + str(refused.error)


def test_questions_are_made_and_recipes_compared(kernel: Kernel) -> None:
    kernel.ok("import pandas as pd\n%rag add docs")
    kernel.ok("%rag questions -n 5 -o asked")
    assert "熊猫" in value(kernel, "asked.question.tolist()")
    kernel.ok("report = %rag evaluate asked --grid mode=keyword,hybrid --grid size=64,128")
    assert value(kernel, "report[['mode', 'size']].values.tolist()") == (
        "[['keyword', 64], ['keyword', 128], ['hybrid', 64], ['hybrid', 128]]"
    )
    assert value(kernel, "bool((report.recall == 1).all())") == "True"
    kernel.ok(
        "asked.to_csv('asked.csv', index=False)\nrows = %rag evaluate asked.csv --per-question"
    )
    assert value(kernel, "len(rows) == len(asked)") == "True"
    ran = kernel.ok(
        "more = pd.concat([asked, pd.DataFrame({'question': ['鲸?'], 'source': ['鲸.md']})])\n"
        "%rag evaluate more --grid threshold=none,0.1 -o report"
    )
    assert ran.out.startswith("1 question answered only in sources that are not in the collection")
    assert value(kernel, "report.threshold.isna().tolist()") == "[True, False]"
    refused = kernel.run("%rag evaluate asked --grid colour=red")
    assert refused.error is not None
    assert "no key 'colour'" in refused.error[2][0]


def test_an_interrupted_measurement_says_what_it_has(kernel: Kernel) -> None:
    many = "pd.Series([f'熊猫 {n} bamboo {n % 7}' for n in range(300)], name='p')"
    kernel.ok(f"import pandas as pd\nadded = jan.Collection('many').add({many})")
    kernel.ok(
        "asked = pd.DataFrame({'question': [f'熊猫 {n}' for n in range(300)], "
        "'source': [f'p/{n}' for n in range(300)]})"
    )
    grid = ",".join(map(str, range(1, 200)))
    line = f"%rag evaluate asked -c many --grid mode=keyword --grid k={grid} -o part"
    ran = kernel.run(line, interrupt=4)
    assert ran.error is not None
    (said,) = ran.error[2]
    found = re.fullmatch(
        r"Stopped: at combination (\d+) of 199 \(mode keyword, k \d+\): question [\d,]+ of 300"
        r" · (\d+) combinations? measured, the best: mode keyword, k \d+ nDCG [01]\.\d{3}.*", said
    )  # fmt: skip
    assert found, said
    done = int(found[1]) - 1
    assert done == int(found[2])
    assert value(kernel, "len(part), set(part['mode'])") == f"({done}, {{'keyword'}})"
    shown = r"combination \d+ of 199 .*question \d+ of 300"
    assert any(re.search(shown, str(each)) for each in ran.updates)
    assert ran.displays[-1]["text/plain"] == f"measured: {done} of 199 combinations"


@pytest.mark.parametrize("verb", ["documents", "collections", "questions", "doctor"])
def test_every_table_goes_into_a_variable(kernel: Kernel, verb: str) -> None:
    kernel.ok(f"%rag add docs -o added\n%rag {verb} -o found")
    assert value(kernel, "len(added) == 3 and len(found) > 0") == "True"
    refused = kernel.run(f"%rag {verb} -o print")
    assert "would hide Python's own print" in refused.err + str(refused.error)


def test_an_interrupt_of_reading_says_what_is_kept(kernel: Kernel) -> None:
    many = "pd.Series([f'熊猫 {n} ' + 'words and more ' * 3000 for n in range(4000)], name='p')"
    kernel.ok(f"%rag add docs -c other\nimport pandas as pd\nmany = {many}")
    ran = kernel.run("%rag add many -c many -o added", interrupt=3)
    assert ran.error is not None
    assert re.fullmatch(
        r"Stopped: [\d,]+ of 4,000 documents are in; the same line goes on", ran.error[2][0]
    )
    kept = int(value(kernel, "len(added)"))
    assert 0 < kept < 4000
    assert int(value(kernel, "len(jan.Collection('many').documents())")) >= kept


def test_an_interrupt_while_documents_are_looked_up_leaves_the_thread_as_it_was(
    kernel: Kernel,
) -> None:
    probe, texts = rows([3.0, 4.0]), rows([1, 0], [0, 2], [1, 1])
    with serving_here(probe, texts, Reply((), hold=True), rows([1, 0])) as server:
        kernel.ok(f"%rag add docs -c animals --embedder {server.address}#m")
        kernel.ok("%chat use offline:echo -t 河")
        kernel.ok("%%chat\nhello 你好")
        ran = kernel.run("%%chat -c animals\nWhat does the panda eat?", interrupt=1)
        assert ran.error is not None
        assert ran.error[2] == [
            "Stopped: the model was not asked, and the thread is as it was · run the cell again"
        ]
        assert len(server.bodies) == 3
        assert value(kernel, "jan.current().messages().text.tolist()[0]") == "'hello 你好'"
        assert value(kernel, "len(jan.current().messages())") == "2"
        again = kernel.ok("%%chat -c animals -o answer\nWhat does the panda eat?")
        assert again.turn["thread"] == "河"
        assert value(kernel, "len(answer.sources), len(jan.current().messages())") == "(3, 4)"


def test_a_collection_is_examined(kernel: Kernel) -> None:
    kernel.ok("%rag add docs")
    kernel.ok("checks = %rag doctor --vacuum")
    assert value(kernel, "set(checks.status) <= {'ok', 'warning'}") == "True"


def test_rows_come_through_the_same_gate_as_files(kernel: Kernel) -> None:
    kernel.ok("import pandas as pd\nnotes = pd.Series(['words\\0 here', '  ', None], name='notes')")
    kernel.ok("added = jan.Collection('rows').add(notes)")
    assert value(kernel, "added.status.tolist()") == "['added', 'skipped', 'skipped']"
    assert value(kernel, "'NUL' in added.reason[0]") == "True"
    kernel.ok("hits = jan.Collection('rows').search('words', mode='keyword')")
    assert value(kernel, "hits.text[0]") == "'words\ufffd here'"


def test_what_is_left_of_the_progress_says_what_was_read(kernel: Kernel) -> None:
    many = (
        "pd.Series([f'熊猫 {n} ' + 'bamboo and more words ' * 200 for n in range(500)], name='p')"
    )
    kernel.ok(f"import pandas as pd\nmany = {many}")
    ran = kernel.ok("added = %rag add many -c many")
    assert ran.displays, "it takes long enough for something to be shown"
    assert ran.displays[-1]["text/plain"] == "many: 500 documents"


def test_an_answer_is_held_against_its_sources(kernel: Kernel, tmp_path: Path) -> None:
    facts = tmp_path / "facts"
    facts.mkdir()
    for n in range(40):
        words = (f"{letters}{n:02}" for letters in ("stone", "weighs", "grams"))
        (facts / f"{n}.md").write_text(f"{' '.join(words)}.\n")
    kernel.ok("%rag add docs facts -c mixed")
    said = "The panda eats bamboo all day. `The panda eats bamboo`\n\nNobody knows why it snows."
    with serving_here(step(text=said)) as server:
        ask = f"%%chat -m {server.address}#m -c mixed -k 2 -o answer\nWhat does the panda eat?"
        kernel.ok(ask)
    assert value(kernel, "answer.grounding().supported.tolist()") == "[True, False]"
    first = value(kernel, "answer.sources.chunk[answer.sources.n == 1].tolist()")
    assert value(kernel, "answer.grounding().chunk[:1].tolist()") == first
    assert value(kernel, "answer.grounding().attrs['jan']['marked']") == repr(
        said.replace("day.", "day.[¹](#source-1)")
    )
