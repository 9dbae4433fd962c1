"""Time `chat.go` in a thread of 10,000 messages: `python -m tests.benchmarks.bench_switch`.

A switch writes its pointers durably, so the disk takes its part of the time.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import jan_magics as jan
from jan_magics.domain.messages import Thread
from tests.benchmarks.bench_storage import START
from tests.benchmarks.bench_tree import chain
from tests.benchmarks.claims import claimed
from tests.benchmarks.rounds import scaled

MOST_TO_SWITCH = 0.015
"""Seconds, p50."""


def switches(chat: jan.Chat, count: int = 21) -> list[float]:
    """Return the seconds of switches at the last fork; the first one reads the thread."""
    times = []
    for number in range(count):
        start = time.perf_counter()
        chat.go("prev" if number % 2 == 0 else "next")
        times.append(time.perf_counter() - start)
    return times


def main() -> int:
    """Measure both stores; 1 when one of them is over the bound."""
    within = True
    for kind in ("sqlite", "jsonl"):
        with (
            tempfile.TemporaryDirectory() as folder,
            jan.Chat("long", data_folder=str(Path(folder)), store=kind) as chat,
        ):
            store = chat._host.session().engine.store
            store.create_thread(Thread("long", "long", START, START))
            store.save(*(replace(each, thread_id="long") for each in chain()))
            first, *rest = switches(chat)
            claimed(f"{kind}: first chat.go of 10,000 messages", first * 1000, "ms")
            most = MOST_TO_SWITCH * 1000
            within &= claimed(f"{kind}: then", scaled(rest), "ms", most=most)
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
