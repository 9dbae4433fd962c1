"""Smoke test of an installed package: a shell loads the extension and a `%%chat` cell answers.

Run by `.ci/run` with each Python we promise and nothing but the package installed: no pytest.
"""

import os
import sys
import tempfile
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


def ask(prompt: str) -> tuple[object, str]:
    """Run one `%%chat` cell in a fresh shell; return its result and what it showed."""
    quiet = Config({"HistoryManager": {"enabled": False}})  # its file would outlive the folder
    shell = InteractiveShell.instance(config=quiet)
    with capture_output() as shown:
        shell.run_line_magic("load_ext", "jan_magics")
        outcome = shell.run_cell(f"%%chat\n{prompt}")
    outcome.raise_error()
    return outcome.result, shown.stdout + "".join(str(output.data) for output in shown.outputs)


def main() -> None:
    """Ask the offline model one question and look for it in the answer, which quotes it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JAN_MODEL"] = "offline:quote"
        os.environ["JAN_DATA_FOLDER"] = str(Path(folder, "data"))
        os.environ["JAN_CONFIG_FOLDER"] = str(Path(folder, "config"))
        os.environ["IPYTHONDIR"] = str(Path(folder, "ipython"))
        result, shown = ask("Is anybody there?")
    answer = str(getattr(result, "text", result)) + shown
    assert "Is anybody there?" in answer, answer
    print(f"Python {sys.version.split()[0]}: answered")


if __name__ == "__main__":
    main()
