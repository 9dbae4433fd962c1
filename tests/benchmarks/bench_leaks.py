"""How often the search for leaks is wrong: `python -m tests.benchmarks.bench_leaks`.

    --list N    print N of each kind, to judge them by eye

Read are the notebooks of this repository and the documentation that Debian packages have put on
this machine (`doc` and `man`). Nothing there is a secret, but the people in it are real: what is
told of e-mail counts as wrong where no mail would arrive (ids of messages, names that stand for
one). Targets: one wrong find at most per 1,000 cells, and per MB of text; 5 ms for 100 kB.
"""

import argparse
import gzip
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from jan_magics.domain.secrets import MAIL_ADDRESS, PHONE, Secret, secrets_in
from jan_magics.engine.leak_search import leaks_in_notebook
from tests.benchmarks.claims import claimed, left_out
from tests.benchmarks.rounds import best

ROOT = Path(__file__).parent.parent.parent
FOLDERS = (Path("/usr/share/doc"), Path("/usr/share/man"))
MOST_A_MB, MOST_A_THOUSAND_CELLS, MOST_SECONDS = 1.0, 1.0, 0.005
NOBODY = re.compile(
    r"\d{8}|^(?:you|name|i|iTCP|fP)@|[@.](?:foo|bar|some|aaa|host|domain|addre|mydom)\b"
    r"|\.(?:where|domain|tld|lst|po|fake|lan|mynet|uucp|offset|scheme|bbb|ccc|ddd|itap|ss|where)$"
)
REAL = ("rsakey.pem", "server_key.pem", "simulate_proxy.pl", "README.rst", "changelog.gz")
"""Files with private keys and tokens of test servers: they are what they are said to be."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield the documentation of this machine: name and text of each file."""
    for path in (path for folder in FOLDERS for path in sorted(folder.rglob("*"))):
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".gz":
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError):
                continue
        if b"\0" not in data:
            yield path.name, data.decode("utf-8", "replace")


def is_wrong(name: str, found: Secret, text: str) -> bool:
    """Tell whether a find is none; what has its kind by its form is right."""
    if found.kind == MAIL_ADDRESS:
        return NOBODY.search(text[found.start : found.end]) is not None
    return found.kind != PHONE and name not in REAL


def documentation(listed: int) -> bool:
    """Look through the documentation; tell whether few enough finds are wrong."""
    size, wrong = 0, 0
    kinds: dict[str, list[str]] = defaultdict(list)
    for name, text in texts():
        size += len(text)
        for found in secrets_in(text):
            wrong += is_wrong(name, found, text)
            around = text[max(0, found.start - 30) : found.end + 20].replace("\n", " ")
            kinds[found.kind].append(f"{name}: {around}")
    if not size:
        left_out("documentation for leaks", "none on this machine")
        return True
    rate = wrong / size * 1e6
    for kind, examples in sorted(kinds.items()):
        sys.stdout.write(f"  {kind:14} {len(examples):7,}\n")
        for example in random.Random(0).sample(examples, min(listed, len(examples))):  # noqa: S311
            sys.stdout.write(f"      {example}\n")
    sys.stdout.write(f"documentation {size / 1e6:.0f} MB: {wrong} wrong\n")
    return claimed("wrong finds a MB of documentation", rate, "", most=MOST_A_MB)


def notebooks() -> bool:
    """Look through the notebooks of the repository; tell whether few enough finds are wrong."""
    paths = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    found = [leak for path in paths for leak in leaks_in_notebook(path.read_text("utf-8"))]
    cells = sum(path.read_text("utf-8").count('"cell_type"') for path in paths)
    rate = len(found) / cells * 1000
    sys.stdout.write(f"notebooks {cells} cells: {len(found)} found\n")
    return claimed("leaks found in 1,000 cells of ours", rate, "", most=MOST_A_THOUSAND_CELLS)


def speed() -> bool:
    """Time texts of 100 kB, the slowest of which counts."""
    readme = ((ROOT / "README.md").read_text("utf-8") * 20)[:100_000]
    code = ((ROOT / "jan_magics" / "frames.py").read_text("utf-8") * 20)[:100_000]
    chinese = ("模型的上下文窗口是多少？今天天气很好，我们去公园散步吧。" * 4000)[:100_000]
    times = {
        name: best(partial(secrets_in, text), 15)
        for name, text in (("English", readme), ("code", code), ("Chinese", chinese))
    }
    for name, seconds in times.items():
        claimed(f"leaks in 100 kB, {name}", seconds * 1000, "ms", most=MOST_SECONDS * 1000)
    return max(times.values()) <= MOST_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", type=int, default=0, metavar="N")
    within = [speed(), notebooks(), documentation(parser.parse_args().list)]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
