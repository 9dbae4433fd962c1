"""The README as tests read it: its sections, and the code blocks in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.kernel import ROOT

README = ROOT / "README.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block: under which heading, in which language ("" without one), and its text."""

    section: str
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.section}: {self.text.splitlines()[0]}"


def sections() -> dict[str, str]:
    """The text of each section by its heading; what stands before the first is under ""."""
    pieces = re.split(r"^## (.+)$", README.read_text("utf-8"), flags=re.MULTILINE)
    return {"": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}


def blocks(section: str | None = None) -> Sequence[Block]:
    """All code blocks, or those of one section."""
    return [
        Block(heading, *found)
        for heading, text in sections().items()
        if section in (None, heading)
        for found in _FENCE.findall(text)
    ]
