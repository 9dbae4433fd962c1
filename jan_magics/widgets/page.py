"""The widget behind every view. It loads anywidget: nothing imports this before a view opens."""

import re
from pathlib import Path
from typing import Any, Final

from anywidget import AnyWidget
from traitlets import Dict, Unicode

STATIC: Final = Path(__file__).parent / "static"
"""Plain modules and styles, so that a page needs no other server than the kernel's own."""


class Page(AnyWidget):
    """A comm with a page, and the code that draws there.

    `first` is what a page can show before the kernel is free to answer it, where that is small;
    all else comes in messages: a saved notebook must not gather history.
    """

    _esm = Unicode().tag(sync=True)
    _css = Unicode().tag(sync=True)
    first = Dict().tag(sync=True)
    language = Unicode().tag(sync=True)


def page_of(kind: str, first: dict[str, Any], language: str) -> Page:
    """Open a comm for a view of this kind; the page that shows it gets the code along with it."""
    code = "\n".join(_script(name) for name in ("parts", kind))
    return Page(_esm=code, _css=_read("views.css"), first=first, language=language)


def _script(name: str) -> str:
    """Read code without its indentation, which every view would carry along."""
    return re.sub(r"(?m)^ +", "", _read(f"{name}.js"))


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")
