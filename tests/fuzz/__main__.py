"""Let atheris look for bytes that break a target: `python -m tests.fuzz TARGET [SECONDS]`.

What it finds is kept in tests/fuzz/found/TARGET, and from then on is a test; what it has learned is
in build/fuzz/TARGET. Without a target each has its turn, in a process of its own.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.targets import TARGETS
from tests.fuzz.vocabulary import VOCABULARY

ROOT = Path(__file__).parents[2]
SECONDS = 60


def prepared(name: str) -> tuple[Path, Path, Path]:
    """Make the folders of a target; returns what is learned, what is found, and its words."""
    learned, found = ROOT / "build" / "fuzz" / name, Path(__file__).parent / "found" / name
    learned.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    for number, word in enumerate(VOCABULARY[name]):
        (learned / f"word{number}").write_bytes(word)
    known = learned.with_suffix(".dict")
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in VOCABULARY[name])
    known.write_text("".join(f'"{word}"\n' for word in escaped if word), "utf-8")
    return learned, found, known


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target for so many seconds; this does not return."""
    import atheris

    learned, found, known = prepared(name)
    options = [
        f"-max_total_time={seconds}", f"-artifact_prefix={found}/", f"-dict={known}", "-seed=9",
        "-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *options, str(learned)], TARGETS[name])
    atheris.Fuzz()


def main(names: list[str], seconds: int) -> int:
    """Fuzz each target in turn; returns how many of them failed."""
    failed = []
    for name in names:
        print(f"== {name}, {seconds} s", flush=True)
        command = [sys.executable, "-m", "tests.fuzz", name, str(seconds)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(name)
    print("nothing was found" if not failed else f"found something in: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    if find_spec("atheris") is None:
        sys.exit("atheris is not installed: pip install atheris (Linux on x86-64, to Python 3.13)")
    if len(sys.argv) == 3:
        fuzz(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(main(list(TARGETS), int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
