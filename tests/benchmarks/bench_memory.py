"""The peak memory of every subject, a process each: `python -m tests.benchmarks.bench_memory`.

Those compared do the same work on the same inputs, one after the other in each round (`peak.py`
says what); `nobody` has the inputs and the imports alone. This process imports little: a child
counts what its parent held when it began. Kernels are asked for their own peak after a cell.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.benchmarks.claims import RATIO, claimed, left_out
from tests.benchmarks.rounds import ratios

ROOT = Path(__file__).parents[2]
OURS, NOBODY = "jan-magics", "nobody"
WHO: Mapping[str, tuple[str, ...]] = {
    "streaming": ("httpx", "openai", "langchain-openai", "chatlas"),
    "planning": ("langchain-core",),
    "threads": ("jan-magics, JSONL", "bare SQLite", "llm"),
    "chunking": ("langchain-text-splitters", "semchunk"),
    "search": ("numpy", "sqlite-vec", "faiss", "usearch", "lancedb", "chromadb"),
    "ingest": ("sqlite-vec", "lancedb", "chromadb"),
}
ROUNDS, ROUNDS_OF_LONG = 5, 2
LONG = ("search", "ingest", "threads")
PEAK = """
import resource as _r, sys as _s
print(_r.getrusage(_r.RUSAGE_SELF).ru_maxrss / (2**20 if _s.platform == "darwin" else 2**10))
"""


def peak(subject: str, who: str) -> float | None:
    """Return megabytes, None where that one is not installed."""
    command = [sys.executable, "-m", "tests.benchmarks.peak", subject, who]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = done.stdout.splitlines()[-1] if done.stdout.strip() else ""
    return float(told) if told else None


def compared(subject: str) -> None:
    """Claim the peak of each, and of how many times ours it is."""
    found: dict[str, list[float]] = {who: [] for who in (NOBODY, OURS, *WHO[subject])}
    for _ in range(ROUNDS_OF_LONG if subject in LONG else ROUNDS):
        for who in [*found]:
            if (megabytes := peak(subject, who)) is None:
                left_out(who, "not installed (pip install --group bench)")
                del found[who]
            else:
                found[who].append(megabytes)
    told(subject, found)


def told(subject: str, found: Mapping[str, list[float]]) -> None:
    """Claim megabytes and ratios."""
    for who, megabytes in found.items():
        claimed(f"{subject}: peak memory, {who}", megabytes, "MB")
    for who in [each for each in found if each not in (OURS, NOBODY)]:
        claimed(f"{subject}: {who}, of ours", ratios(found[who], found[OURS]), RATIO)


def of_kernels() -> None:
    """Claim the peak of a kernel after a cell, ours and that of jupyter-ai-magics."""
    from tests.benchmarks.bench_first_chat import kernel, server
    from tests.benchmarks.bench_magics import ASK, THEIRS, their_kernel
    from tests.kernel import Kernel

    def asked(running: Kernel, cell: str) -> float:
        running.ok(cell)
        return float(running.ok(PEAK).out)

    def ours(address: str, folder: Path) -> float:
        with kernel(folder, address) as running:
            return asked(running, "%%chat\nhi")

    def theirs(address: str, folder: Path) -> float:
        with their_kernel(folder, address) as running:
            return asked(running, ASK)

    ways: dict[str, Callable[[str, Path], float]] = {OURS: ours}
    if THEIRS.exists():
        ways["jupyter-ai-magics"] = theirs
    else:
        left_out("jupyter-ai-magics", "no environment build/bench/env-b: make bench")
    found: dict[str, list[float]] = {who: [] for who in ways}
    with server(0) as address:
        for _ in range(ROUNDS_OF_LONG):
            for who, way in ways.items():
                with tempfile.TemporaryDirectory() as folder:
                    found[who].append(way(address, Path(folder)))
    told("a cell in a kernel", found)


def main() -> None:
    """Measure everything; last the kernels, for which more is imported here."""
    for subject in WHO:
        compared(subject)
    of_kernels()


if __name__ == "__main__":
    main()
