"""Read tables, JSON and notebooks as text that can be searched and cited."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jan_magics.domain.counting import counted
from jan_magics.domain.retrieval import Document
from jan_magics.rag.decoding import Decoded, clean, decoded
from jan_magics.rag.limits import Limits, Unreadable

_ESCAPED: Final = re.compile(r"\\u[0-9a-fA-F]{4}")
LONGEST_LINE: Final = 2_000
"""Characters of a line of JSON beyond which it is laid out anew."""
LONGEST_OUTPUT: Final = 1_000
"""Characters of a cell's output that are kept."""
DELIMITERS: Final = ",;\t|"
_NO_TEXT: Final = "it is no text"


def read_table(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return a row a line, each value behind the name of its column.

    Without a header that names every column the values stand alone.
    """
    found = decoded(data)
    if found is None:
        return Unreadable(source, _NO_TEXT)
    delimiter = "\t" if source.lower().endswith((".tsv", ".tab")) else _delimiter(found.text)
    try:
        rows = [row for row in csv.reader(io.StringIO(found.text, ""), delimiter=delimiter) if row]
    except csv.Error as fault:
        return Document(source, found.text, "text", warning=f"read as plain text: {fault}")
    if not any(any(cell.strip() for cell in row) for row in rows):
        return Unreadable(source, "it is empty")
    text = "\n".join(_lines(rows))
    return Document(source, text, "table", warning=found.warning)


def _delimiter(text: str) -> str:
    head = text[: text.find("\n") if "\n" in text else len(text)]
    return max(DELIMITERS, key=head.count)


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    header = [_one_line(cell) for cell in rows[0]]
    named = len(rows) > 1 and len(set(header)) == len(header) and all(map(_is_name, header))
    if not named:
        yield from (", ".join(map(_one_line, row)) for row in rows)
        return
    for row in rows[1:]:
        pairs = zip(header, row, strict=False)
        cells = [f"{name}: {_one_line(cell)}" for name, cell in pairs if cell.strip()]
        yield "; ".join([*cells, *map(_one_line, row[len(header) :])])


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _is_name(cell: str) -> bool:
    return bool(cell) and not re.fullmatch(r"[-+]?[\d.,:/% ]+", cell)


def read_json(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return JSON as it stands in the file, or laid out where it is one long line or escaped."""
    found = decoded(data)
    if found is None:
        return Unreadable(source, _NO_TEXT)
    try:
        value = json.loads(found.text)
    except (ValueError, RecursionError) as fault:
        return _text(source, found, f"read as plain text: it is no JSON ({fault})")
    lines = found.text.splitlines()
    if max(map(len, lines), default=0) <= LONGEST_LINE and not _ESCAPED.search(found.text):
        return _text(source, found)
    try:
        laid_out = clean(json.dumps(value, ensure_ascii=False, indent=1))
    except RecursionError as fault:
        return _text(source, found, f"read as plain text: {fault}")
    return Document(source, laid_out.text, "table", warning=laid_out.warning or found.warning)


def read_json_lines(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return a record a line; lines that are no JSON are kept, and counted in the warning."""
    found = decoded(data)
    if found is None:
        return Unreadable(source, _NO_TEXT)
    lines, broken = [], 0
    for line in found.text.splitlines():
        try:
            value = json.loads(line) if line.strip() else None
            lines.append(json.dumps(value, ensure_ascii=False) if _ESCAPED.search(line) else line)
        except (ValueError, RecursionError):
            broken += 1
            lines.append(line)
    cleaned = clean("\n".join(lines))
    said = f"{counted(broken, 'line')} in it no JSON" if broken else None
    warning = "; ".join(filter(None, (said, found.warning, cleaned.warning))) or None
    return _text(source, Decoded(cleaned.text, warning))


def read_notebook(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return a notebook as Markdown: code and what it wrote in fences, pictures left out."""
    found = decoded(data)
    if found is None:
        return Unreadable(source, _NO_TEXT)
    try:
        notebook = json.loads(found.text)
        language = str(notebook.get("metadata", {}).get("language_info", {}).get("name", "python"))
        text = "\n\n".join(
            part for cell in notebook["cells"] for part in _cell(cell, language) if part.strip()
        )
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as fault:
        return Unreadable(source, f"it is no notebook: {type(fault).__name__}")
    if not text.strip():
        return Unreadable(source, "it is empty")
    cleaned = clean(text)
    return Document(source, cleaned.text, "markdown", warning=cleaned.warning)


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    content = _joined(cell.get("source", ""))
    if cell.get("cell_type") != "code":
        yield content
        return
    if content.strip():
        yield _fenced(content, language)
    for output in cell.get("outputs", ()):
        written = output.get("text") or output.get("data", {}).get("text/plain", "")
        shown = _joined(written)
        if shown.strip():
            cut = "…" if len(shown) > LONGEST_OUTPUT else ""
            yield _fenced(shown[:LONGEST_OUTPUT] + cut, "text")


def _joined(lines: str | Sequence[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _text(source: str, found: Decoded, said: str | None = None) -> Document | Unreadable:
    if not found.text.strip():
        return Unreadable(source, "it is empty")
    warning = "; ".join(filter(None, (said, found.warning))) or None
    return Document(source, found.text, "table", warning=warning)
