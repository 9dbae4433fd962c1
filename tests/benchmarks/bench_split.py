"""Time the cutting of five corpora beside LangChain and semchunk: how many times faster are we.

    python -m tests.benchmarks.bench_split FOLDER

FOLDER holds the corpora of the chunking evaluation (`*.md`). All three count with the same exact
vocabulary, to 200 tokens without an overlap; its cache is emptied before each run. Ours give spans,
headings and ids, too; "counted again" is ours with every chunk encoded once more by itself. Times
are of the processor: what else the machine does is left out.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.rag.chunking import cut
from jan_magics.rag.counting import VocabularyCounter, counter_here

SIZE, RUNS = 200, 9
LEAST = {"LangChain": 4.0, "semchunk": 2.0}
MOST_WITHOUT_BLANKS = 2.0  # seconds, for 10 MB


def main(folder: str) -> int:
    counter = counter_here()
    if not isinstance(counter, VocabularyCounter):
        raise SystemExit("splintr-rs is not installed: there is nothing exact to count with")
    documents = [
        Document(path.name, path.read_bytes().decode(), "markdown")
        for path in sorted(Path(folder).glob("*.md"))
    ]
    if not documents:
        raise SystemExit(f"no corpora in {folder!r}")
    within = compared(documents, counter)
    checked(documents, counter)
    return 0 if without_blanks(counter) and within else 1


def compared(documents: Sequence[Document], counter: VocabularyCounter) -> bool:
    """Print the time of each; the runs take turns, so that all share what the machine does."""
    texts = [document.text for document in documents]
    recipe = Recipe(size=SIZE, overlap=0)
    ways: dict[str, Callable[[], object]] = {
        "ours": lambda: [cut(each, recipe, counter) for each in documents],
        "ours, counted again": lambda: [counted_again(each, recipe, counter) for each in documents],
        **rivals(texts, counter.count),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    vocabulary: Any = counter.vocabulary
    for _ in range(RUNS):
        for name, way in ways.items():
            vocabulary.clear_cache()
            begun = process_time()
            way()
            times[name].append(process_time() - begun)
    length = sum(map(len, texts))
    ours, within = median(times["ours"]), True
    for name, taken in times.items():
        shown = f"{median(taken) * 1000:7.1f} ms {length / median(taken) / 1e6:6.1f} M characters/s"
        ratio = median(taken) / ours
        wanted = f"  {ratio:4.2f} x ours (at least {LEAST[name]})" if name in LEAST else ""
        sys.stdout.write(f"{name:22}{shown}{wanted}\n")
        within = within and ratio >= LEAST.get(name, 0)
    return within


def rivals(texts: Sequence[str], count: Callable[[str], int]) -> dict[str, Callable[[], object]]:
    """Return what is installed of the group `bench`."""
    ways: dict[str, Callable[[], object]] = {}
    if find_spec("langchain_text_splitters"):
        splitter = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter(
            chunk_size=SIZE, chunk_overlap=0, length_function=count
        )
        ways["LangChain"] = lambda: [splitter.split_text(text) for text in texts]
    if find_spec("semchunk"):
        semchunk, inside = import_module("semchunk"), import_module("semchunk.semchunk")

        def run() -> object:
            inside._memoized_token_counters.clear()
            chunker = semchunk.chunkerify(count, SIZE)
            return [chunker(text, offsets=True) for text in texts]

        ways["semchunk"] = run
    for name in LEAST.keys() - ways.keys():
        sys.stdout.write(f"{name} is not installed: pip install --group bench\n")
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
    full = sum(sizes) / len(sizes) / SIZE
    sys.stdout.write(f"every chunk counted: none above {SIZE}, filled to {full:.0%} on average\n")


def without_blanks(counter: VocabularyCounter) -> bool:
    """Print the time of 10 MB without a separator."""
    slowest = 0.0
    for sign in ("x", "ab1", "的", "😀", " "):
        text = sign * (10_000_000 // len(sign.encode()))
        begun = process_time()
        cut(Document("a", text), Recipe(), counter)
        slowest = max(slowest, process_time() - begun)
    said = f"10 MB without a separator: {slowest:.2f} s (at most {MOST_WITHOUT_BLANKS})\n"
    sys.stdout.write(said)
    return slowest <= MOST_WITHOUT_BLANKS


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.benchmarks.bench_split FOLDER")
    sys.exit(main(sys.argv[1]))
