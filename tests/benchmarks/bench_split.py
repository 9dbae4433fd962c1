"""Time the cutting of five corpora beside LangChain and semchunk: how many times faster are we.

    python -m tests.benchmarks.bench_split [FOLDER]

FOLDER, else the variable JAN_BENCH_CORPORA, holds the corpora of the chunking evaluation (`*.md`);
without it Python's own reference and our decision records are cut. All three count with the same
exact vocabulary, to 200 tokens without an overlap; its cache is emptied before each run. Ours give
spans, headings and ids, too; "counted again" is ours with every chunk encoded once more by itself.
Times are of the processor: what else the machine does is left out.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pydoc_data.topics import topics
from time import process_time
from typing import Any

from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import VocabularyCounter, counter_here
from tests.benchmarks.claims import RATIO, claimed, left_out
from tests.benchmarks.rounds import installed, interleaved, ratios, scaled

CORPORA = "JAN_BENCH_CORPORA"
ROOT = Path(__file__).parents[2]
SIZE, RUNS = 200, 9
LEAST = {"LangChain": 4.0, "semchunk": 2.0}
MOST_WITHOUT_BLANKS = 2.0  # seconds, for 10 MB


def main(folder: str = "") -> int:
    counter = counter_here()
    if not isinstance(counter, VocabularyCounter):
        left_out("chunking", "splintr-rs is not installed: there is nothing exact to count with")
        return 0
    folder = folder or os.environ.get(CORPORA, "")
    documents = corpora(folder)
    checked(documents, counter)
    # What is promised is promised of those five corpora.
    within = compared(documents, counter, LEAST if folder else {})
    return 0 if without_blanks(counter) and within else 1


def corpora(folder: str) -> list[Document]:
    """Return the texts of a folder, or of Python and this repository."""
    if folder:
        paths = sorted(Path(folder).glob("*.md"))
        if not paths:
            raise SystemExit(f"no corpora in {folder!r}")
        return [Document(path.name, path.read_bytes().decode(), "markdown") for path in paths]
    left_out("the chunking evaluation", f"{CORPORA} names no folder; Python's reference is cut")
    records = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    ours = "\n\n".join(path.read_text("utf-8") for path in records)
    return [
        Document("python.md", "\n\n".join(topics.values()), "markdown"),
        Document("ours.md", ours, "markdown"),
    ]


def compared(
    documents: Sequence[Document], counter: VocabularyCounter, least: Mapping[str, float]
) -> bool:
    """Claim the time of each; the runs take turns, so that all share what the machine does."""
    texts = [document.text for document in documents]
    recipe = Recipe(size=SIZE, overlap=0)
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: [cut(each, recipe, counter) for each in documents],
        "ours, counted again": lambda: [counted_again(each, recipe, counter) for each in documents],
        **rivals(texts, counter.count),
    }
    vocabulary: Any = counter.vocabulary
    times = interleaved(ways, RUNS, before=vocabulary.clear_cache, clock=process_time)
    length, within = sum(map(len, texts)), True
    for name, seconds in times.items():
        claimed(f"cut {length / 1e6:.1f} M characters, {name}", scaled(seconds), "ms")
        if name in LEAST:
            shares = ratios(seconds, times["ours"])
            within &= claimed(f"{name}'s time, of ours", shares, RATIO, least=least.get(name))
            claimed(f"{name}'s time, of ours, counted again",
                    ratios(seconds, times["ours, counted again"]), RATIO)  # fmt: skip
    return within


def rivals(texts: Sequence[str], count: Callable[[str], int]) -> dict[str, Callable[[], object]]:
    """Return what is installed of the group `bench`."""
    ways: dict[str, Callable[[], object]] = {}
    if installed("langchain_text_splitters", "langchain-text-splitters"):
        splitter = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter(
            chunk_size=SIZE, chunk_overlap=0, length_function=count
        )
        ways["LangChain"] = lambda: [splitter.split_text(text) for text in texts]
    if installed("semchunk"):
        semchunk, inside = import_module("semchunk"), import_module("semchunk.semchunk")

        def run() -> object:
            inside._memoized_token_counters.clear()
            chunker = semchunk.chunkerify(count, SIZE)
            return [chunker(text, offsets=True) for text in texts]

        ways["semchunk"] = run
    return ways


def counted_again(document: Document, recipe: Recipe, counter: VocabularyCounter) -> list[int]:
    """Return the tokens of each chunk, encoded by itself."""
    chunks = cut(document, recipe, counter)
    return [counter.count(document.text[chunk.start : chunk.end]) for chunk in chunks]


def checked(documents: Sequence[Document], counter: VocabularyCounter) -> None:
    """Fail where a chunk is too long, miscounted or lost."""
    sizes = []
    for document in documents:
        for overlap in (0, 40):
            chunks: tuple[Chunk, ...] = cut(document, Recipe(size=SIZE, overlap=overlap), counter)
            text, done = document.text, 0
            for chunk in chunks:
                tokens = len(counter.vocabulary.encode_ordinary(text[chunk.start : chunk.end]))
                if tokens != chunk.tokens or tokens > SIZE or text[done : chunk.start].strip():
                    raise SystemExit(f"wrong in {document.source}: {chunk}")
                done = chunk.end
                sizes.append(tokens)
    claimed("chunks counted one by one, none too long", len(sizes), "")
    claimed("filled on average", sum(sizes) / len(sizes) / SIZE * 100, "%")


def without_blanks(counter: VocabularyCounter) -> bool:
    """Print the time of 10 MB without a separator."""
    slowest = 0.0
    for sign in ("x", "ab1", "的", "😀", " "):
        text = sign * (10_000_000 // len(sign.encode()))
        begun = process_time()
        cut(Document("a", text), Recipe(), counter)
        slowest = max(slowest, process_time() - begun)
    return claimed("10 MB without a separator", slowest, "s", most=MOST_WITHOUT_BLANKS)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
