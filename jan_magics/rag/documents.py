"""Read files as documents. What cannot be read is a value with its reason, never an exception."""

import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final, TypeAlias

from jan_magics.domain.retrieval import Document, Kind
from jan_magics.rag.decoding import decoded
from jan_magics.rag.limits import MEGABYTE, USUAL, Limits, Unreadable
from jan_magics.rag.readers_data import read_json, read_json_lines, read_notebook, read_table
from jan_magics.rag.readers_html import read_html
from jan_magics.rag.readers_office import read_slides, read_word
from jan_magics.rag.readers_pdf import read_pdf

Reader: TypeAlias = Callable[[bytes, str, Limits], Document | Unreadable]
"""Takes what is in a file, its source, and the limits."""

MARKDOWN: Final = ("md", "markdown", "mdx", "qmd", "rmd")
CODE: Final = (
    "py", "pyi", "js", "mjs", "ts", "tsx", "jsx", "java", "kt", "scala", "go", "rs", "c", "h", "cc",
    "cpp", "hpp", "cs", "swift", "rb", "php", "pl", "lua", "r", "jl", "m", "sh", "bash", "ps1",
    "sql", "css", "scss", "toml", "yaml", "yml", "ini", "cfg", "tex",
)  # fmt: skip
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
LONGEST_REASON: Final = 200


def read(path: Path, limits: Limits = USUAL, source: str | None = None) -> Document | Unreadable:
    """Return a file's text as a document; `source` is its name there, by default its path."""
    name = source or path.as_posix()
    data = bytes_of(path, limits)
    return Unreadable(name, data) if isinstance(data, str) else read_bytes(data, name, limits)


def bytes_of(path: Path, limits: Limits = USUAL) -> bytes | str:
    """Return what is in a file, or why it is not read."""
    try:
        return _bytes(path, limits)
    except (OSError, ValueError) as fault:
        return _why(fault)


def read_bytes(
    data: bytes, source: str, limits: Limits = USUAL, suffix: str | None = None
) -> Document | Unreadable:
    """Return bytes as a document; the end of its source, else its beginning, tells what it is.

    `suffix` is used instead where the source does not end like a file.
    """
    known = _suffix(source) if suffix is None else suffix
    reader = READERS.get(known) or _by_content(data)
    try:
        return reader(data, source, limits)
    except Exception as fault:  # noqa: BLE001 (files are as nobody has foreseen; others are read)
        said = str(fault) or type(fault).__name__
        return Unreadable(source, f"it could not be read: {said[:LONGEST_REASON]}")


def text_of(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return plain text, Markdown or code as it is."""
    found = decoded(data)
    if found is None:
        return Unreadable(source, "it is no text")
    if not found.text.strip():
        return Unreadable(source, "it is empty")
    return Document(source, found.text, kind_of(source), warning=found.warning)


def kind_of(source: str) -> Kind:
    """Return what kind of text a name promises."""
    suffix = _suffix(source)
    if suffix in MARKDOWN:
        return "markdown"
    if suffix == "rst" or source.lower().endswith(".rst.txt"):
        return "rst"
    return "code" if suffix in CODE else "text"


def _suffix(source: str) -> str:
    return PurePosixPath(source.lower()).suffix.lstrip(".")


def _by_content(data: bytes) -> Reader:
    """Return the reader of what a file's first bytes say, that of plain text where they do not."""
    if data.startswith(b"%PDF-"):
        return read_pdf
    if data.startswith(b"PK\x03\x04"):
        return read_slides if b"ppt/slides/" in data else read_word
    if re.match(rb"\s*<(?:!doctype html|html)\b", data[:1024], re.IGNORECASE):
        return read_html
    return _old_office if data.startswith(OLE) else text_of


def _old_office(data: bytes, source: str, limits: Limits) -> Unreadable:
    return Unreadable(source, "it is of an old Office: save it as .docx or .pptx")


def _bytes(path: Path, limits: Limits) -> bytes | str:
    about = path.stat()
    if stat.S_ISDIR(about.st_mode):
        return "it is a folder"
    if not stat.S_ISREG(about.st_mode):
        return "it is no file"  # opening a pipe would wait for ever
    with path.open("rb") as file:
        if about.st_size > limits.file_bytes:
            return _too_large(about.st_size, limits)
        # It may be growing: the size was that of a moment ago.
        data = file.read(limits.file_bytes + 1)
    return data if len(data) <= limits.file_bytes else _too_large(len(data), limits)


def _too_large(size: int, limits: Limits) -> str:
    return (
        f"{size / MEGABYTE:,.0f} MB is more than rag.max_file_mb, "
        f"{limits.file_bytes / MEGABYTE:,.0f}"
    )


def _why(fault: OSError | ValueError) -> str:
    known: dict[type[Exception], str] = {
        FileNotFoundError: "there is no such file",
        PermissionError: "it may not be read",
    }
    return known.get(type(fault)) or getattr(fault, "strerror", None) or str(fault)


READERS: Final[Mapping[str, Reader]] = MappingProxyType({
    "html": read_html, "htm": read_html, "xhtml": read_html,
    "csv": read_table, "tsv": read_table, "tab": read_table,
    "json": read_json, "jsonl": read_json_lines, "ndjson": read_json_lines,
    "ipynb": read_notebook, "pdf": read_pdf, "docx": read_word, "pptx": read_slides,
    "doc": _old_office, "ppt": _old_office,
})  # fmt: skip
"""By the end of a name; what is not here is plain text, unless its first bytes say more."""
