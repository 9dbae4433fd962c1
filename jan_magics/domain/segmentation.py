"""Words for full-text search, the same for threads and chunks, for the index and for queries.

Latin words and digits are folded: case, width and accents make no difference. A script without
spaces (Chinese, kana, hangul, Thai, …) gives each pair of neighbours, so that every part of it is
found, and the last character of a run by itself. An emoji is a word. Anything else separates.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_UNSPACED: Final = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0f40-\u0fbc\u1000-\u1049\u1100-\u11ff\u1780-\u17d3"
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
# Signs that are written on letters, and scripts whose vowels are signs: no letters for Python.
_SIGNS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e8\u06ea-\u06ed\u0711-\u074a\u0900-\u0963\u0971-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f"
)
_EMOJI: Final = (
    "[\U0001f1e6-\U0001f1ff]{1,2}"
    "|[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff]"
)
_PIECE: Final = re.compile(
    f"(?P<run>[{_UNSPACED}][{_UNSPACED}{_SIGNS}\u3099\u309a]*)"
    f"|(?P<word>(?:(?![{_UNSPACED}])[^\\W_])(?:(?![{_UNSPACED}])[^\\W_{_SIGNS}]|[{_SIGNS}])*)"
    f"|(?P<emoji>{_EMOJI})"
)
_ASCII: Final = re.compile("[a-z0-9]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670]+")
_QUOTED: Final = re.compile('"([^"]*)"|“([^”]*)”|(\\S+?)(?=["“]|\\s|$)|(["“])')


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is indexed, and where it stands in the text (characters, half-open)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow one another; `open`: the last one may be the beginning of a word."""

    words: tuple[str, ...]
    open: bool = False


def index_words(text: str) -> list[str]:
    """Return the words of a text, in order, as an index keeps them."""
    if text.isascii():
        return _ASCII.findall(text.lower())
    return [word for piece in _PIECE.finditer(text) for word in _words(piece)]


def spans(text: str, start: int = 0) -> Iterator[Word]:
    """Yield the words of a text with their places, lazily."""
    for piece in _PIECE.finditer(text, start):
        words, begin = _words(piece), piece.start()
        if piece.lastgroup == "run" and len(words) == piece.end() - begin:
            last = piece.end()
            for at, word in enumerate(words, begin):
                yield Word(word, at, min(at + 2, last))
        else:
            for word in words:
                yield Word(word, begin, piece.end())


def phrase_of(text: str, *, open: bool = False) -> Phrase:  # noqa: A002 (what Phrase calls it)
    """Return a text as a query: what has these words in a row has, to all intents, the text.

    The last run of a script without spaces may go on in a text, so its end is left open.
    """
    pieces = list(_PIECE.finditer(text))
    words = [word for piece in pieces for word in _words(piece)]
    if not pieces or pieces[-1].lastgroup == "emoji":
        return Phrase(tuple(words))
    if pieces[-1].lastgroup == "word":
        return Phrase(tuple(words), open)
    last = _words(pieces[-1])
    return Phrase(tuple(words[:-1])) if len(last) > 1 else Phrase(tuple(words), open=True)


def query_phrases(text: str) -> tuple[Phrase, ...]:
    """Return what a query asks for, all of it: words, the last one open, and quoted phrases.

    >>> query_phrases('"active path" overf')
    (Phrase(words=('active', 'path'), open=False), Phrase(words=('overf',), open=True))
    """
    found = list(_QUOTED.finditer(text))
    phrases = []
    for part in found:
        quoted, curly, plain, _ = part.groups()
        if plain is None:
            phrases.append(phrase_of(quoted or curly or ""))
        else:
            phrases.append(phrase_of(plain, open=part is found[-1]))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase.words))


def fold(text: str) -> str:
    """Return a text without case, width, ligatures and accents, composed."""
    if text.isascii():
        return text.lower()
    known = ""
    while text != known:
        known = text
        plain = unicodedata.normalize("NFKD", text.casefold())
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", plain))
    return text


def _words(piece: re.Match[str]) -> list[str]:
    text = piece[0]
    if piece.lastgroup == "emoji":
        return [text]
    if text.isascii():
        return [text.lower()]
    if piece.lastgroup == "word":
        folded = fold(text)
        # A ligature or a fraction may have become several words, or other characters.
        return [folded] if folded.isalnum() else _split(folded)
    plain = unicodedata.is_normalized("NFKC", text) and not _ACCENTS.search(text)
    run = text if plain else fold(text)
    return [run[at : at + 2] for at in range(len(run))]


def _split(folded: str) -> list[str]:
    return [piece[0] for piece in _PIECE.finditer(folded) if piece.lastgroup != "emoji"]
