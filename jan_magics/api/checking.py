"""`replay --check`: a notebook is run in a fresh kernel, answered by its cassette, and compared."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jan_magics.api.opening import current_host
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.engine.cassette import Entry
from jan_magics.engine.differences import told_change
from jan_magics.engine.playing import load
from jan_magics.notebook.render import MIME

MOST: Final = 20
"""Lines of one kind that are told."""
_TAPING: Final = re.compile(r"^\s*%(?:chat|jan)\s+(?:record|replay)\b", re.MULTILINE)
_REPORT: Final = "from jan_magics.api.checking import report\nprint(report())"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check has found: requests not recorded, answers never used, outputs that differ.

    `faults` say which lines of the cassette were skipped.
    """

    notebook: str
    cells: int
    missed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Tell whether the notebook says what it said; an answer too many does no harm."""
        return not self.missed and not self.differing

    def __str__(self) -> str:
        lines = [
            *_several("not recorded", self.missed),
            *_several("differs", self.differing),
            *_several("never used", self.unused),
            *(f"  {fault}" for fault in self.faults),
        ]
        cells = counted(self.cells, "cell")
        verdict = "as recorded" if self.good else "not as recorded"
        return "\n".join((f"{self.notebook}: {cells}, {verdict}", *lines))


def check(notebook: Path, cassette: Path) -> Checked:
    """Run a notebook in a fresh kernel under replay; the file is only read.

    Raises:
        SettingError: when one of the two cannot be read, or nbclient is not installed.
    """
    before = _read(notebook)
    # What is wrong with it is told here, not by a kernel.
    faults = load(cassette, "error", notebook.name).faults
    with ThreadPoolExecutor(1) as apart:  # a kernel's own thread has a loop that runs already
        after, told = apart.submit(_run, notebook, cassette).result()
    pairs = zip(_code(before), _code(after), strict=False)
    differing = [line for n, (one, two) in enumerate(pairs, 1) for line in _differs(n, one, two)]
    return Checked(
        notebook.name,
        len(_code(before)),
        tuple(told.get("missed", ())),
        tuple(told.get("unused", ())),
        tuple(differing),
        faults,
    )


def report() -> str:
    """Return as JSON what the cassette of this kernel could not answer, and what nobody asked."""
    deck = current_host().session().engine.deck
    played = (deck.playing, *deck.earlier)
    missed = [each for playing in played if playing for each in playing.missed]
    unused = [_named(each) for playing in played if playing for each in playing.unused()]
    return json.dumps({"missed": missed, "unused": unused})


def _named(entry: Entry) -> str:
    asked = entry.request if isinstance(entry.request, dict) else {}
    messages = asked.get("messages")
    said = messages[-1] if isinstance(messages, list) and messages else asked
    text = json.dumps(said, ensure_ascii=False)
    return f"{entry.kind} {entry.key[:8]}: {text[:70]}{'…' if len(text) > 70 else ''}"


def _read(path: Path) -> Any:
    try:
        import nbclient  # noqa: F401 - told now, before anything is run
        import nbformat
    except ImportError as error:
        raise SettingError(
            "running a notebook needs nbclient", "Install it: %pip install nbclient"
        ) from error
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError) as error:
        said = (isinstance(error, OSError) and error.strerror) or "it is no notebook"
        raise SettingError(
            f"the notebook {path.name!r} cannot be read: {said}", "Save it, or name another."
        ) from error


def _run(path: Path, cassette: Path) -> tuple[Any, Mapping[str, Any]]:
    """Return the notebook as it ran, and what its kernel reports of the cassette."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(_REPORT))
    client = NotebookClient(
        notebook,
        allow_errors=True,
        timeout=None,
        kernel_name=notebook.metadata.get("kernelspec", {}).get("name", "python3"),
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],  # its warnings about loopback say nothing here
    )
    told = {"JAN_REPLAY": str(cassette.absolute()), "JAN_NOTEBOOK": str(path.absolute())}
    client.execute(env={**os.environ, **told})
    said = "".join(each.get("text", "") for each in notebook.cells.pop().outputs)
    try:
        found = json.loads(said)
    except ValueError:
        raise SettingError(
            f"the kernel of {path.name!r} does not say what it has asked: {said[:200]!r}",
            "Run its cells one by one: %chat replay, then each of them.",
        ) from None
    return notebook, found


def _code(notebook: Any) -> Sequence[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _differs(number: int, before: Any, after: Any) -> Iterator[str]:
    """Yield what a cell shows otherwise.

    One that was saved without outputs promises none; one that records says something else when it
    is replayed.
    """
    unsaved = not before.get("outputs") and before.get("execution_count") is None
    if unsaved or _TAPING.search(before.source):
        return
    then, now = _shown(before.get("outputs", ())), _shown(after.get("outputs", ()))
    if len(then) != len(now):
        yield f"cell {number}: it had {counted(len(then), 'output')}, now {len(now)}"
    for (kind, old), (_, new) in zip(then, now, strict=False):
        if old != new:
            yield f"cell {number}: {kind} was {told_change(old, new)}"
            return


def _shown(outputs: Sequence[Any]) -> list[tuple[str, str]]:
    """Return what outputs say; of a turn only its answer: what is below it may differ."""
    found = list[tuple[str, str]]()
    for each in outputs:
        kind = each.get("output_type", "")
        if kind == "stream":
            name = str(each.get("name"))
            if found and found[-1][0] == name:
                found[-1] = (name, found[-1][1] + str(each.get("text")))
            else:
                found.append((name, str(each.get("text"))))
        elif kind == "error":
            found.append(("the error", f"{each.get('ename')}: {each.get('evalue')}"))
        else:
            found.append(_data(each.get("data", {})))
    return found


def _data(data: Mapping[str, Any]) -> tuple[str, str]:
    turn = data.get(MIME)
    if isinstance(turn, Mapping):
        return "the answer", str(turn.get("text"))
    shown = {kind: value for kind, value in data.items() if kind != "text/html"} or data
    if shown.keys() == {"text/plain"}:
        return "the output", str(shown["text/plain"])
    return "the output", json.dumps(shown, ensure_ascii=False, sort_keys=True)


def _several(what: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"  {what}: {line}" for line in lines[:MOST])
    if len(lines) > MOST:
        yield f"  {what}: {len(lines) - MOST} more"
