"""The list of threats names tests that are there, and each threat has one."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "docs" / "decisions" / "2026-11-30-threats.md"


def test_every_threat_has_a_test_that_is_there() -> None:
    rows = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line[:2] == "| "][1:]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row)
        assert named, row
        for file, test in named:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert f"def {test or 'test_'}" in text, f"{file}::{test}"


def test_nothing_of_ours_is_pickled() -> None:
    files = (ROOT / "jan_magics").rglob("*.py")
    used = [file.name for file in files if re.search(r"^\s*(import|from) pickle", file.read_text())]
    assert used == []
