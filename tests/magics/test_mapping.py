"""`%%chat --map` in a real kernel: expressions, the bar, stopping, going on, replaying."""

import ast
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.answering import Answering, Said, answering
from tests.kernel import Kernel, homes, running_kernel

FRAME = """%load_ext jan_magics
import pandas as pd
titles = ["eins", "北京 🏯", "{{ boom }}"]
df = pd.DataFrame({"title": titles, "a b": [1, 2, None]}, index=list("xyz"))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("map")
    with running_kernel(folder, JAN_MODEL="offline:echo", **homes(folder)) as running:
        running.ok(FRAME)
        yield running


def value(kernel: Kernel, expression: str) -> object:
    found: object = ast.literal_eval(kernel.ok(expression).result)
    return found


def test_a_cell_evaluates_expressions_over_a_row(kernel: Kernel) -> None:
    kernel.ok("word = 'und'")
    ran = kernel.ok(
        '%%chat --map df -o out\n{{ row.title.upper() }} {{ word }} {{row["a b"]}} { } \\{{x}}'
    )
    assert value(kernel, "out.answer.tolist()") == [
        "EINS und 1.0 { } {{x}}", "北京 🏯 und 2.0 { } {{x}}", "{{ BOOM }} und  { } {{x}}",
    ]  # fmt: skip
    assert kernel.ok("out.index.tolist()").result == "['x', 'y', 'z']"
    assert "3 rows · 3 answered · offline:echo" in ran.displays[-1]["text/plain"]
    assert "text/html" in ran.results[-1], "the cell's value is the table"
    assert kernel.ok("import jan_magics as jan; len(jan.current().messages())").result == "0"


def test_a_column_may_have_a_name_that_python_keeps_for_itself(kernel: Kernel) -> None:
    kernel.ok("kept = [{'class': 'Säugetier', 'in': ['北京']}]")
    kernel.ok("%%chat --map kept -o out\n{{row.class}} {{ row.in[0] }} {{row['class']}}")
    assert value(kernel, "out.answer.tolist()") == ["Säugetier 北京 Säugetier"]


def test_a_row_whose_expression_fails_is_a_row(kernel: Kernel) -> None:
    kernel.ok("%%chat --map df -o out\n{{ int(row['a b']) }} {{row.title}}")
    assert kernel.ok("out.error.notna().tolist()").result == "[False, False, True]"
    ran = kernel.run("%%chat --map df\n{{ row.titel }}")
    assert ran.error is not None
    assert "closest: 'title'" in ran.error[1]
    assert kernel.run("%%chat --map df\n{{ nmae }} {{row}}").error is not None


REFUSED = {
    "--map dff": "closest: df",
    "--map df --grid window=1,2": "--grid does nothing beside --map",
    "--map df --background": "--background does nothing beside --map",
    "--map df --at abc": "--at does nothing beside --map",
    "--grid window=1000,2000 --at abc": "--at does nothing beside --grid",
    "--grid window=1000,2000 -q": "-q does nothing beside --grid",
    "--again": "--again is about the rows of a table",
    "--prefix x": "--prefix is about the rows of a table",
    "--map df --concurrency 0": "ask 1 to 64 rows at a time",
    "--map df --max-cost much": "'much' is no amount",
    "--map df --max-cost 1": "what offline:echo costs is not known",
    "--map df": "names nothing of a row",
}


@pytest.mark.parametrize("flags", REFUSED)
def test_what_a_map_refuses(kernel: Kernel, flags: str) -> None:
    ran = kernel.run(f"%%chat {flags}\n{'{{row.title}}' if flags != '--map df' else 'hi'}")
    told = f"{ran.err}{ran.error[1] if ran.error else ''}"
    assert REFUSED[flags] in told


def test_the_manual_is_at_hand(kernel: Kernel) -> None:
    shown = kernel.ok("%chat help map").result
    for flag in ("--schema", "--concurrency", "--max-cost", "--prefix", "--again", "{{row.title}}"):
        assert flag in shown
    assert "SchemaUnmet" in kernel.ok("%chat help schema").result
    assert "map, schema" in kernel.ok("%chat help").result


def test_a_dry_run_shows_the_first_row(kernel: Kernel) -> None:
    shown = kernel.ok("%%chat --map df --dry-run\nAsk {{row.title}}").result
    assert shown.startswith("nothing was sent")
    assert shown.endswith("Ask eins")


def slow(prompt: str) -> Said:
    return Said(prompt, seconds=0.15)


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering(slow) as told:
        yield told


MANY = "%load_ext jan_magics\nrows = [str(n) for n in range(12)]"
CELL = "%%chat -t lab --map rows -o table\nrow {{row}}"


def test_an_interrupt_keeps_what_is_answered_and_the_cell_goes_on(
    tmp_path: Path, server: Answering
) -> None:
    with running_kernel(tmp_path, JAN_MODEL=f"{server.address}#m") as kernel:
        kernel.ok(MANY)
        kernel.ok("%%chat -t lab\nwarm up")
        asked = len(server.prompts)
        ran = kernel.run(CELL, interrupt=lambda: len(server.prompts) - asked >= 3)
        assert ran.error is not None
        assert ran.error[0] == "Stopped"
        assert ran.interrupted_after is not None
        assert ran.interrupted_after < 1.5
        kept = int(kernel.ok("int(table.answer.notna().sum())").result)
        assert 1 <= kept < 12
        assert f"kept {kept} of 12 rows" in ran.error[1]
        assert any("<progress" in str(each.get("text/html")) for each in ran.updates)
        sent = len(server.prompts) - asked
        assert sent <= kept + 1
        kernel.restart()
        kernel.ok(MANY)
        asked = len(server.prompts)
        ran = kernel.ok(CELL)
        assert f"{kept} stored" in ran.displays[-1]["text/plain"]
        assert len(server.prompts) - asked == 12 - kept
        assert value(kernel, "table.answer.tolist()") == [f"row {n}" for n in range(12)]


def test_a_kill_loses_only_what_came_in_the_last_moment(tmp_path: Path, server: Answering) -> None:
    with running_kernel(tmp_path, JAN_MODEL=f"{server.address}#m") as kernel:
        kernel.ok(MANY)
        kernel._send(CELL, "", may_ask=False)
        while len(server.prompts) < 6:
            time.sleep(0.01)
        asked, cut = list(server.times), time.perf_counter()
        os.kill(kernel.process, signal.SIGKILL)
    # What was answered 100 ms before the end is kept; a row takes 150 ms.
    kept = sum(each + 0.15 < cut - 0.1 for each in asked)
    with running_kernel(tmp_path, JAN_MODEL=f"{server.address}#m") as kernel:
        kernel.ok(MANY)
        before = len(server.prompts)
        kernel.ok(CELL)
    assert kept >= 3
    assert len(server.prompts) - before <= 12 - kept


def test_a_map_replays_the_same(tmp_path: Path) -> None:
    texts = iter("abcdefghij")
    rows = "%load_ext jan_magics\nrows = ['1', '2', '1', '3', '1']"
    cell = "%%chat --map rows -o table\nrow {{row}}"
    with (
        answering(lambda _: Said(next(texts), seconds=0.02)) as server,
        running_kernel(tmp_path, JAN_MODEL=f"{server.address}#m") as kernel,
    ):
        kernel.ok(rows)
        kernel.ok("%chat record map.jan.jsonl")
        kernel.ok(cell)
        answers = value(kernel, "table.answer.tolist()")
        kernel.ok("%chat record --off")
    shown = []
    for _ in range(2):
        with running_kernel(tmp_path, JAN_REPLAY="map.jan.jsonl", JAN_MODEL="") as kernel:
            kernel.ok(rows)
            ran = kernel.ok(cell)
            shown.append(json.dumps([ran.displays, ran.results]))
            assert len(ran.updates) == 1, "one display, shown once"
            assert "5 answered" in ran.displays[0]["text/plain"]
            assert value(kernel, "table.answer.tolist()") == answers
            assert value(kernel, "table.seconds.isna().all().item()")
    assert shown[0] == shown[1]
