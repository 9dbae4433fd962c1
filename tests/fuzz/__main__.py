"""Let atheris look for bytes that break a target: `python -m tests.fuzz TARGET [SECONDS]`.

What it finds is kept in tests/fuzz/found/TARGET, and from then on is a test; what it has learned is
in build/fuzz/TARGET. Without a target each has its turn, in a process of its own.
"""

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 60


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target for so many seconds; this does not return."""
    import atheris

    # Only what is loaded in here is watched; all of Python would take minutes to prepare.
    with atheris.instrument_imports(include=["jan_magics"]):
        from tests.fuzz.targets import TARGETS
        from tests.fuzz.vocabulary import VOCABULARY
    learned, found, known = prepared(name, VOCABULARY[name])
    options = [
        f"-max_total_time={seconds}", f"-artifact_prefix={found}/", f"-dict={known}", "-seed=9",
        "-timeout=20", "-rss_limit_mb=4096", "-max_len=2000", "-len_control=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(learned)], TARGETS[name])
    atheris.Fuzz()


def prepared(name: str, words: Sequence[bytes]) -> tuple[Path, Path, Path]:
    """Make the folders of a target; returns what is learned, what is found, and its words."""
    learned, found = ROOT / "build" / "fuzz" / name, Path(__file__).parent / "found" / name
    learned.mkdir(parents=True, exist_ok=True)
    found.mkdir(parents=True, exist_ok=True)
    for number, word in enumerate(words):
        (learned / f"word{number}").write_bytes(word)
    known = learned.with_suffix(".dict")
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in words if len(word) < 64)
    known.write_text("".join(f'"{word}"\n' for word in escaped if word), "utf-8")
    return learned, found, known


def main(seconds: int) -> int:
    """Fuzz each target in turn; returns how many of them failed."""
    from tests.fuzz.targets import TARGETS

    failed = []
    for name in TARGETS:
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
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
