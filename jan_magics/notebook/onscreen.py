"""Answers that cells of this kernel show: when their branch is left, their footers say so."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.notebook.live import Display
from jan_magics.notebook.render import Shown, bundle

LEFT: Final = "built on a branch that is no longer shown · see: %chat tree"


@dataclass(slots=True)
class _Cell:
    thread: str
    display: Display
    shown: Shown
    left: bool = False


@dataclass(slots=True)
class OnScreen:
    """The displays of answers by the answer's id, while this kernel lives."""

    _cells: dict[str, _Cell] = field(default_factory=dict)

    def put(self, thread: str, display: Display, shown: Shown) -> None:
        """Remember where an answer is shown; the same answer shown anew counts."""
        if shown.message:
            self._cells[shown.message] = _Cell(thread, display, shown)

    def take(self, message: str) -> Display | None:
        """Take the display of an answer away, None where no cell of this kernel shows it."""
        cell = self._cells.pop(message, None)
        return cell.display if cell else None

    def tell(self, thread: str, path: AbstractSet[str]) -> None:
        """Bring the footers of a thread's answers in line with the ids of its active path."""
        for identifier, cell in self._cells.items():
            left = identifier not in path
            if cell.thread != thread or cell.left == left:
                continue
            cell.left = left
            lines = (*cell.shown.footer.lines, *((LEFT,) if left else ()))
            footer = replace(cell.shown.footer, lines=lines)
            cell.display.finish(bundle(replace(cell.shown, footer=footer), stable=False))
