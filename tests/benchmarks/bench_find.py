"""Time the search over 100,000 messages: `python -m tests.benchmarks.bench_find [THREADS]`."""

import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

from jan_magics.domain.messages import Message, TextPart, Thread
from jan_magics.domain.tree import Changes
from jan_magics.storage.search import Search
from jan_magics.storage.sqlite import SqliteStore
from tests.benchmarks.claims import claimed

SIZE = 100_000
START = datetime(2026, 1, 1, tzinfo=UTC)
MOST_FOR_SOME, MOST_FOR_MANY = 0.030, 0.100  # seconds
HAN = "过拟合训练数据模型参数学习率梯度下降验证集损失函数神经网络机器优化问题方法结果分析"
QUERIES = (  # a word of so many percent of the messages
    ("zebra", 1), ("walrus", 5), ("common", 50), ("the", 100), ("过拟合", 5), ("的", 20),
)  # fmt: skip


def texts(seed: int = 1) -> list[str]:
    """Questions and answers of 60 to 900 characters, one in five of them Chinese."""
    dice = random.Random(seed)  # noqa: S311 (a benchmark's dice)
    words = [
        "".join(
            dice.choice("bcdfglmnprst") + dice.choice("aeiou") for _ in range(dice.randint(1, 4))
        )
        for _ in range(30_000)
    ]
    made = []
    for n in range(SIZE):
        if n % 5 == 0:
            text = "".join(dice.choices(HAN, k=dice.randint(30, 200))) + "的"
            text += "过拟合" if n % 20 == 0 else ""
        else:
            text = " ".join(dice.choices(words, k=dice.randint(12, 150)))
        extra = [word for word, share in QUERIES[:4] if dice.random() * 100 < share]
        made.append(f"{text} {' '.join(extra)}")
    return made


def fill(store: SqliteStore, threads: int) -> None:
    made = texts()
    each = SIZE // threads
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


def main(threads: int = 1_000) -> int:
    within = True
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "jan.db", lambda: START)
        fill(store, threads)
        path = Path(folder) / "search.db"
        start = perf_counter()
        search = Search(path, store)
        search.find("nothing")
        sys.stdout.write(
            f"index {perf_counter() - start:6.1f} s, {path.stat().st_size / 1e6:.0f} MB\n"
        )
        last = [*QUERIES, ("common th", 100), ('"common the"', 50), ("ba", 60), ("zebra walrus", 0)]
        for words, share in last:
            times, found = [], search.find(words)
            for _ in range(7):
                start = perf_counter()
                search.find(words)
                times.append(perf_counter() - start)
            most = MOST_FOR_SOME if share <= 5 else MOST_FOR_MANY
            took = sorted(times)[len(times) // 2]
            what = f"find {words!r}, {len(found)} shown"
            within &= claimed(what, took * 1000, "ms", most=most * 1000)
        start = perf_counter()
        store.create(Message("new", "t0", "user", (TextPart("a fresh zebra"),), START, "m9"))
        assert any(hit.message_id == "new" for hit in search.find("fresh zebra"))
        sys.stdout.write(f"a new message, then found {(perf_counter() - start) * 1000:7.1f} ms\n")
        search.close()
        store.close()
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
