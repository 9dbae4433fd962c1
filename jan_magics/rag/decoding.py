"""Bytes of unknown encoding as text that can be stored: the gate through which every text comes."""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.counting import counted

REPLACEMENT: Final = "\ufffd"
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LIKELY: Final = (
    ("shift_jis", re.compile("[\u3040-\u30ff]")),
    ("euc_jp", re.compile("[\u3040-\u30ff]")),
    ("euc_kr", re.compile("[이다는을를에의가은고하지로서도한들리기사니스]")),
    (
        "gb18030",
        re.compile(
            "[的一是不了在有人这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过]"
        ),
    ),
    (
        "big5",
        re.compile(
            "[的一是不了在有人這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過]"
        ),
    ),
    ("cp1251", re.compile("(?<=[а-яё])[а-яё]")),
    ("cp1252", re.compile("(?<=[A-Za-z])[À-ÿ]|[À-ÿ](?=[a-z])|[\u2018-\u201d\u2013€]")),
)
"""Encodings with what is frequent in texts that are written in them."""
_BAD: Final = re.compile("[\x00\ud800-\udfff]")
SAMPLE: Final = 65_536
"""Bytes that tell a text from something else."""
_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\r\f\v\b\x1b"))
MOST_CONTROLS: Final = 0.02
"""The share of control characters that a text may have."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and what had to be guessed or replaced to read it."""

    text: str
    warning: str | None = None


def decoded(data: bytes) -> Decoded | None:
    """Return bytes as text; None where they are no text.

    A byte order mark tells the encoding, else it is UTF-8 where that is possible. Everything else
    is a guess, and said to be one.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _joined(data.decode(encoding, "replace"), None)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guessed(data)
    return None if _is_binary(data) else _joined(text, None)


def clean(text: str) -> Decoded:
    """Return a text without NUL and lone surrogates; each becomes one replacement character."""
    found = _BAD.search(text)
    if found is None:
        return Decoded(text)
    mended, count = _BAD.subn(REPLACEMENT, text)
    kinds = [name for sign, name in (("\0", "NUL"),) if sign in text]
    kinds += ["lone surrogate"] if re.search("[\ud800-\udfff]", text) else []
    replaced = f"{counted(count, 'character')} replaced ({', '.join(kinds)})"
    return Decoded(mended, f"{replaced}, the first at {found.start()}")


def _joined(text: str, said: str | None) -> Decoded:
    cleaned = clean(text)
    warnings = [each for each in (said, cleaned.warning) if each]
    return Decoded(cleaned.text, "; ".join(warnings) or None)


def _guessed(data: bytes) -> Decoded | None:
    if _is_binary(data):
        return _without_mark(data)
    text = data.decode("utf-8", "replace")
    bad, beyond = text.count(REPLACEMENT), len(text) - len(text.encode("ascii", "ignore"))
    if beyond > 4 * bad:
        return _joined(text, f"{counted(bad, 'place')} in it not UTF-8, replaced")
    best, encoding = max((_share(data[:SAMPLE], name, sign), name) for name, sign in _LIKELY)
    encoding = encoding if best else "latin-1"
    return _joined(data.decode(encoding, "replace"), f"read as {encoding}, a guess")


def _share(data: bytes, encoding: str, frequent: re.Pattern[str]) -> float:
    """Return how much of what is not ASCII is frequent in an encoding; 0 where it is not in it."""
    try:
        # The end of a sample may be in the middle of a character.
        text = codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return 0.0
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return len(frequent.findall(text)) / beyond if beyond else 0.0


def _is_binary(data: bytes) -> bool:
    sample = data[:SAMPLE]
    return len(sample) - len(sample.translate(None, _CONTROLS)) > MOST_CONTROLS * len(sample)


def _without_mark(data: bytes) -> Decoded | None:
    """Return UTF-16 that does not say that it is, which has a NUL beside every Latin letter."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        there, beside = data[first:SAMPLE:2], data[1 - first : SAMPLE : 2]
        if there.count(0) > 0.4 * len(there) and beside.count(0) < 0.02 * len(beside):
            return _joined(data.decode(encoding, "replace"), f"read as {encoding}, a guess")
    return None
