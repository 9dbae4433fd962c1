"""How long 100,000 ready vectors with texts take: `python -m tests.benchmarks.bench_ingest [N]`.

Target: at least 10 × as fast as Chroma, words indexed and all committed. Chroma is left out where
it is not installed (`pip install chromadb`).
"""

import json
import platform
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from jan_magics.rag import ingest
from jan_magics.rag.vectors import FloatMatrix
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.ready import RECIPE, Ready, chunk_texts, documents, lines, opened, unit_rows

N, DIM = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, 256


def ours(texts: list[str], rows: FloatMatrix, folder: Path) -> float:
    """Return the seconds until everything is in the file."""
    embedder = Ready(dict(zip(texts, rows, strict=True)), DIM)
    given = documents(texts)
    collection = opened(folder / "ours.db")
    begun = time.perf_counter()
    chunks = sum(row.chunks or 0 for row in ingest.add(collection, given, RECIPE, lines, embedder))
    collection.close()
    assert chunks == N
    return time.perf_counter() - begun


def chroma(texts: list[str], rows: FloatMatrix, folder: Path) -> float:
    """Return the seconds that Chroma takes for the same, in batches of 5,000."""
    import chromadb  # type: ignore[import-not-found, unused-ignore]

    collection = chromadb.PersistentClient(str(folder / "chroma")).create_collection("bench")
    begun = time.perf_counter()
    for at in range(0, N, 5_000):
        part = slice(at, at + 5_000)
        collection.add(
            ids=[str(n) for n in range(N)[part]], embeddings=rows[part], documents=texts[part]
        )
    return time.perf_counter() - begun


def main() -> None:
    """Measure, one after the other, on the same texts."""
    texts, rows = chunk_texts(N), unit_rows(N, DIM)
    report = {}
    with tempfile.TemporaryDirectory() as made:
        report["ours"] = ours(texts, rows, Path(made))
        if find_spec("chromadb"):
            report["chroma"] = chroma(texts, rows, Path(made))
    print("  ".join(f"{name} {seconds:.1f} s" for name, seconds in report.items()))
    if "chroma" in report:
        ratio = report["chroma"] / report["ours"]
        claimed("Chroma's time", ratio, RATIO, least=10)
    print(f"Python {platform.python_version()}, {platform.machine()}")
    Path("build/bench").mkdir(parents=True, exist_ok=True)
    Path("build/bench/ingest.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
