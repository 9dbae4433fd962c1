"""Loading and a whole cell beside jupyter-ai-magics: `python -m tests.benchmarks.bench_magics`.

The rival needs an environment of its own, which `make bench` makes (build/bench/env-b, from the
dependency group `bench-magics`). Both cells stream 2,000 tokens from one loopback server, in two
kernels that take turns, each from the request to idle.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.bench_first_chat import LOAD, REQUIRED, TOKENS, kernel, load_seconds, server
from tests.benchmarks.claims import RATIO, claimed, left_out
from tests.benchmarks.rounds import interleaved, ratios, scaled
from tests.kernel import Kernel, homes, running_kernel

ROOT = Path(__file__).parents[2]
THEIRS = ROOT / "build" / "bench" / "env-b" / "bin" / "python"
ROUNDS = 5
CELLS = 9
ASK = '%%ai openai-chat-custom:fixed -m {"streaming":true}\nhi'


def their_load() -> float:
    """Return the seconds that loading jupyter-ai-magics takes in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [THEIRS, "-c", LOAD.replace('"jan_magics"', '"jupyter_ai_magics"')],
            check=True, capture_output=True, text=True, env=os.environ | {"IPYTHONDIR": folder},
        )  # fmt: skip
    return float(done.stdout.split()[-1])


def loading() -> bool:
    """Compare how long loading takes, a fresh process each time."""
    their_load()
    mine, theirs = list[float](), list[float]()
    for _ in range(ROUNDS):
        mine.append(load_seconds())
        theirs.append(their_load())
    claimed("%load_ext jupyter_ai_magics", scaled(theirs), "ms")
    claimed("its time to load, of ours", ratios(theirs, mine), RATIO)
    return claimed("%load_ext jan_magics", scaled(mine), "ms", most=REQUIRED["load"] * 1000)


@contextmanager
def their_kernel(folder: Path, address: str) -> Iterator[Kernel]:
    """Run a kernel of the other environment, with the rival loaded."""
    where = {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": address}
    with running_kernel(folder, python=str(THEIRS), **homes(folder), **where) as running:
        running.ok("%load_ext jupyter_ai_magics")
        yield running


def cells(folder: Path) -> None:
    """Compare a whole cell; both show the same text before anything is timed."""
    (folder / "theirs").mkdir()
    with (
        server(0) as address,
        kernel(folder, address) as mine,
        their_kernel(folder / "theirs", address) as other,
    ):
        shown = other.ok(ASK).results[-1]["text/markdown"]
        assert shown == mine.ok("%%chat\nhi").turn["text"]
        assert len(shown) == 6 * TOKENS
        ways = {"mine": lambda: mine.ok("%%chat\nhi"), "theirs": lambda: other.ok(ASK)}
        # What was said before would be sent along.
        times = interleaved(ways, CELLS, before=lambda: other.ok("%ai reset"))
    claimed("%%chat, 2,000 tokens", scaled(times["mine"]), "ms")
    claimed("%%ai, the same", scaled(times["theirs"]), "ms")
    claimed("%%ai's time, of %%chat's", ratios(times["theirs"], times["mine"]), RATIO)


def main() -> int:
    """Measure both; 1 when ours takes too long to load."""
    if not THEIRS.exists():
        left_out("jupyter-ai-magics", "no environment build/bench/env-b: make bench")
        return 0
    kept = loading()
    with tempfile.TemporaryDirectory() as folder:
        cells(Path(folder))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
