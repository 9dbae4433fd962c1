"""Read Word documents and presentations: a zip of XML, unfolded within limits.

The standard library is enough for text, and it can be told where to stop; a library that opens
the whole file cannot.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final
from xml.etree import ElementTree

from jan_magics.domain.retrieval import Document
from jan_magics.rag.decoding import clean
from jan_magics.rag.limits import MEGABYTE, Limits, Unreadable

_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDES: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_SLIDE: Final = re.compile(r"ppt/slides/slide(\d+)\.xml")
_SIGNS: Final[Mapping[str, str]] = MappingProxyType({
    f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-",
})  # fmt: skip
_HEADING: Final = re.compile(r"(?:heading|标题|標題|見出し|제목|überschrift|titre)\s*(\d)", re.I)
DEEPEST: Final = 6


class _Refused(Exception):
    """Carry why an archive is not unfolded."""


def read_word(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return a Word document as Markdown: headings, lists, tables."""
    return _read(data, source, limits, _word)


def read_slides(data: bytes, source: str, limits: Limits) -> Document | Unreadable:
    """Return a presentation as Markdown, a page a slide, in the order of their numbers."""
    return _read(data, source, limits, _presentation)


def _read(
    data: bytes,
    source: str,
    limits: Limits,
    pages_of: Callable[["_Archive"], Iterator[str]],
) -> Document | Unreadable:
    reason = "it has no text"
    pages: list[str] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            pages = [page.strip("\n") for page in pages_of(_Archive(archive, limits))]
    except KeyError:
        reason = "it is an archive with no document in it"
    except (zipfile.BadZipFile, ElementTree.ParseError, EOFError, zlib.error) as fault:
        reason = f"it is damaged: {fault}"
    except (RuntimeError, NotImplementedError):
        reason = "it is protected by a password"
    except _Refused as refused:
        reason = str(refused)
    if not any(page.strip() for page in pages):
        return Unreadable(source, reason)
    # Signs that no text can have are replaced one by one, so that the places stay.
    cleaned = clean("\n\n".join(pages))
    starts, at = [], 0
    for page in pages:
        starts.append(at)
        at += len(page) + 2
    paged = tuple(starts) if pages_of is _presentation else ()
    return Document(source, cleaned.text, "markdown", pages=paged, warning=cleaned.warning)


class _Archive:
    """Parts of a zip, until they are too large together."""

    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        self._left = limits.unpacked_bytes

    def names(self) -> list[str]:
        """Return the names of all parts."""
        return self._archive.namelist()

    def part(self, name: str) -> ElementTree.Element:
        """Return a part as a tree. Raises _Refused, KeyError."""
        about = self._archive.getinfo(name)
        self._check(about.file_size, about.compress_size)
        with self._archive.open(about) as file:
            # What the archive says of sizes may be a lie.
            data = file.read(self._left + 1)
        self._check(len(data), about.compress_size)
        self._left -= len(data)
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise _Refused("it declares entities, which no such file needs")
        return ElementTree.fromstring(data)  # noqa: S314 (no entity is left to unfold)

    def _check(self, size: int, packed: int) -> None:
        if size > self._left:
            most = self._limits.unpacked_bytes / MEGABYTE
            raise _Refused(f"it unfolds to more than {most:,.0f} MB")
        if size > MEGABYTE and size > self._limits.ratio * max(1, packed):
            raise _Refused(f"it unfolds to {size // max(1, packed):,} times its size")


def _word(archive: _Archive) -> Iterator[str]:
    levels = _levels(archive) if "word/styles.xml" in archive.names() else {}
    body = archive.part("word/document.xml").find(f"{_WORD}body")
    blocks = list(body) if body is not None else []
    yield "\n\n".join(filter(None, (_block(block, levels) for block in blocks)))


def _levels(archive: _Archive) -> dict[str, int]:
    """Return the level of each style that is a heading's."""
    levels = {}
    for style in archive.part("word/styles.xml").iter(f"{_WORD}style"):
        name = style.find(f"{_WORD}name")
        outline = style.find(f"{_WORD}pPr/{_WORD}outlineLvl")
        called = _HEADING.fullmatch(name.get(f"{_WORD}val", "") if name is not None else "")
        if outline is not None and outline.get(f"{_WORD}val", "").isdigit():
            levels[style.get(f"{_WORD}styleId", "")] = int(outline.get(f"{_WORD}val", "0")) + 1
        elif called:
            levels[style.get(f"{_WORD}styleId", "")] = int(called[1])
    return levels


def _block(block: ElementTree.Element, levels: Mapping[str, int]) -> str:
    if block.tag == f"{_WORD}tbl":
        rows = (
            " | ".join(" ".join(_words(cell).split()) for cell in row.iter(f"{_WORD}tc"))
            for row in block.iter(f"{_WORD}tr")
        )
        return "\n".join(f"| {row} |" for row in rows)
    text = _words(block).strip()
    style = block.find(f"{_WORD}pPr/{_WORD}pStyle")
    level = levels.get(style.get(f"{_WORD}val", ""), 0) if style is not None else 0
    if level and text:
        return f"{'#' * min(level, DEEPEST)} {' '.join(text.split())}"
    listed = block.find(f"{_WORD}pPr/{_WORD}numPr") is not None
    return f"- {text}" if listed and text else text


def _words(element: ElementTree.Element) -> str:
    """Return the text of an element, what was deleted in a revision left out."""
    parts = []
    for each in element.iter():
        if each.tag == f"{_WORD}t":
            parts.append(each.text or "")
        elif each.tag == f"{_WORD}p" and parts:
            parts.append("\n")
        else:
            parts.append(_SIGNS.get(str(each.tag), ""))
    return "".join(parts)


def _presentation(archive: _Archive) -> Iterator[str]:
    slides = [
        (int(found[1]), name) for name in archive.names() if (found := _SLIDE.fullmatch(name))
    ]
    for number, name in sorted(slides):
        slide = archive.part(name)
        texts = [text for shape in slide.iter(f"{_SLIDES}sp") if (text := _shape(shape))]
        texts += [
            "\n".join(
                "| " + " | ".join(" ".join(_runs(cell).split()) for cell in row) + " |"
                for row in table.iter(f"{_DRAWING}tr")
            )
            for table in slide.iter(f"{_DRAWING}tbl")
        ]
        yield "\n\n".join(texts) or f"(slide {number} has no text)"


def _shape(shape: ElementTree.Element) -> str:
    text = "\n".join(filter(None, (_runs(each).strip() for each in shape.iter(f"{_DRAWING}p"))))
    holder = next(shape.iter(f"{_SLIDES}ph"), None)
    is_title = holder is not None and holder.get("type") in ("title", "ctrTitle")
    return f"# {' '.join(text.split())}" if is_title and text else text


def _runs(element: ElementTree.Element) -> str:
    parts = []
    for each in element.iter():
        if each.tag == f"{_DRAWING}t":
            parts.append(each.text or "")
        elif each.tag == f"{_DRAWING}br":
            parts.append("\n")
    return "".join(parts)
