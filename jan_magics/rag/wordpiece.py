"""WordPiece, as BERT's uncased models read text; the vocabulary comes with this package.

Devlin et al., NAACL 2019. A word is cut into the longest pieces that the vocabulary has, from the
left; a word that cannot be cut is one unknown token.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

CLS: Final = 101
SEP: Final = 102
UNKNOWN: Final = 100
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONGEST: Final = 100
"""Characters of a word above which it is unknown."""
_HAN: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def encode(text: str) -> list[int]:
    """Return the tokens of a text, without the marks around an input."""
    return [token for word in words(text) for token in _pieces(word)]


def words(text: str) -> Iterator[str]:
    """Yield words and signs, without case and accents; each Chinese character is a word."""
    if text.isascii():
        text = _CONTROLS.sub("", text).lower()
    else:
        plain = unicodedata.normalize("NFD", "".join(filter(_kept, text)).lower())
        text = "".join(sign for sign in plain if unicodedata.category(sign) != "Mn")
    begin = 0
    for end, sign in enumerate(text):
        kind = _kind(sign)
        if kind == "letter":
            continue
        if begin < end:
            yield text[begin:end]
        if kind == "sign":
            yield sign
        begin = end + 1
    if begin < len(text):
        yield text[begin:]


@lru_cache(maxsize=4096)
def _kind(sign: str) -> str:
    """Tell a letter from a space and from a sign that stands alone."""
    if sign in "\t\n\r " or unicodedata.category(sign) == "Zs":
        return "space"
    code = ord(sign)
    ascii_sign = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    if ascii_sign or unicodedata.category(sign).startswith("P"):
        return "sign"
    return "sign" if any(low <= code <= high for low, high in _HAN) else "letter"


@lru_cache(maxsize=4096)
def _kept(sign: str) -> bool:
    """Tell what is text from control characters, which are nothing at all, not even a space."""
    if sign in "\t\n\r":
        return True
    return sign != "\ufffd" and not unicodedata.category(sign).startswith("C")


@lru_cache(maxsize=65536)
def _pieces(word: str) -> tuple[int, ...]:
    if len(word) > _LONGEST:
        return (UNKNOWN,)
    known = _vocabulary()
    tokens = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in known:
                tokens.append(known[piece])
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(tokens)


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, int]:
    text = files("jan_magics.rag").joinpath("data/wordpiece.txt").read_text(encoding="utf-8")
    return {piece: place for place, piece in enumerate(text.split("\n")) if piece}
