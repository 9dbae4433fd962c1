"""Searches with a filter, beside their rivals: `python -m tests.benchmarks.bench_filters [N]`.

100,000 × 256, and filters that let 50, 10, 1 and 0.1 % of the chunks pass. What is found is
compared with a product of all rows that pass, before anything is timed: recall must be 1.
"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from jan_magics.domain.retrieval import Document
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.options import Options
from jan_magics.rag.search import search
from jan_magics.rag.vectors import FloatMatrix
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.ready import Ready, chunk_texts, documents, filled, unit_rows
from tests.benchmarks.rounds import by_question, ratios, scaled
from tests.benchmarks.vector_rivals import (
    APPROXIMATE,
    SHARES,
    Ask,
    K,
    bare_numpy,
    made,
    with_sqlite_vec,
)

DIM, QUESTIONS = 256, 12
SELECTED = {500: "50 %", 100: "10 %", 10: "1 %", 1: "0.1 %"}


def shared(texts: Sequence[str]) -> list[Document]:
    """Return documents of a hundred chunks whose metadata say their share."""
    return [
        replace(document, metadata={"share": at % SHARES})
        for at, document in enumerate(documents(texts))
    ]


def ours(collection: SqliteCollection, asked: FloatMatrix, texts: Sequence[str], embedder: Ready
         ) -> Ask:  # fmt: skip
    """Return our whole search, which answers with texts, as the others are asked."""
    names = {text.strip(): n for n, text in enumerate(texts)}
    known = {query.tobytes(): str(n) for n, query in enumerate(asked)}

    def ask(query: FloatMatrix, below: int | None) -> Sequence[int]:
        options = Options(k=K, mode="vector", where=f"share < {below}")
        [found] = search(collection, [known[query.tobytes()]], options, embedder)
        return [names[hit.text.strip()] for hit in found.hits]

    return ask


def recalls(
    ways: Mapping[str, Ask], truth: Ask, asked: FloatMatrix, below: int
) -> dict[str, float]:
    """Return the share of the true neighbours that each finds."""
    wanted = [{*truth(query, below)} for query in asked]
    return {
        name: fmean(
            len(right & {*ask(query, below)}) / len(right)
            for query, right in zip(asked, wanted, strict=True)
        )
        for name, ask in ways.items()
    }


def main(n: int = 100_000) -> int:
    """Measure every filter; 1 when something was not found."""
    texts, rows, asked = chunk_texts(n), unit_rows(n, DIM), unit_rows(QUESTIONS, DIM, 9)
    known = dict(zip(texts, rows, strict=True))
    embedder = Ready(known | {str(i): each for i, each in enumerate(asked)}, DIM)
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        collection = filled(Path(folder) / "ours.db", shared(texts), embedder)
        ways = {
            "ours": ours(collection, asked, texts, embedder),
            "sqlite-vec": with_sqlite_vec(Path(folder), rows),
            **made(Path(folder), rows, without={"usearch": "it has no filters in Python"}),
        }
        truth = bare_numpy(Path(folder), rows)
        for below, what in SELECTED.items():
            found = recalls(ways, truth, asked, below)
            for name, share in found.items():
                least = 1.0 if name == "ours" else None
                kept &= claimed(f"{what} pass: recall, {name}", share, "", least=least)
                assert name in APPROXIMATE or share == 1, name
            times = by_question(
                {name: lambda i, ask=ask, below=below: ask(asked[i], below)  # type: ignore[misc]
                 for name, ask in ways.items()}, QUESTIONS,
            )  # fmt: skip
            for name, seconds in times.items():
                claimed(f"{what} pass: {name}", scaled(seconds), "ms")
            for name in [*times][1:]:
                shares = ratios(times[name], times["ours"])
                claimed(f"{what} pass: {name}'s time of ours", shares, RATIO)
        collection.close()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
