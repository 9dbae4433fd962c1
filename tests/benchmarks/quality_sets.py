"""Questions with known answers, made from documentation that Debian packages carry.

Man pages: the NAME line is the question, the page behind it the answer. Python's FAQ: a title that
ends in "?" is the question, its body the answer. Nothing is downloaded: the folders are those of
the packages `manpages`, `manpages-dev`, `manpages-ja`, `manpages-zh` and `python3.11-doc`.
"""

import gzip
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SECTION = re.compile(r"^\.S[Hh]\s+(.*)$", re.MULTILINE)
UNDERLINE = re.compile(r"^([=\-~^*\"])\1{3,}\s*$")


@dataclass(frozen=True)
class QualitySet:
    """Texts, questions, and for each question the places of its answers among the texts."""

    name: str
    texts: Sequence[str]
    questions: Sequence[str]
    answers: Sequence[frozenset[int]]


def man_pages(folder: Path, language: str = "", files: Container[Path] | None = None) -> QualitySet:
    """Make the set of man pages under a folder, of one language; `files` are all that count."""
    texts: list[str] = []
    asked: dict[str, set[int]] = defaultdict(set)
    for path in sorted((folder / language).glob("man[0-9]*/*.gz")):
        if path.is_symlink() or not (files is None or path in files):
            continue
        found = _page(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        if found is None:
            continue
        question, body = found
        if len(question.split()) >= 3 or (language and len(question) >= 3):
            asked[question].add(len(texts))
        texts.append(body)
    return _made(f"man pages {language}".strip(), texts, asked)


def python_faq(folder: Path) -> QualitySet:
    """Make the set of Python's FAQ among all sections of its documentation."""
    texts: list[str] = []
    asked: dict[str, set[int]] = defaultdict(set)
    for path in sorted(folder.rglob("*.rst.txt")):
        for title, body in _sections(path.read_text(encoding="utf-8")):
            faq = "faq" in path.parts
            text = (body if faq else f"{title}\n{body}").strip()[:4000]
            if len(text) < 60:
                continue
            if faq and title.endswith("?"):
                asked[title].add(len(texts))
            texts.append(text)
    return _made("python faq", texts, asked)


def _made(name: str, texts: Sequence[str], asked: dict[str, set[int]]) -> QualitySet:
    return QualitySet(name, texts, list(asked), [frozenset(each) for each in asked.values()])


def _page(source: str) -> tuple[str, str] | None:
    if source.startswith(".so "):
        return None
    marks = list(SECTION.finditer(source))
    if len(marks) < 2:
        return None
    name = _plain(source[marks[0].end() : marks[1].start()])
    _, dash, question = name.partition(" - ")
    body = _plain(source[marks[1].start() :])[:6000]
    return (" ".join(question.split()), body) if dash and body else None


def _plain(source: str) -> str:
    lines = []
    for line in source.splitlines():
        if line.startswith(('.\\"', "'\\\"", ".ds", ".de", ".if", ".ie", ".el")):
            continue
        lines.append(re.sub(r"^[.']\s*\w+\s?", "", line) if line[:1] in (".", "'") else line)
    text = "\n".join(lines)
    text = re.sub(r"\\f(\(..|\[[^]]*\]|.)", "", text)
    text = re.sub(r"\\\((\w\w|..)", lambda m: {"em": "-", "bu": "*"}.get(m[1], ""), text)
    text = text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    return re.sub(r"\\s[+-]?\d+|\\[|^/%:~0]|\\\*(\(..|\[[^]]*\]|.)|\\\[[^]]*\]", "", text)


def _sections(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines()
    heads = [
        at
        for at in range(1, len(lines))
        if UNDERLINE.match(lines[at])
        and lines[at - 1].strip()
        and not UNDERLINE.match(lines[at - 1])
    ]
    for at, end in zip(heads, [*heads[1:], len(lines) + 1][: len(heads)], strict=True):
        yield lines[at - 1].strip(), "\n".join(lines[at + 1 : end - 1])
