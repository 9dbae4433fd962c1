"""Workers of Dask read, cut and embed; the result is that of one process, whatever they do."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import jan_magics as jan
from jan_magics.domain.errors import SettingError
from jan_magics.domain.retrieval import Document
from jan_magics.rag.counting import counter_here
from jan_magics.rag.distributed import Ahead, Job, check, connected, prepared
from jan_magics.rag.ingest import add
from jan_magics.rag.limits import USUAL
from jan_magics.rag.recipes import recipe_of
from tests.conftest import require
from tests.rag.embedding import Counting
from tests.rag.library import opened

ROOT = Path(__file__).parents[2]
TEXT = (
    "# {0} 题\n\n今天天气很好。The fork number {0} makes branches.\n\n## B\n\n"
    + "Hello there. " * 400
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    require("dask", find_spec("distributed"), "not installed: distributed")
    import distributed

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), before)))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as running:
        yield running
    os.environ["PYTHONPATH"] = before or ""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for n in range(12):
        (folder / f"{n:02}.md").write_text(TEXT.format(n), encoding="utf-8")
    (folder / "odd.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "empty.md").write_text("", encoding="utf-8")
    return folder


def rows(table: Any) -> list[tuple[str, str, object]]:
    return [(Path(row.source).name, row.status, row.chunks) for row in table.itertuples()]


def found(collection: jan.Collection) -> Any:
    hits = collection.search("fork 天气", k=500, mode="vector")
    return sorted(zip(hits.chunk, hits.start, hits.end, hits.score, strict=True))


@pytest.mark.timeout(300)
def test_the_result_is_that_of_one_process(cluster: Any, papers: Path, tmp_path: Path) -> None:
    with (
        jan.Collection("serial", data_folder=tmp_path / "a", embedder="hash") as serial,
        jan.Collection("spread", data_folder=tmp_path / "b", embedder="hash") as spread,
    ):
        want = serial.add(papers)
        got = spread.add(papers, dask=cluster.scheduler_address)
        assert rows(got) == rows(want)
        assert len(found(spread)) > 90
        assert found(spread) == found(serial)
        (papers / "03.md").write_text("# New\n\nAnother text.\n", encoding="utf-8")
        want = serial.add(papers)
        got = spread.add(papers, dask=cluster.scheduler_address)
        assert rows(got) == rows(want)
        assert dict.fromkeys(row[1] for row in rows(got)).keys() >= {"unchanged", "replaced"}
        assert found(spread) == found(serial)


@pytest.mark.timeout(300)
def test_a_worker_that_dies_loses_nothing_and_doubles_nothing(
    cluster: Any, papers: Path, tmp_path: Path
) -> None:
    for n in range(60):
        (papers / f"more{n:02}.md").write_text(TEXT.format(n + 100), encoding="utf-8")
    with (
        jan.Collection("serial", data_folder=tmp_path / "a", embedder="hash") as serial,
        jan.Collection("spread", data_folder=tmp_path / "b", embedder="hash") as spread,
        connected(cluster.scheduler_address) as client,
    ):
        before = set(client.run(os.getpid).values())
        client.submit(_end, min(before), 0.3, pure=False).result()
        got = spread.add(papers, dask=cluster.scheduler_address)
        client.wait_for_workers(2)
        assert min(before) not in client.run(os.getpid).values()
        want = serial.add(papers)
        assert rows(got) == rows(want)
        assert found(spread) == found(serial)


def _end(process: int, seconds: float) -> None:
    """Kill a worker a little later, from another one or from itself."""
    import subprocess

    subprocess.Popen(["/bin/sh", "-c", f"sleep {seconds}; kill -9 {process}"])


@pytest.mark.timeout(300)
def test_workers_do_the_work(cluster: Any, papers: Path, tmp_path: Path) -> None:
    embedder, collection, counter = Counting(dim=64), opened(tmp_path / "a.db"), counter_here()
    recipe = recipe_of(counter)
    files = sorted(papers.glob("0*.md"))
    jobs = [
        Job(str(path), path.name, USUAL, recipe, counter.name, embedder.fingerprint)
        for path in files
    ]
    with connected(cluster.scheduler_address) as client:
        ahead = Ahead(client, iter(jobs), counter)
        documents = (each for path in files if isinstance(each := ahead.read(path), Document))
        made = add(collection, documents, recipe, ahead.cut, prepared(embedder, ahead))
        assert [row.status for row in made] == ["added"] * len(files)
    assert embedder.seen == []
    collection.close()


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.5:8786", "10.0.0.5:8786", "ucx://127.0.0.1:1", "tls://", "", None]
)
def test_documents_do_not_leave_the_machine_unprotected(address: Any, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="not on this machine"):
        jan.Collection("a", data_folder=tmp_path).add(tmp_path, dask=address or "")


@pytest.mark.parametrize("address", ["tls://cluster:8786", "tcp://localhost:1", "127.0.0.1:8786"])
def test_protected_addresses_are_let_through(address: str) -> None:
    check(address)
