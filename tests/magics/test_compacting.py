"""A compaction in a real kernel: what the display shows, Ctrl-C, and a kernel that is killed."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jan_magics.storage.convert import Kind, open_kind
from tests.kernel import Kernel, homes, running_kernel
from tests.providers.asking import sse
from tests.providers.loopback import Reply, Server, chunked, http
from tests.providers.serving import serving_here
from tests.storage.writer import ticking

TURNS = 5
WORDS = "word " * 68


def answer(text: str) -> Reply:
    return http(sse({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}))


ANSWERS = tuple(answer(f"answer {n} {WORDS}") for n in range(1, TURNS + 1))
SUMMARY = answer("The user plans an experiment. Its data are being cleaned.")
HANGS = chunked(sse({"choices": [{"delta": {"content": "The"}}]}, done=False), end=False)
"""A summary that begins and never ends."""


@contextmanager
def asked(folder: Path, *replies: Reply, store: str = "sqlite") -> Iterator[tuple[Kernel, Server]]:
    """Start a kernel whose thread is full: the next turn begins with a compaction."""
    with serving_here(*ANSWERS, *replies) as server:
        told = {
            "JAN_MODEL": f"{server.address}#m", "JPY_SESSION_NAME": str(folder / "work.ipynb"),
            "JAN_TOKENIZER": "chars/3.5", "JAN_WINDOW": "2048", "JAN_OVERFLOW": "compact",
            "JAN_STORE": store,
        }  # fmt: skip
        with running_kernel(folder, **homes(folder), **told) as kernel:
            kernel.ok("%load_ext jan_magics\nimport jan_magics as jan")
            for n in range(1, TURNS + 1):
                kernel.ok(f"%%chat -q\n{WORDS}question {n}", cell_id=f"c{n}")
            yield kernel, server


def statuses(kernel: Kernel) -> str:
    return kernel.ok("' '.join(jan.current().messages().status)").result.strip("'")


def stored(folder: Path, kind: Kind) -> object:
    """Return all that the store holds, read anew."""
    store = open_kind(kind, folder / "data", ticking())
    try:
        return [store.whole(row.thread.id) for row in store.threads()]
    finally:
        store.close()


def test_dropping_what_a_summary_tells_of_says_that_it_still_does(tmp_path: Path) -> None:
    with asked(tmp_path, SUMMARY, answer("done")) as (kernel, _):
        kernel.ok(f"%%chat\n{WORDS}question 6")
        identifier = kernel.ok("jan.current().messages().id[0][:8]").result.strip("'")
        said = kernel.ok(f"%chat drop {identifier}").result.splitlines()
        assert said[1:] == [
            "the summary still tells of it · make it anew: %chat compact --off, %chat compact"
        ]
        reasons = kernel.ok("list(jan.current().plan('?').reason)").result
        assert "hidden, but the summary tells of it" in reasons


def test_the_footer_tells_and_the_summary_is_sent(tmp_path: Path) -> None:
    with asked(tmp_path, SUMMARY, answer("done")) as (kernel, server):
        ran = kernel.ok(f"%%chat\n{WORDS}question 6")
        footer = ran.displays[-1]["text/plain"]
        assert "6 messages compacted into a summary: ≈624 → ≈28 tokens" in footer
        assert "back: %chat compact --off" in footer
        assert statuses(kernel).split() == ["compressed"] * 6 + ["active"] * 6
        sent = json.loads(server.bodies[-1])["messages"]
        assert sent[0]["role"] == "system"
        assert "Its data are being cleaned." in sent[0]["content"]
        assert [each["role"] for each in sent[1:]] == ["user", "assistant"] * 2 + ["user"]
        kernel.ok("%chat compact --off")
        assert set(statuses(kernel).split()) == {"active"}


def test_it_is_shown_while_it_goes_on_and_ctrl_c_stops_the_turn(tmp_path: Path) -> None:
    with asked(tmp_path, HANGS, SUMMARY, answer("done")) as (kernel, server):
        ran = kernel.run(f"%%chat\n{WORDS}question 6", interrupt=1.5)
        shown = [each.get("text/markdown", "") for each in ran.updates]
        assert any("compacting 6 messages" in text for text in shown)
        assert (ran.interrupted_after or 9) < 1
        assert len(server.bodies) == TURNS + 1
        assert statuses(kernel).split() == ["active"] * 11
        again = kernel.ok("%chat retry")
        assert "6 messages compacted" in again.displays[-1]["text/plain"]
        assert statuses(kernel).split() == ["compressed"] * 6 + ["active"] * 6


@pytest.mark.parametrize("kind", ["sqlite", "jsonl"])
def test_a_kernel_that_is_killed_meanwhile_leaves_the_thread_as_it_was(
    kind: Kind, tmp_path: Path
) -> None:
    with asked(tmp_path, HANGS, SUMMARY, answer("done"), store=kind) as (kernel, server):
        kernel._send(f"%%chat\n{WORDS}question 6", "c6", may_ask=False)
        deadline = time.monotonic() + 20
        while len(server.bodies) <= TURNS and time.monotonic() < deadline:
            time.sleep(0.05)
        before = stored(tmp_path, kind)
        os.kill(kernel.process, signal.SIGKILL)
        assert stored(tmp_path, kind) == before
        kernel.restart()
        kernel.ok("%load_ext jan_magics\nimport jan_magics as jan")
        assert statuses(kernel).split() == ["active"] * 11
        kernel.ok("%chat retry")
        assert statuses(kernel).split() == ["compressed"] * 6 + ["active"] * 6
