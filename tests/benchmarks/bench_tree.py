"""Time the tree of a thread of 10,000 messages: `python -m tests.benchmarks.bench_tree`."""

import sys
from functools import partial

from jan_magics.domain.branching import select
from jan_magics.domain.messages import Message
from jan_magics.domain.tree import TreeIndex
from tests.benchmarks.claims import claimed
from tests.benchmarks.rounds import interleaved, scaled
from tests.domain.trees import message

SIZE = 10_000
MOST_TO_BUILD, MOST_TO_SWITCH = 0.060, 0.005  # seconds
ROUNDS = 9


def chain(size: int = SIZE) -> list[Message]:
    """One long conversation with a second version of each third message."""
    return [message("m0", None)] + [
        message(f"m{n}", f"m{n - 2}" if n % 3 == 0 else f"m{n - 1}", n) for n in range(1, size)
    ]


def star() -> list[Message]:
    """One question with very many answers."""
    return [message("m0", None)] + [message(f"m{n}", "m0", n) for n in range(1, SIZE)]


def main() -> int:
    within = True
    for name, messages in (("chain", chain()), ("star", star())):
        index = TreeIndex(messages)
        target = "m1" if name == "star" else f"m{SIZE // 3 * 3 - 4}"
        assert select(index, target).save

        def switch(index: TreeIndex = index, target: str = target) -> object:
            return index.after(select(index, target)).path()

        times = interleaved({"build": partial(TreeIndex, messages), "switch": switch}, ROUNDS)
        most = MOST_TO_BUILD * 1000, MOST_TO_SWITCH * 1000
        within &= claimed(f"{name}: build", scaled(times["build"]), "ms", most=most[0])
        within &= claimed(f"{name}: switch", scaled(times["switch"]), "ms", most=most[1])
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
