"""Estimate tokens from the scripts of a text: counts of byte classes, weighted by family."""

import re
from dataclasses import dataclass
from operator import mul
from typing import Final

from jan_magics.context.families import Family
from jan_magics.context.images import image_tokens
from jan_magics.domain.messages import FilePart, Role

# One letter a class; a character outside ASCII is one class, told from its first UTF-8 byte.
_CLASSES: Final = (
    ("c", range(0x20)),
    ("\n", b"\n"),
    ("t", b"\t"),
    (" ", b" "),
    ("p", range(0x21, 0x80)),
    ("0", b"0123456789"),
    ("A", range(0x41, 0x5B)),
    ("a", range(0x61, 0x7B)),
    ('"', b"\"'"),
    (",", b",."),
    ("_", b"_"),
    ("N", (0xC2,)),  # signs of Latin 1, no-break space
    ("L", range(0xC3, 0xCE)),  # accented Latin
    ("G", range(0xCE, 0xD0)),  # Greek
    ("R", range(0xD0, 0xD4)),  # Cyrillic
    ("B", range(0xD4, 0xE0)),  # Hebrew, Arabic
    ("I", range(0xE0, 0xE2)),  # India, South East Asia, Georgian
    ("s", (0xE2, 0xEE)),  # dashes, quotation marks, arrows, boxes
    ("K", (0xE3,)),  # kana, Chinese punctuation
    ("H", range(0xE4, 0xEA)),  # hanzi
    ("O", range(0xEA, 0xEE)),  # hangul
    ("F", (0xEF,)),  # full width
    ("M", range(0xF0, 0xF8)),  # emoji, rare hanzi
)
_CONTINUED: Final = bytes(range(0x80, 0xC0))
ASCII: Final = (b"A", b"0", b"\n", b"p", b'"', b" ", b"    ", b"00", b"pppp", b", ", b"t", b"_a")
WIDE: Final = (b"N", b"L", b"G", b"R", b"B", b"I", b"s", b"ssss", b"K", b"H", b"O", b"F", b"M")
# Base64 and hex: long, blank-free, and full of digits, which no word is.
_RUN: Final = re.compile(rb"[A-Za-z0-9+/=_-]{40,}")


def _table() -> bytes:
    table = bytearray(b"c" * 256)
    for letter, members in _CLASSES:
        for byte in members:
            table[byte] = ord(letter)
    return bytes(table)


_TABLE: Final = _table()


def features(text: str) -> tuple[int, ...]:
    """Return what the weights are for: characters, `ASCII`, runs, `WIDE`.

    Of runs their characters, capitals and digits, which are counted nowhere else. What is left
    out at the end is zero.
    """
    data = text.encode("utf-8", "surrogatepass")
    wide = not text.isascii()
    classes = data.translate(_TABLE, _CONTINUED) if wide else data.translate(_TABLE)
    counted = (size := len(classes), *map(classes.count, ASCII))
    opaque: tuple[int, ...] = ()
    if size >= 40 and (counted[1] * 10 > size or counted[2] * 8 > size):
        rest, opaque = _without_runs(data)
        classes = rest.translate(_TABLE, _CONTINUED)
        counted = (len(classes), *map(classes.count, ASCII))
    if wide:
        return (*counted, *(opaque or (0, 0, 0)), *map(classes.count, WIDE))
    return (*counted, *opaque)


def _without_runs(data: bytes) -> tuple[bytes, tuple[int, ...]]:
    runs = b"".join(run for run in _RUN.findall(data) if _is_opaque(run)).translate(_TABLE)
    rest = (
        _RUN.sub(lambda found: b" " if _is_opaque(found[0]) else found[0], data) if runs else data
    )
    return rest, (len(runs), runs.count(b"A"), runs.count(b"0"))


def _is_opaque(run: bytes) -> bool:
    return run.translate(_TABLE).count(b"0") * 12 > len(run)


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates by the script of a text, without any vocabulary.

    Fitted so that 19 of 20 texts of 4,000 characters are within 12 % of the real count.
    """

    family: Family

    @property
    def name(self) -> str:
        """Return the name of the family, marked as an estimate."""
        return f"≈{self.family.name}"

    @property
    def exact(self) -> bool:
        """Return False: it is an estimate."""
        return False

    def count(self, text: str) -> int:
        """Return the tokens of a text, about; 0 for an empty one, else 1 at least."""
        if not text:
            return 0
        # map stops with the shorter one: most texts have neither runs nor wide characters.
        tokens: float = sum(map(mul, self.family.weights, features(text)))
        return max(1, round(tokens))

    def overhead(self, role: Role) -> int:
        """Return the marks that the family's template puts around a message."""
        return self.family.overhead

    def opening(self, *, system: bool) -> int:
        """Return the marks that the family's template puts around a request."""
        return self.family.opening

    def image(self, part: FilePart) -> int:
        """Return the tokens of an image by the family's size rule."""
        return image_tokens(part, self.family.images)
