"""A model's text as Markdown that no front end can be harmed by, and what stands in it."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from jan_magics.notebook.fences import Code, regions
from jan_magics.notebook.hazards import block_code, hazardous, legible
from jan_magics.notebook.prose import safe_prose
from jan_magics.notebook.wide_rows import keep_wide_rows

if TYPE_CHECKING:
    from markdown_it.token import Token

_ENDS_FENCE: Final = re.compile(r"`{3}|~{3}|@@\d")
"""Marks of fences, and those by which JupyterLab remembers math."""
_DRAWN: Final = "mermaid"
"""The language of diagrams that JupyterLab draws: pictures in them are fetched from anywhere."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A code block of an answer; `language` is the first word behind its fence, or ''."""

    language: str
    code: str


def neutralise(text: str) -> str:
    """Return Markdown that is safe as a trusted output in any front end.

    However a parser reads its prose: no tag but our own `pre` and `code`, no image, and no address
    but literal http, https and mailto. Math is written with dollar signs; code stays verbatim, in
    a fence where nothing in it or before it can end that.
    """
    pieces = list[str]()
    set_apart = False
    for region in regions(legible(text)):
        if isinstance(region, str):
            piece, apart = safe_prose(region), False
        else:
            piece, apart = _safe_code(region)
        # With a blank line on both sides, `$` in neighbouring prose cannot swallow tags or fences.
        if pieces and (apart or set_apart) and not _blank_between(pieces[-1], piece):
            pieces.append("")
        pieces.append(piece)
        set_apart = apart
    return "\n".join(pieces)


def _blank_between(above: str, below: str) -> bool:
    return not above or not below or above.endswith("\n") or below.startswith("\n")


def _safe_code(block: Code) -> tuple[str, bool]:
    """Return code that stays code, and whether it must have a blank line on both sides."""
    drawn = block.language.lower() == _DRAWN
    # The colon in the next line stands for an address behind a link that the code leaves open.
    if not drawn and not hazardous(block.source) and not hazardous(f"{block.code}\n:"):
        return block.source, False
    nested, language = bool(block.margin), "" if drawn else block.language
    if not nested and not _ENDS_FENCE.search(block.code):
        # With a word behind it, a fence ends no other one that a parser may see open.
        return f"```{language or 'text'}\n{block.code}\n```", True
    html = block_code(block.code, language, one_line=nested)
    return block.margin + html, not nested


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the fenced and indented code blocks of Markdown, as CommonMark sees them."""
    # Loading the parser takes longer than loading the whole extension.
    from markdown_it import MarkdownIt

    blocks = list[CodeBlock]()
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in {"fence", "code_block"}:
            language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
            blocks.append(CodeBlock(language, token.content.removesuffix("\n")))
    return tuple(blocks)


def last_block(text: str) -> int:
    r"""Return where the last block of Markdown begins, as a place in the text.

    >>> last_block("one\n\n- two\n- three")
    5
    """
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    starts = [token.map[0] for token in tokens if not token.level and token.map]
    lines = text.split("\n")[: max(starts, default=0)]
    return sum(len(line) + 1 for line in lines)


def tables(text: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the tables of Markdown, each as rows of plain text; the first row is the header.

    A row may have more cells than the header: no word is left out.
    """
    from markdown_it import MarkdownIt

    found = list[list[tuple[str, ...]]]()
    cells = list[str]()
    in_cell = False
    for token in keep_wide_rows(MarkdownIt("commonmark").enable("table")).parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type in {"th_open", "td_open", "th_close", "td_close"}:
            in_cell = token.type.endswith("open")
        elif token.type == "inline" and in_cell:
            cells.append(_words(token))
        elif token.type == "tr_close":
            found[-1].append(tuple(cells))
            cells = []
    return tuple(map(tuple, found))


def _words(inline: "Token") -> str:
    """Return the plain text of a table cell."""
    breaks = {"softbreak": " ", "hardbreak": " "}
    return "".join(breaks.get(child.type, child.content) for child in inline.children or ())
