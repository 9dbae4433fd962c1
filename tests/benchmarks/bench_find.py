"""Time the search over 100,000 messages: `python -m tests.benchmarks.bench_find [THREADS]`.

Beside a bare table of FTS5 with the same texts, which knows no threads, no branches and no Chinese
words; that both find the same messages for a rare word is looked at before anything is timed.
"""

import random
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

from jan_magics.domain.messages import Message, TextPart, Thread
from jan_magics.domain.tree import Changes
from jan_magics.storage.search import SHOWN, Search
from jan_magics.storage.sqlite import SqliteStore
from tests.benchmarks.claims import RATIO, claimed
from tests.benchmarks.rounds import interleaved, ratios, scaled

SIZE, ROUNDS = 100_000, 9
START = datetime(2026, 1, 1, tzinfo=UTC)
MOST_FOR_SOME, MOST_FOR_MANY = 0.030, 0.100  # seconds
HAN = "过拟合训练数据模型参数学习率梯度下降验证集损失函数神经网络机器优化问题方法结果分析"
QUERIES = (  # a word of so many percent of the messages
    ("zebra", 1), ("walrus", 5), ("common", 50), ("the", 100), ("过拟合", 5), ("的", 20),
)  # fmt: skip


def texts(size: int = SIZE, seed: int = 1) -> list[str]:
    """Questions and answers of 60 to 900 characters, one in five of them Chinese."""
    dice = random.Random(seed)  # noqa: S311 (a benchmark's dice)
    words = [
        "".join(
            dice.choice("bcdfglmnprst") + dice.choice("aeiou") for _ in range(dice.randint(1, 4))
        )
        for _ in range(30_000)
    ]
    made = []
    for n in range(size):
        if n % 5 == 0:
            text = "".join(dice.choices(HAN, k=dice.randint(30, 200))) + "的"
            text += "过拟合" if n % 20 == 0 else ""
        else:
            text = " ".join(dice.choices(words, k=dice.randint(12, 150)))
        extra = [word for word, share in QUERIES[:4] if dice.random() * 100 < share]
        made.append(f"{text} {' '.join(extra)}")
    return made


def fill(store: SqliteStore, threads: int, size: int = SIZE) -> None:
    made = texts(size)
    each = size // threads
    for t in range(threads):
        begun = START + timedelta(minutes=t)
        store.create_thread(Thread(f"t{t}", f"thread {t}", begun, begun))
        messages = tuple(
            Message(
                f"m{n}", f"t{t}", "assistant" if n % 2 else "user", (TextPart(made[t * each + n]),),
                begun + timedelta(seconds=n), f"m{n - 1}" if n else None,
            )
            for n in range(each)
        )  # fmt: skip
        store.apply(f"t{t}", Changes(messages))


def bare(made: list[str]) -> sqlite3.Connection:
    """Index the texts with FTS5 alone."""
    file = sqlite3.connect(":memory:")
    file.execute("CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'unicode61')")
    file.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(made))
    return file


def by_bare(file: sqlite3.Connection, words: str, limit: int = SHOWN) -> list[tuple[int, str]]:
    """Return rows and snippets of the best messages that have all words."""
    query = (
        "SELECT rowid, snippet(t, 0, '«', '»', '…', 12) FROM t WHERE t MATCH ?"
        " ORDER BY rank LIMIT ?"
    )
    return file.execute(query, (words, limit)).fetchall()


def beside(search: Search, threads: int) -> None:
    """Compare with bare FTS5, for words that it can find."""
    made = texts()
    file, each = bare(made), SIZE // threads
    every = {row for row, _ in by_bare(file, "zebra", SIZE)}
    found = search.find("zebra", limit=SIZE)
    assert {int(hit.thread.id[1:]) * each + int(hit.message_id[1:]) for hit in found} == every
    for words, share in QUERIES[:4]:
        ways = {
            "ours": lambda words=words: search.find(words),
            "FTS5": lambda words=words: by_bare(file, words),
        }
        times = interleaved(ways, ROUNDS)
        what = f"a word of {share} %, bare FTS5's time of ours"
        claimed(what, ratios(times["FTS5"], times["ours"]), RATIO)


def main(threads: int = 1_000) -> int:
    within = True
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "jan.db", lambda: START)
        fill(store, threads)
        path = Path(folder) / "search.db"
        start = perf_counter()
        search = Search(path, store)
        search.find("nothing")
        claimed("index 100,000 messages", perf_counter() - start, "s")
        claimed("the index on the disk", path.stat().st_size / 1e6, "MB")
        last = [*QUERIES, ("common th", 100), ('"common the"', 50), ("ba", 60), ("zebra walrus", 0)]
        for words, share in last:
            found = search.find(words)
            times = interleaved({"": lambda words=words: search.find(words)}, ROUNDS)[""]  # type: ignore[misc]
            most = MOST_FOR_SOME if share <= 5 else MOST_FOR_MANY
            what = f"find {words!r}, {len(found)} shown"
            within &= claimed(what, scaled(times), "ms", most=most * 1000)
        beside(search, threads)
        start = perf_counter()
        store.create(Message("new", "t0", "user", (TextPart("a fresh zebra"),), START, "m9"))
        assert any(hit.message_id == "new" for hit in search.find("fresh zebra"))
        claimed("a new message, then found", (perf_counter() - start) * 1000, "ms")
        search.close()
        store.close()
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
