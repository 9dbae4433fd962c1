"""Replay asks nobody, in copies too; a recording overwrites nothing that is not its own."""

import json
from pathlib import Path

from tests.kernel import Kernel, running_kernel
from tests.leaky import GITHUB
from tests.providers.loopback import http
from tests.providers.serving import serving_here
from tests.providers.test_embeddings import rows

FILE = "lesson.jan.jsonl"
NOTES = "# 望远镜\nThe telescope stands in room 12 🔭.\n"


def failure(kernel: Kernel, code: str) -> str:
    ran = kernel.run(code)
    assert ran.error is not None
    return f"{ran.error[0]}: " + "\n".join(ran.error[2])


def test_no_text_goes_to_a_server_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    probe, text, question = rows([3.0, 4.0]), rows([1, 0]), rows([0.1, 5])
    with serving_here(probe, text, question, probe, probe) as server:
        name = f"{server.address}#embedder"
        cells = (f"%rag add notes.md --embedder {name}", "%rag search telescope")
        with running_kernel(tmp_path) as kernel:
            kernel.ok(f"%load_ext jan_magics\n%chat record {FILE}")
            for cell in cells:
                kernel.ok(cell)
        asked = len(server.bodies)
        with running_kernel(tmp_path, JAN_REPLAY=FILE) as kernel:
            kernel.ok("%load_ext jan_magics")
            for cell in cells:
                kernel.ok(cell)
            assert "NotRecorded" in failure(kernel, "%rag search 望远镜")
            unknown = failure(kernel, f"%rag add notes.md -c new --embedder {server.address}#other")
            assert "no server is asked while one is replayed" in unknown
            judged = failure(kernel, f"%rag search --rerank {server.address}#judge telescope")
            assert "NotRecorded" in judged
            added = kernel.ok(f"%rag add {server.address}/page.html --embedder none -c web")
            assert "nothing is fetched while a cassette is played" in str(added.results)
        assert len(server.bodies) == asked == 3


def test_a_file_that_is_no_cassette_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(NOTES, encoding="utf-8")
    (tmp_path / "empty.jan.jsonl").touch()
    with running_kernel(tmp_path) as kernel:
        kernel.ok("%load_ext jan_magics")
        assert "'notes.md' is there, and is no cassette" in failure(kernel, "%chat record notes.md")
        assert kernel.ok("%chat record --off").result == "nothing is being recorded"
        kernel.ok("%chat record empty.jan.jsonl")
        kernel.ok("%%chat -m offline:echo\n好")
        kernel.ok(f"%%chat\nis {GITHUB} a key? 🔑")
        said = kernel.ok("%chat record --off").result
    assert "holds 2 answers" in said
    assert "it holds what looks like 1 key: %chat leaks empty.jan.jsonl" in said
    assert (tmp_path / "notes.md").read_text("utf-8") == NOTES


def test_the_next_step_of_an_error_can_be_taken_in_a_copy(tmp_path: Path) -> None:
    with running_kernel(tmp_path) as kernel:
        kernel.ok(f"%load_ext jan_magics\n%chat record {FILE}")
        kernel.ok("%%chat -m offline:echo\nfirst 好")
    for told in ({"JAN_NOTEBOOK": str(tmp_path / "lesson copy.ipynb")}, {}):
        with running_kernel(tmp_path, JAN_REPLAY=".", **told) as kernel:
            kernel.ok("%load_ext jan_magics")
            kernel.ok("%%chat -m offline:echo\nfirst 好")
            step = "%chat replay --missing offline"
            assert step in failure(kernel, "%%chat\nanother")
            assert "what is not recorded: offline" in kernel.ok(step).result
            # The thread goes on: what was asked before is there.
            assert "asked of offline:quote" in str(kernel.ok("%%chat\nanother").displays)
            assert "first 好" in kernel.ok("%chat show").result
            assert "replaying 1 answer" in kernel.ok("%chat replay").result


def test_a_failure_is_recorded_without_its_server(tmp_path: Path) -> None:
    refused = http(json.dumps({"error": {"message": "no such tone 🎺"}}).encode(), status=400)
    with serving_here(refused) as server, running_kernel(tmp_path) as kernel:
        kernel.ok(f"%load_ext jan_magics\n%chat record {FILE}")
        assert "no such tone" in failure(kernel, f"%%chat -m {server.address}#m\nplay")
    written = (tmp_path / FILE).read_text("utf-8")
    assert "no such tone 🎺" in written
    assert "127.0.0.1" not in written
