"""What the kernel says, in the language of who reads it.

Whatever it says is English first: the engine knows one language, errors, columns and what programs
read stay in it. Phrases are looked up where they are shown; what the catalogue does not have is
shown as it is.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

_SLOT: Final = re.compile(r"\{(\w+)\}")
_NUMBER: Final = r"[≈?]?\d[\d.,]*[kM%]?|\?"
_ANYTHING: Final = r".+?"
_HOLE: Final = "\0"
_BETWEEN: Final = " · "
"""What stands between two phrases of a line."""


def worded(text: str, language: str) -> str:
    """Say a text in a language: "zh" or "zh-CN" in Chinese; else, and what is not known, as it is.

    Numbers, names and commands are kept; `why` in a phrase is a phrase itself.
    """
    if not text or not language.lower().startswith("zh"):
        return text
    return "\n".join(map(_chinese, text.split("\n")))


def worded_around(phrase: str, what: str, language: str) -> str:
    """Say a phrase with something in the place of `{}` that is none, whatever it looks like."""
    return worded(phrase.replace("{}", _HOLE), language).replace(_HOLE, what, 1)


@lru_cache(maxsize=512)
def _chinese(line: str) -> str:
    return _BETWEEN.join(_phrase(each) for each in line.split(_BETWEEN))


def _phrase(text: str) -> str:
    for pattern, chinese in _catalogue():
        if found := pattern.fullmatch(text):
            return chinese.format_map(_filled(found.groupdict()))
    return text


def _filled(found: Mapping[str, str]) -> Mapping[str, str]:
    return {name: _phrase(value) if name == "why" else value for name, value in found.items()}


@cache
def _catalogue() -> tuple[tuple[re.Pattern[str], str], ...]:
    from jan_magics.notebook.chinese import PHRASES  # only who reads Chinese loads it

    return tuple((re.compile(_pattern(english)), said) for english, said in PHRASES.items())


def _pattern(english: str) -> str:
    """Return what matches a phrase: slots of one letter hold a number, `(s)` may be missing."""
    pieces = _SLOT.split(english)
    for at in range(1, len(pieces), 2):
        name = pieces[at]
        pieces[at] = f"(?P<{name}>{_NUMBER if len(name) == 1 else _ANYTHING})"
    for at in range(0, len(pieces), 2):
        pieces[at] = re.escape(pieces[at]).replace(r"\(s\)", "s?").replace(r"\(es\)", "(?:es)?")
    return "".join(pieces)
