"""Keep the cells of a table's row that the header has no column for. Knows the parser's tokens."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_OF_A_QUOTE: Final = "> \t"


def keep_wide_rows(parser: "MarkdownIt") -> "MarkdownIt":
    """Teach a parser of tables to keep every cell; GFM's own rule drops those beyond the header."""
    parser.core.ruler.after("block", "wide_rows", _widen)
    return parser


def _widen(state: "StateCore") -> None:
    lines, widened, cells = state.src.split("\n"), list["Token"](), 0
    for token in state.tokens:
        if token.type == "tr_open":
            cells = 0
        elif token.type == "td_open":
            cells += 1
        elif token.type == "tr_close" and cells:
            widened += _cells(_row(lines, widened), cells, widened)
        widened.append(token)
    state.tokens = widened


def _row(lines: list[str], before: "list[Token]") -> str:
    """Return the line of the row whose last cell was just read."""
    place = next((each.map for each in reversed(before) if each.type == "inline"), None)
    return lines[place[0]] if place else ""


def _cells(row: str, kept: int, before: "list[Token]") -> "list[Token]":
    """Return the tokens of the cells behind those that were kept, made as the last of these."""
    from markdown_it.rules_block.table import escapedSplit

    columns = escapedSplit(row.strip())
    if columns and not columns[0].strip(_OF_A_QUOTE):
        columns.pop(0)
    if columns and not columns[-1]:
        columns.pop()
    made = list["Token"]()
    for words in columns[kept:]:
        opened, inline, closed = (each.copy() for each in before[-3:])
        # The last column's alignment is not this one's.
        made += [opened.copy(attrs={}), inline.copy(content=words.strip(), children=[]), closed]
    return made
