"""How good searches are with default settings: `python -m tests.benchmarks.bench_quality`.

    --root FOLDER      where the Debian packages `manpages`, `manpages-dev`, `manpages-ja`,
                       `manpages-zh` and `python3.11-doc` are unpacked (JAN_BENCH_PAGES; else those
                       of the system)
    --chunking FOLDER  the corpora and `questions.csv` of chunking_evaluation (JAN_BENCH_CORPORA)
    --embedder NAME    static, unless others are named; may be given several times
    --set NAME         one of the sets alone, by a part of its name; may be given several times

Nothing is tuned per set. Documents are cut 200/40, a document's rank is that of its best chunk.
Targets for static: nDCG@10 of man pages .70, of Python's FAQ .50; recall@5 of chunks 88 %.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Document, Mode
from jan_magics.rag import embedders, ingest, metrics
from jan_magics.rag.chunking import cut
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.counting import counter_here
from jan_magics.rag.options import Options
from jan_magics.rag.recipes import recipe_of
from jan_magics.rag.search import search
from tests.benchmarks.claims import claimed, left_out
from tests.benchmarks.quality_sets import QualitySet, man_pages, python_faq
from tests.benchmarks.ready import opened

MODES: tuple[Mode, ...] = ("keyword", "vector", "hybrid")
PACKAGES = ("manpages", "manpages-dev", "manpages-ja", "manpages-zh", "python3.11-doc")
K = 10
LEAST = {"man pages": 0.70, "python faq": 0.50, "chunking": 0.88}
MOST_BELOW = 0.003


def filled(path: Path, documents: Sequence[Document], embedder: Embedder) -> SqliteCollection:
    """Ingest documents with default settings."""
    counter = counter_here()
    collection = opened(path)
    cutting = partial(cut, counter=counter)
    for _ in ingest.add(collection, documents, recipe_of(counter), cutting, embedder):
        pass
    return collection


def ranked_documents(collection: SqliteCollection, texts: Sequence[str], mode: Mode,
                     embedder: Embedder) -> Iterator[list[str]]:  # fmt: skip
    """Yield the sources of each question, by their best chunk."""
    for found in search(collection, texts, Options(k=5 * K, mode=mode), embedder):
        yield list(dict.fromkeys(hit.source for hit in found.hits))


def known_items(given: QualitySet, name: str, embedder: Embedder) -> dict[str, float]:
    """Return nDCG@10 of each mode."""
    documents = [Document(str(n), text) for n, text in enumerate(given.texts)]
    with tempfile.TemporaryDirectory() as made:
        collection = filled(Path(made) / "a.db", documents, embedder)
        scores: dict[str, float] = {}
        for mode in MODES:
            ranks = ranked_documents(collection, given.questions, mode, embedder)
            scores[mode] = fmean(
                metrics.ndcg(order, {str(n): 1.0 for n in answers}, K) or 0.0
                for order, answers in zip(ranks, given.answers, strict=True)
            )
        collection.close()
    told = "  ".join(f"{mode} {score:.3f}" for mode, score in scores.items())
    print(
        f"{name:8}{given.name:22}{len(given.texts):6} texts{len(given.questions):6} questions",
        told,
    )
    claim(name, given.name, "nDCG@10", scores)
    return scores


def claim(name: str, what: str, measure: str, scores: Mapping[str, float]) -> None:
    """Claim what is promised of `static`, and the better side of hybrid for every set."""
    least = LEAST.get(what) if name == "static" else None
    claimed(f"{name}, {what}: {measure}", scores["hybrid"], "", least=least)
    better = max(scores["keyword"], scores["vector"])
    claimed(f"{name}, {what}: hybrid below its better side", better - scores["hybrid"], "",
            most=MOST_BELOW)  # fmt: skip


def chunking(folder: Path, name: str, embedder: Embedder) -> dict[str, float]:
    """Return the share of reference characters that the best five chunks cover."""
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    covered: dict[str, list[float]] = {mode: [] for mode in MODES}
    for corpus in sorted({row["corpus_id"] for row in rows}):
        asked = [row for row in rows if row["corpus_id"] == corpus]
        with (folder / f"{corpus}.md").open(encoding="utf-8", newline="") as file:
            document = Document(corpus, file.read(), "markdown")
        with tempfile.TemporaryDirectory() as made:
            collection = filled(Path(made) / "a.db", [document], embedder)
            for mode in MODES:
                texts = [row["question"] for row in asked]
                for row, found in zip(
                    asked, search(collection, texts, Options(mode=mode), embedder), strict=True
                ):
                    spans = [(hit.chunk.start, hit.chunk.end) for hit in found.hits]
                    covered[mode].append(share(json.loads(row["references"]), spans))
            collection.close()
    scores: dict[str, float] = {mode: fmean(each) for mode, each in covered.items()}
    told = "  ".join(f"{mode} {score:.1%}" for mode, score in scores.items())
    print(f"{name:8}chunking, recall@5    {len(rows):6} questions  {told}")
    claim(name, "chunking", "recall@5", scores)
    return scores


def share(references: Sequence[dict[str, Any]], spans: Sequence[tuple[int, int]]) -> float:
    """Return the share of the characters of references that spans cover."""
    wanted = {at for each in references for at in range(each["start_index"], each["end_index"])}
    seen = {at for at in wanted if any(start <= at < end for start, end in spans)}
    return len(seen) / len(wanted)


def sets(root: Path | None) -> Iterator[QualitySet]:
    """Yield the sets whose packages are here."""
    if root is None:
        listed = subprocess.run(
            ["dpkg-query", "-L", *PACKAGES], capture_output=True, text=True, check=False
        ).stdout.splitlines()
        here, files = Path("/usr/share"), frozenset(map(Path, listed))
    else:
        here, files = root / "usr/share", None
    for language in ("", "ja", "zh_CN"):
        given = man_pages(here / "man", language, files)
        if given.questions:
            yield given
    if (sources := here / "doc/python3.11/html/_sources").is_dir():
        yield python_faq(sources)


def folder_of(variable: str) -> Path | None:
    """Return the folder that a variable names."""
    named = os.environ.get(variable)
    return Path(named) if named else None


def main() -> None:
    """Measure every set with every embedder."""
    parser = argparse.ArgumentParser(description="Measure the quality of searches.")
    parser.add_argument("--root", type=Path, default=folder_of("JAN_BENCH_PAGES"))
    parser.add_argument("--chunking", type=Path, default=folder_of("JAN_BENCH_CORPORA"))
    parser.add_argument("--embedder", action="append")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    report = {}
    for name in given.embedder or ["static"]:
        embedder = embedders.make(name)
        for each in sets(given.root):
            if given.set and not any(part in each.name for part in given.set):
                continue
            report[f"{name} {each.name}"] = known_items(each, name, embedder)
        if given.chunking and (not given.set or "chunking" in given.set):
            report[f"{name} chunking"] = chunking(given.chunking, name, embedder)
    if not report:
        left_out("quality of searches", "no sets here: --root, --chunking and `--help` say which")
    Path("build/bench").mkdir(parents=True, exist_ok=True)
    Path("build/bench/quality.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
