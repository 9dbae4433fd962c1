"""The sections of a text: what a heading stands over. Markdown and reStructuredText, no code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.code_spans import code_spans
from jan_magics.rag.sentences import plain

_HEADING: Final = re.compile(
    r"^[ ]{0,3}(?P<marks>#{1,6})[ \t]++(?P<title>[^\n]*?)[ \t]*+(?:[ \t]#++[ \t]*+)?\r?$"
    r"|^(?:(?P<over>([=\-~^*\"'`+#:.])\4{2,})\r?\n)?(?P<named>[^\s|>][^\n]*?)[ \t]*+\r?\n"
    r"(?P<under>([=\-~^*\"'`+#:.])\7{2,})[ \t]*+\r?$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it up to the next one: `text[start:end]`.

    `level` counts from 1 and `parents` are the headings above it, the outermost first; `last` is
    where the sections below it end, too.
    """

    title: str
    level: int
    start: int
    end: int
    last: int
    parents: tuple[str, ...] = ()


def sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a text in order; what stands before the first heading is in none."""
    found = list(_headings(text))
    made: list[Section] = []
    above: list[tuple[int, str]] = []
    for n, (title, level, _, start) in enumerate(found):
        above = [(depth, name) for depth, name in above if depth < level]
        end = found[n + 1][2] if n + 1 < len(found) else len(text)
        below = (found[m] for m in range(n + 1, len(found)))
        last = next((at for _, depth, at, _ in below if depth <= level), len(text))
        made.append(Section(title, level, start, end, last, tuple(name for _, name in above)))
        above.append((level, title))
    return tuple(made)


def _headings(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield title, level, and the places where a heading begins and where its section does.

    Underlined headings have the level in which their line, with or without one above, comes first.
    """
    code = [each for each in code_spans(text) if each.block]
    styles: list[tuple[str, bool]] = [("=", False), ("-", False)] if "\n#" in f"\n{text}" else []
    for match in _HEADING.finditer(text):
        title = plain(match["title"] or match["named"] or "")
        if not title or any(each.start <= match.start() < each.end for each in code):
            continue
        if match["marks"]:
            level = len(match["marks"])
        else:
            # A line shorter than the words above it is a rule, and what stands above is a text.
            if len(match["under"]) < len(match["named"].strip()) or not _alone(text, match.start()):
                continue
            style = match["under"][0], match["over"] is not None
            styles += [] if style in styles else [style]
            level = styles.index(style) + 1
        yield title, level, match.start(), min(len(text), match.end() + 1)


def _alone(text: str, at: int) -> bool:
    """Tell whether nothing stands on the line before a place."""
    line = text.rfind("\n", 0, max(0, at - 1)) + 1
    return not text[line:at].strip()
