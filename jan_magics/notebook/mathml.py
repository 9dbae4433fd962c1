"""TeX as MathML with a short list of tags, for pages of our own; elsewhere it stays TeX.

The converter takes tags and addresses over as they stand in the TeX, so what it makes is read and
written anew, and refused as a whole where it holds anything else.
"""

from html import escape
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import Final

TAGS: Final = frozenset(
    ("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub",
     "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none",
     "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose", "mfenced")
)  # fmt: skip
ATTRIBUTES: Final = frozenset(
    ("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "form",
     "separator", "lspace", "rspace", "minsize", "maxsize", "linethickness", "accent",
     "accentunder", "columnalign", "rowspacing", "columnspacing", "notation", "movablelimits",
     "symmetric", "largeop", "width", "height", "depth", "open", "close", "separators")
)  # fmt: skip
_STUMBLES: Final = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, StopIteration, RuntimeError
)  # fmt: skip
LONGEST: Final = 4_000
"""Characters of a formula; the time that a conversion takes grows with them."""


def to_mathml(tex: str, *, block: bool) -> str:
    """Return MathML of a formula, "" where it cannot be had: TeX that is none, or no converter."""
    if len(tex) > LONGEST or find_spec("latex2mathml") is None:
        return ""
    from latex2mathml.converter import convert

    try:
        made = convert(tex, display="block" if block else "inline")
    except Exception as fault:
        if _is_refusal(fault):
            return ""
        raise
    if "<!" in made:  # no tag of the list begins so, and the parser stumbles over some
        return ""
    reader = _Reader()
    reader.feed(made)
    reader.close()
    return reader.written()


def _is_refusal(fault: Exception) -> bool:
    """Tell whether a fault is about the TeX; the converter's own errors have no common base."""
    if type(fault).__module__ == "latex2mathml.exceptions":
        return True
    return isinstance(fault, _STUMBLES)


class _Reader(HTMLParser):
    """Writes anew what it reads, as long as all of it is known."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.known = True

    def written(self) -> str:
        return "".join(self.pieces) if self.known and not self.open else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.known &= tag in TAGS and bool(self.open) != (tag == "math")
        kept = "".join(
            f' {name}="{escape(value or "")}"' for name, value in attrs if name in ATTRIBUTES
        )
        self.pieces.append(f"<{tag}{kept}>")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.known &= bool(self.open) and self.open.pop() == tag
        self.pieces.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.pieces.append(escape(data))

    def handle_comment(self, data: str) -> None:
        self.known = False

    def handle_decl(self, decl: str) -> None:
        self.known = False

    def handle_pi(self, data: str) -> None:
        self.known = False
