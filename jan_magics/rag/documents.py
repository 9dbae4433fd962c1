"""Read files as documents. What cannot be read is a value with its reason, never an exception."""

import os
import stat
from pathlib import Path
from typing import Final

from jan_magics.domain.retrieval import Document, Kind
from jan_magics.rag.decoding import decoded
from jan_magics.rag.limits import MEGABYTE, USUAL, Limits, Unreadable

MARKDOWN: Final = ("md", "markdown", "mdx", "qmd", "rmd")
CODE: Final = (
    "py", "pyi", "js", "mjs", "ts", "tsx", "jsx", "java", "kt", "scala", "go", "rs", "c", "h", "cc",
    "cpp", "hpp", "cs", "swift", "rb", "php", "pl", "lua", "r", "jl", "m", "sh", "bash", "ps1",
    "sql", "css", "scss", "toml", "yaml", "yml", "ini", "cfg", "tex",
)  # fmt: skip


def read(path: Path, limits: Limits = USUAL, source: str | None = None) -> Document | Unreadable:
    """Return a file's text as a document; `source` is its name there, by default its path."""
    name = source or path.as_posix()
    try:
        data = _bytes(path, limits)
    except OSError as fault:
        return Unreadable(name, _why(fault))
    if isinstance(data, str):
        return Unreadable(name, data)
    return text_of(data, name)


def text_of(data: bytes, source: str) -> Document | Unreadable:
    """Return plain text, Markdown or code as it is."""
    found = decoded(data)
    if found is None:
        return Unreadable(source, "it is no text")
    if not found.text.strip():
        return Unreadable(source, "it is empty")
    return Document(source, found.text, kind_of(source), warning=found.warning)


def kind_of(source: str) -> Kind:
    """Return what kind of text a name promises."""
    suffix = Path(source).suffix.lower().lstrip(".")
    if suffix in MARKDOWN:
        return "markdown"
    if suffix == "rst":
        return "rst"
    return "code" if suffix in CODE else "text"


def _bytes(path: Path, limits: Limits) -> bytes | str:
    """Return what is in a file, or why it is not read."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return "it is no file"
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


def _why(fault: OSError) -> str:
    known = {
        FileNotFoundError: "there is no such file",
        PermissionError: "it may not be read",
        IsADirectoryError: "it is a folder",
    }
    return known.get(type(fault)) or fault.strerror or str(fault)
