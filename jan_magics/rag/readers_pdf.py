"""Read PDF files with pypdf, page by page, where the extra `pdf` is installed."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.retrieval import Document
from jan_magics.rag.decoding import clean
from jan_magics.rag.limits import MEGABYTE, Limits, Unreadable

LEAST: Final = 50
"""Characters in all its pages, blanks not counted: what has fewer is a scan."""


def read_pdf(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return the text of a PDF and where its pages begin; a page that fails is an empty one."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        return Unreadable(source, "PDF needs a package: pip install 'jan-magics[pdf]'")
    with _quiet():
        try:
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                return Unreadable(source, "it is protected by a password")
            count = len(reader.pages)
        except PyPdfError as fault:
            return Unreadable(source, f"it is damaged: {fault}")
        pages, failed, size = list[str](), list[int](), 0
        for number in range(count):
            try:
                pages.append(reader.pages[number].extract_text().strip())
            except Exception:  # noqa: BLE001 (a damaged page fails in any way, the others are read)
                pages.append("")
                failed.append(number + 1)
            size += len(pages[-1])
            if size > limits.unpacked_bytes:
                most = limits.unpacked_bytes / MEGABYTE
                return Unreadable(source, f"it unfolds to more than {most:,.0f} MB")
    return _document(source, pages, failed)


def _document(source: str, pages: list[str], failed: list[int]) -> Document | Unreadable:
    written = sum(len("".join(page.split())) for page in pages)
    if written < LEAST and not failed:
        return Unreadable(
            source,
            f"it is a scan: {counted(len(pages), 'page')} with {counted(written, 'character')} of "
            "text; run a text recognition over it first",
        )
    if not written:
        return Unreadable(source, f"none of its {counted(len(pages), 'page')} could be read")
    starts, at = [], 0
    for page in pages:
        starts.append(at)
        at += len(page) + 2
    cleaned = clean("\n\n".join(pages))
    said = f"not read: page {', '.join(map(str, failed))}" if failed else None
    warning = "; ".join(filter(None, (said, cleaned.warning))) or None
    return Document(source, cleaned.text, "text", pages=tuple(starts), warning=warning)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what pypdf says of odd files out of the cell: what matters is in the warning."""
    logger, nowhere = logging.getLogger("pypdf"), logging.NullHandler()
    before, logger.propagate = logger.propagate, False
    logger.addHandler(nowhere)
    try:
        yield
    finally:
        logger.removeHandler(nowhere)
        logger.propagate = before
