"""`%rag search … --live` in a real kernel: all candidates, each in its document, a still form."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel
from tests.widgets.conftest import watched_kernel
from tests.widgets.pages import WIDGET, Page

HOSTILE = "<img src=x onerror=alert(1)>.md"
DOCUMENTS = {
    "熊猫.md": "# 熊猫\n\n" + "大熊猫吃竹子，住在山里。" * 40,
    "boats.md": "# Boats\n\n" + "A boat floats on water. It has a keel.\n\n" * 30,
    "trains.md": "# Trains\n\nA train runs on rails, not on water.\n\n" + "Steel wheels. " * 60,
    HOSTILE: "# Water <script>alert(1)</script>\n\nA boat of water.\n",
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("scores")
    (folder / "papers").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "papers" / name).write_text(text, encoding="utf-8")
    with watched_kernel(folder) as running:
        running.ok("%rag add -c it papers")
        yield running


def test_all_candidates_come_with_what_decides_about_them(kernel: Kernel) -> None:
    ran = kernel.ok("%rag search -c it -k 2 --live a boat on water", cell_id="a")
    page = Page(kernel, ran, "score")
    state = page.ask("scores", kind="ready")
    assert state["question"] == "a boat on water"
    assert state["k"] == 2
    assert state["threshold"] is None
    assert len(state["rows"]) > 2
    assert all(row["lost"] == "" for row in state["rows"])
    full = {bar["name"]: bar["full"] for row in state["rows"] for bar in row["bars"]}
    assert full["vector"] == "1"
    assert all(full.values())
    table = kernel.ok("_.value.chunk.tolist()").result
    assert table == str([row["chunk"] for row in state["rows"][:2]])


def test_a_threshold_in_the_page_decides_as_a_search_does(kernel: Kernel) -> None:
    page = Page(kernel, kernel.ok("%rag search -c it -k 3 --live boat"), "score")
    rows = page.ask("scores", kind="ready")["rows"]
    cosines = sorted(row["cosine"] for row in rows if row["cosine"] is not None)
    limit = cosines[len(cosines) // 2]
    passing = [r["chunk"] for r in rows if r["cosine"] is not None and r["cosine"] >= limit][:3]
    kernel.ok(f"found = %rag search -c it -k 3 --threshold {limit} boat")
    assert kernel.ok("found.chunk.tolist()").result == str(passing)


def test_a_chunk_is_shown_in_its_document(kernel: Kernel) -> None:
    page = Page(kernel, kernel.ok("%rag search -c it --live 大熊猫"), "score")
    row = page.ask("scores", kind="ready")["rows"][0]
    assert row["source"].endswith("熊猫.md")
    shown = page.ask("document", kind="document", chunk=row["chunk"])
    whole = "".join(shown[each] for each in ("before", "text", "after"))
    assert whole in DOCUMENTS["熊猫.md"]
    assert "大熊猫" in shown["text"]
    refused = page.ask("failed", kind="document", chunk="nothing")
    assert "not among the candidates" in refused["message"]
    assert refused["next"] == "Search again."


def test_the_table_stands_beside_the_view(kernel: Kernel) -> None:
    ran = kernel.ok("%rag search -c it -k 2 --live -o found boat")
    bundle = ran.results[-1]
    assert {WIDGET, "text/plain", "text/html"} <= bundle.keys()
    assert "<table" in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    assert kernel.ok("len(found)").result == "2"
    state = str(Page(kernel, ran, "score").state)
    assert len(state) < 50_000


def test_a_view_of_an_earlier_run_is_closed(kernel: Kernel) -> None:
    first = Page(kernel, kernel.ok("%rag search -c it --live boat", cell_id="again"), "score")
    other = Page(kernel, kernel.ok("%rag search -c it --live boat", cell_id="other"), "score")
    ran = kernel.ok("%rag search -c it --live boat", cell_id="again")
    closed = [content["comm_id"] for kind, content in ran.comms if kind == "comm_close"]
    assert closed == [first.comm]
    ran = kernel.ok("1", cell_id="other")
    assert [c["comm_id"] for kind, c in ran.comms if kind == "comm_close"] == [other.comm]


def test_without_a_page_the_table_is_all(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nA boat.\n", encoding="utf-8")
    with running_kernel(tmp_path) as alone:
        alone.ok("%load_ext jan_magics\n%rag add -c it a.md")
        ran = alone.ok("found = %rag search -c it --live boat")
        assert "--live shows more in a notebook that is open in a browser" in ran.out
        assert alone.ok("type(found).__name__").result == "'DataFrame'"
        assert alone.ok("import sys\n'anywidget' in sys.modules").result == "False"
        assert not [kind for kind, _ in ran.comms if kind == "comm_open"]
