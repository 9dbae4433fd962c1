"""Every claim with a bound, in rounds that take turns: `make bench`, or `make bench BENCH=--quick`.

Each script runs once a round in a process of its own, one after the other, so that all share what
the machine does. The table has medians and the 10 and 90 % between which the rounds lie; it stands
in build/bench/ as text and as JSON, with the versions of what was compared. `--quick` runs
one script once, and fails where a ratio to a rival is below 70 % of what is promised.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.claims import NOTES, RATIO, Claim

ROOT: Final = Path(__file__).parents[2]
TABLE: Final = ROOT / "build" / "bench"
SCRIPTS: Final = ("first_chat", "context", "tree", "switch", "find", "map", "search", "ingest")
QUICK: Final = ("first_chat",)
LONG: Final = 20.0
"""Seconds from which a script runs in two rounds only."""
SHARE: Final = 0.7
RIVALS: Final = frozenset(
    ("apsw", "chatlas", "chromadb", "faiss-cpu", "httpx", "jan-magics", "lancedb", "langchain-core",
     "langchain-openai", "langchain-text-splitters", "numpy", "openai", "pandas", "semchunk",
     "splintr-rs", "sqlite-vec", "usearch"),
)  # fmt: skip


def run(script: str) -> tuple[list[Claim], float]:
    """Run a script; returns what it claims, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "claims.jsonl"
        notes.touch()
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", f"tests.benchmarks.bench_{script}"],
            cwd=ROOT, env={**os.environ, NOTES: str(notes)}, stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        took = time.perf_counter() - begun
        claims = [Claim(**json.loads(line)) for line in notes.read_text("utf-8").splitlines()]
    if not claims:
        raise SystemExit(f"bench_{script} has failed: run it by itself to see why")
    return claims, took


def measured(scripts: Sequence[str], rounds: int) -> Iterator[tuple[str, list[Claim]]]:
    """Run the scripts in turn, round after round; those that take long in two rounds only."""
    seconds: dict[str, float] = {}
    for number in range(rounds):
        for script in scripts:
            if number < 2 or seconds[script] < LONG:
                claims, seconds[script] = run(script)
                print(f"round {number + 1}: {script} {seconds[script]:.0f} s", flush=True)
                yield script, claims


def summed(found: Iterable[tuple[str, list[Claim]]]) -> list[dict[str, Any]]:
    """Return a row a claim: its median, and between what the rounds lie."""
    values: dict[tuple[str, str], list[Claim]] = {}
    for script, claims in found:
        for claim in claims:
            values.setdefault((script, claim.what), []).append(claim)
    return [row(script, claims) for (script, _), claims in values.items()]


def row(script: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the row of one claim."""
    numbers = sorted(claim.value for claim in claims)
    low, high = numbers[int(0.1 * len(numbers))], numbers[int(0.9 * (len(numbers) - 1) + 0.5)]
    first = claims[0]
    whole = Claim(first.what, statistics.median(numbers), first.unit, first.most, first.least)
    return {
        "script": script, "what": whole.what, "unit": whole.unit, "median": whole.value,
        "p10": low, "p90": high, "rounds": len(numbers), "most": whole.most, "least": whole.least,
        "holds": whole.holds(), "holds_in_part": whole.holds(SHARE), "line": str(whole),
    }  # fmt: skip


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text("utf-8").splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = {each.name.lower(): each.version for each in distributions()}
    return {
        "processor": names[0] if names else platform.processor(),
        "processors": os.cpu_count(), "python": platform.python_version(),
        "system": platform.platform(),
        "versions": {name: versions[name] for name in sorted(RIVALS & versions.keys())},
    }  # fmt: skip


def written(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> str:
    """Write table and JSON; returns the table."""
    lines = [f"{each['line']}  {each['p10']:.3g} to {each['p90']:.3g}" for each in rows]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines += ["", f"{about['processor']}, {about['processors']} processors, {about['system']}"]
    lines += [f"Python {about['python']}, {versions}", ""]
    TABLE.mkdir(parents=True, exist_ok=True)
    (TABLE / "claims.txt").write_text("\n".join(lines), "utf-8")
    whole = {"machine": about, "claims": [*rows]}
    (TABLE / "claims.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False), "utf-8")
    return "\n".join(lines)


def main() -> int:
    """Measure, write, and tell how many promises are not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("scripts", nargs="*", default=[])
    given = parser.parse_args()
    scripts = given.scripts or (QUICK if given.quick else SCRIPTS)
    rows = summed(measured(scripts, 1 if given.quick else given.rounds))
    print(written(rows, machine()))
    if given.quick:
        return sum(each["unit"] == RATIO and not each["holds_in_part"] for each in rows)
    return sum(not each["holds"] for each in rows)


if __name__ == "__main__":
    sys.exit(main())
