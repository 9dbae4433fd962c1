"""Every claim with a bound, beside its rivals: `make bench`, or `make bench BENCH=--quick`.

Each script measures one subject in a process of its own. Most take their rounds inside, ours and
the rivals in turn; one that measures once is run again, round after round. The table has medians
and the 10 and 90 % between which the rounds lie; it stands in build/bench/ as text and as JSON,
with the versions of what was compared and with what was left out; what a script says is beside it.
`--quick` takes a minute, and fails where a ratio is below 70 % of what is promised.
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
from dataclasses import asdict, replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.claims import NOTES, QUICK, RATIO, Claim, LeftOut, read, spread

ROOT: Final = Path(__file__).parents[2]
TABLE: Final = ROOT / "build" / "bench"
SCRIPTS: Final = (
    "first_chat", "streaming", "magics", "context", "tokens", "compaction", "tree", "switch",
    "storage", "threads", "find", "map", "split", "search", "bits", "filters", "ingest", "quality",
    "leaks", "memory", "growth",
)  # fmt: skip
FAST: Final = ("first_chat", "context", "search", "bits")
LONG: Final = 20.0
"""Seconds from which a script that measures once is run in two rounds only."""
SHARE: Final = 0.7
RIVALS: Final = frozenset(
    ("apsw", "chatlas", "chromadb", "faiss-cpu", "httpx", "jan-magics", "jupyter-ai-magics",
     "lancedb", "langchain-core", "langchain-openai", "langchain-text-splitters", "llm", "numpy",
     "openai", "pandas", "pytrec-eval-terrier", "semchunk", "splintr-rs", "sqlite-vec", "usearch"),
)  # fmt: skip
ASK_VERSIONS: Final = """
import json
from importlib.metadata import distributions
found = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
print(json.dumps(found))
"""

Noted = tuple[list[Claim], list[LeftOut]]


def run(script: str, *, quick: bool = False, logs: Path = TABLE) -> tuple[Noted, float]:
    """Run a script; returns what it notes, and the seconds that it took.

    What it says goes into a file of `logs`.
    """
    logs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "claims.jsonl"
        notes.touch()
        env = {**os.environ, NOTES: str(notes)} | ({QUICK: "1"} if quick else {})
        said = logs / f"{script}.log"
        begun = time.perf_counter()
        with said.open("wb") as file:
            subprocess.run(
                [sys.executable, "-m", f"tests.benchmarks.bench_{script}"],
                cwd=ROOT, env=env, stdout=file, stderr=file, check=False,
            )  # fmt: skip
        took = time.perf_counter() - begun
        claims, others = read(notes.read_text("utf-8"))
    # A script that ends early has claimed only a part, whatever it returns.
    if not (claims or others) or "Traceback (most" in said.read_text("utf-8", "replace"):
        others.append(LeftOut(f"bench_{script}", f"FAILED: {said} says why"))
    return (claims, others), took


def measured(
    scripts: Sequence[str], rounds: int, *, quick: bool = False
) -> Iterator[tuple[str, Noted]]:
    """Run the scripts in turn; those that take no rounds of their own round after round."""
    seconds: dict[str, float] = {}
    done: set[str] = set()
    for number in range(rounds):
        for script in scripts:
            if script in done or (number >= 2 and seconds[script] >= LONG):
                continue
            noted, seconds[script] = run(script, quick=quick)
            print(f"round {number + 1}: {script} {seconds[script]:.0f} s", flush=True)
            if not noted[0] or any(claim.rounds > 1 for claim in noted[0]):
                done.add(script)
            yield script, noted


def summed(found: Iterable[tuple[str, list[Claim]]]) -> list[dict[str, Any]]:
    """Return a row a claim: its median, and between what the rounds lie."""
    values: dict[tuple[str, str], list[Claim]] = {}
    for script, claims in found:
        for claim in claims:
            values.setdefault((script, claim.what), []).append(claim)
    return [row(script, claims) for (script, _), claims in values.items()]


def row(script: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the row of one claim."""
    whole = claims[0]
    if len(claims) > 1 or whole.low is None:
        numbers = [claim.value for claim in claims]
        low, high = spread(numbers)
        whole = replace(whole, value=statistics.median(numbers), low=low, high=high,
                        rounds=len(numbers))  # fmt: skip
    return {
        "script": script, "what": whole.what, "unit": whole.unit, "median": whole.value,
        "p10": whole.low, "p90": whole.high, "rounds": whole.rounds,
        "most": whole.most, "least": whole.least,
        "holds": whole.holds(), "holds_in_part": whole.holds(SHARE), "line": str(whole),
    }  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of who was compared, in this environment and in that of the magics."""
    found = {each.name.lower().replace("_", "-"): each.version for each in distributions()}
    kept = {name: found[name] for name in sorted(RIVALS & found.keys())}
    other = TABLE / "env-b" / "bin" / "python"
    if other.exists():
        told = subprocess.run(
            [other, "-c", ASK_VERSIONS], capture_output=True, text=True, check=False
        )
        theirs = json.loads(told.stdout or "{}")
        names = ("jupyter-ai-magics", "langchain-core", "langchain-openai")
        kept |= {f"{name} (env-b)": theirs[name] for name in names if name in theirs}
    return kept


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text("utf-8").splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": names[0] if names else platform.processor(),
        "processors": os.cpu_count(), "python": platform.python_version(),
        "system": platform.platform(), "load": load, "versions": versions(),
    }  # fmt: skip


def short(number: float) -> str:
    """Return a number with three digits that say something."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def written(
    rows: Sequence[Mapping[str, Any]], others: Sequence[LeftOut], about: Mapping[str, Any]
) -> str:
    """Write table and JSON; returns the table."""
    lines = list[str]()
    for script in dict.fromkeys(each["script"] for each in rows):
        lines.append(f"{script}:")
        lines += [
            f"  {each['line']}  {short(each['p10'])} to {short(each['p90'])} in {each['rounds']}"
            for each in rows
            if each["script"] == script
        ]
    lines += ["", *(f"{each.who} is left out: {each.why}" for each in others)]
    told = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines += ["", f"{about['processor']}, {about['processors']} processors, {about['system']}"]
    lines += [f"Python {about['python']}, {told}", ""]
    TABLE.mkdir(parents=True, exist_ok=True)
    (TABLE / "claims.txt").write_text("\n".join(lines), "utf-8")
    whole = {
        "machine": about, "claims": [*rows], "left_out": [asdict(each) for each in others]
    }  # fmt: skip
    (TABLE / "claims.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False), "utf-8")
    return "\n".join(lines)


def main() -> int:
    """Measure, write, and tell how many promises are not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("scripts", nargs="*", help=f"some of: {' '.join(SCRIPTS)}")
    given = parser.parse_args()
    if unknown := [each for each in given.scripts if each not in SCRIPTS]:
        parser.error(f"no script {', '.join(unknown)}; there are: {' '.join(SCRIPTS)}")
    scripts = given.scripts or (FAST if given.quick else SCRIPTS)
    about = machine()
    noted, rows, others = list[tuple[str, Noted]](), list[dict[str, Any]](), list[LeftOut]()
    table = ""
    for each in measured(scripts, 1 if given.quick else given.rounds, quick=given.quick):
        noted.append(each)
        rows = summed((script, claims) for script, (claims, _) in noted)
        others = list(dict.fromkeys(gone for _, (_, left) in noted for gone in left))
        # Half an hour that is cut short leaves what it has found so far.
        table = written(rows, others, about)
    print(table)
    failed = sum(each.why.startswith("FAILED") for each in others)
    judged = [each for each in rows if each["unit"] == RATIO] if given.quick else rows
    missed = [each for each in judged if not each["holds_in_part" if given.quick else "holds"]]
    return failed + len(missed)


if __name__ == "__main__":
    sys.exit(main())
