"""Where characters that are read as one may not be torn apart: grapheme clusters.

The rules of Unicode's annex 29, asked of one place at a time; where the standard library does not
know a class of characters, more is kept together, never less.
"""

import unicodedata
from typing import Final

LONGEST: Final = 256
"""Characters after which a cluster is none any more: Unicode allows 30 signs on a letter."""
_JOINER: Final = "\u200d"
_VIRAMA: Final = 9
"""The combining class of the signs that join two consonants."""
_HANGUL: Final = (
    (0x1100, 0x115F, "L"), (0xA960, 0xA97C, "L"), (0x1160, 0x11A7, "V"), (0xD7B0, 0xD7C6, "V"),
    (0x11A8, 0x11FF, "T"), (0xD7CB, 0xD7FB, "T"),
)  # fmt: skip
_AFTER: Final = {"L": ("L", "V", "S"), "V": ("V", "T"), "S": ("T",), "T": ("T",)}
"""Which parts of a syllable follow on which; S is a whole one."""


def is_boundary(text: str, at: int, since: int = 0) -> bool:
    """Tell whether a text may be cut before the character `at`; `since` is a boundary before it."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\x80" and after < "\x80":
        return (before, after) != ("\r", "\n")
    return before in "\r\n" or not _belongs(text, at, since)


def boundary_before(text: str, at: int, since: int = 0) -> int:
    """Return the last place up to `at` where a text may be cut, `since` where there is no other."""
    while at > since and not is_boundary(text, at, since):
        at -= 1
    return at


def boundary_after(text: str, at: int, since: int = 0) -> int:
    """Return the first place from `at` where a text may be cut, at most `LONGEST` behind it."""
    last = at + LONGEST
    while at < last and not is_boundary(text, at, since):
        at += 1
    return at


def _belongs(text: str, at: int, since: int) -> bool:
    before, after = text[at - 1], text[at]
    return (
        _extends(after)
        or _prepends(before)
        or (before == _JOINER and _is_picture(after) and _joins_pictures(text, at - 1, since))
        or (_is_flag(before) and _is_flag(after) and _flags_before(text, at, since) % 2 == 1)
        or _hangul(after) in _AFTER.get(_hangul(before), ())
        or _joins_consonants(text, at, since)
    )


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char)[0] == "M"
        or code in (0x200C, 0x200D, 0x0E33, 0x0EB3, 0xFF9E, 0xFF9F)
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of flags
    )


def _prepends(char: str) -> bool:
    code = ord(char)
    return 0x0600 <= code <= 0x0605 or code in (0x06DD, 0x070F, 0x08E2, 0x0D4E, 0x110BD, 0x110CD)


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sm", "Po", "Sk", "Cn")


def _joins_pictures(text: str, joiner: int, since: int) -> bool:
    at = joiner - 1
    while at > since and _extends(text[at]):
        at -= 1
    return at >= since and _is_picture(text[at])


def _is_flag(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _flags_before(text: str, at: int, since: int) -> int:
    first = at
    while first > since and _is_flag(text[first - 1]):
        first -= 1
    return at - first


def _hangul(char: str) -> str:
    code = ord(char)
    if 0xAC00 <= code <= 0xD7A3:
        return "V" if (code - 0xAC00) % 28 == 0 else "S"
    return next((part for low, high, part in _HANGUL if low <= code <= high), "")


def _joins_consonants(text: str, at: int, since: int) -> bool:
    if unicodedata.category(text[at]) != "Lo":
        return False
    joined = False
    at -= 1
    while at >= since and _extends(text[at]):
        joined = joined or unicodedata.combining(text[at]) == _VIRAMA
        at -= 1
    return joined
