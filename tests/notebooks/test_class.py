"""What the README says of a class without internet, done as it stands there."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest

from tests.kernel import ROOT
from tests.readme import Block, blocks

SECTION = "A class without internet"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there: whoever asks a proxy is refused


def block(begins: str) -> Block:
    found = [each for each in blocks(SECTION) if each.text.startswith(begins)]
    assert len(found) == 1, begins
    return found[0]


def environment(home: Path, **more: str) -> dict[str, str]:
    """A machine with a home of its own, and with no way out."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    return {
        **os.environ, **proxies, "PYTHONPATH": str(ROOT), "HOME": str(home), "JAN_MODEL": "",
        "JAN_DATA_FOLDER": str(home / "data"), "JAN_CONFIG_FOLDER": str(home / "config"),
        "IPYTHONDIR": str(home / "ipython"), **more,
    }  # fmt: skip


def ran(folder: Path, env: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shown(path: Path) -> list[object]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The folder that the teacher has made, recorded with the model that quotes."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "notes.md").write_text(
        "# Rooms\n\nThe telescope is in room 12. 望远镜在12号房间。\n", "utf-8"
    )
    folder = tmp_path / "class"
    folder.mkdir()
    home = tmp_path / "teacher"
    script = tmp_path / "make.py"
    script.write_text(block("import jan_magics").text, "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment(home), check=False
    )
    assert done.returncode == 0
    cells = [
        nbformat.v4.new_code_cell(each.text.rstrip(), id=f"c{n}")
        for n, each in enumerate((block("%load_ext"), block("%%chat -c")))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(made, folder / "lesson.ipynb")
    env = environment(home, JAN_MODEL="offline:quote", JAN_NOTEBOOK=str(folder / "lesson.ipynb"))
    ran(folder, env, "jupyter", "execute", "--inplace", "lesson.ipynb")
    return folder


@pytest.mark.timeout(300)  # four kernels
def test_it_is_followed_to_the_letter(course: Path, tmp_path: Path) -> None:
    assert (course / "lesson.jan.jsonl").is_file()
    for line in block("jan-magics replay").text.splitlines():
        program, *arguments = line.split()
        assert program == "jan-magics"
        ran(tmp_path, environment(tmp_path / "teacher"), "jan_magics.cli", *arguments)

    lab = block("python -m venv").text.splitlines()[-1].split()
    assert lab[0] == "JAN_REPLAY=."
    assert lab[-1] == "class"
    answers = []
    for student in ("ada", "张伟"):
        own = shutil.copytree(course, tmp_path / student / "class")
        (own / "texts.db").chmod(0o444)
        env = environment(tmp_path / student, JAN_REPLAY=".")
        ran(own, env, "jupyter", "execute", "--inplace", "lesson.ipynb")
        answers.append(shown(own / "lesson.ipynb"))
        assert not (tmp_path / student / "data").exists(), "threads go into a scratch store"
    assert answers[0] == answers[1]
    assert "The telescope is in room 12." in json.dumps(answers[0])
    assert "replayed" in json.dumps(answers[0])


@pytest.mark.timeout(300)  # two kernels
def test_what_was_not_recorded_is_an_error_or_a_quote(course: Path, tmp_path: Path) -> None:
    path = course / "lesson.ipynb"
    path.write_text(path.read_text("utf-8").replace("which room", "which house"), "utf-8")
    env = environment(tmp_path / "ada", JAN_REPLAY=".")
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "execute", "lesson.ipynb"],
        cwd=course, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "NotRecorded" in done.stderr
    assert "which house" in done.stderr
    assert "%chat replay --missing offline" in done.stderr


WRITER = """
import sys, jan_magics as jan
with jan.Chat("shared", model="offline:echo") as chat:
    for n in range(10):
        chat.send(f"{sys.argv[1]} {n}", show=False)
"""


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_several_kernels_may_use_one_home(tmp_path: Path, store: str) -> None:
    env = environment(tmp_path, JAN_STORE=store)
    script = tmp_path / "writer.py"
    script.write_text(WRITER, "utf-8")

    def write(name: str) -> int:
        return subprocess.run([sys.executable, str(script), name], env=env, check=False).returncode

    with ThreadPoolExecutor() as together:
        assert list(together.map(write, ("ada", "伟"))) == [0, 0]
    told = "import jan_magics as jan; print(*jan.Chat('shared').messages(all=True).text)"
    done = subprocess.run(
        [sys.executable, "-c", told], env=env, capture_output=True, text=True, check=True
    )
    words = done.stdout.split()
    assert words.count("ada") == 20  # ten questions with their answers
    assert words.count("伟") == 20
