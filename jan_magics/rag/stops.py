"""Whether a stop ends its sentence: abbreviations, initials, numbers and quotes that go on."""

import re
from typing import Final

_UNSPACED: Final = frozenset("。！？；｡．")
_TITLE: Final = re.compile(
    "mrs?|ms|dr|prof|sr|st|gen|col|lt|sgt|rev|hon|pres|gov|sen|rep|fr|vs|viz|cf|e\\.?g|i\\.?e"
    "|approx|ca|ed|eds|z\\.b|d\\.h|u\\.a|bzw|vgl|p\\.ex"
)
"""What stands before a dot that never ends a sentence, in small letters."""
_COUNTED: Final = re.compile(
    "figs?|eqs?|nos?|nr|vols?|ch|chap|secs?|sect|pp?|art|refs?|str|abb|jan|feb|mar|apr|jun|jul|aug"
    "|sept?|oct|nov|dec"
)
"""What stands before a dot and a number."""
_ENDING: Final = re.compile("etc|al|inc|ltd|co|corp|jr|usw|ibid|dept|est")
"""What stands before a dot that may end a sentence, in small letters."""
_BEGINNING: Final = re.compile(
    "the|an?|its?|this|that|these|those|s?he|they|we|i|you|his|her|their|our|my|in|on|at|by|for"
    "|from|with|to|but|and|or|so|if|when|while|as|after|before|there|here|however|then|not|no|all"
    "|some|most|many|each|both|one|two|what|who|how|why|where"
)
"""Words that begin a sentence rather than go on with a name, in small letters."""
_QUOTES: Final = frozenset("\"'”’»›」』）)》〉")
_ACRONYM: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|ph\.d")
_BEFORE: Final = re.compile(r"(?:[^\W\d_](?:\.(?=[^\W\d_]))?|\d)+\Z")
_NEXT: Final = re.compile(r"\s*+([\"'“‘«「『（(\[*_]*+)([^\W_]*+)")
_LONGEST: Final = 24
"""Characters before a dot that may be an abbreviation."""


def ends_here(text: str, sentence: tuple[int, int], stop: re.Match[str], after: int) -> bool:
    """Tell whether a run of stops ends the sentence that begins at `sentence[0]`.

    It can reach to `sentence[1]` at most; `after` is behind the quotes and numbers that close it.
    """
    start, end = sentence
    following = _NEXT.match(text, after, end)
    if following is None or after >= end or not text[after].isspace():
        return after >= end or _ends_unspaced(stop[0], text[after])
    if following.end() >= end and not following[2]:
        return True
    word, small = following[2], following[2][:1].islower() and not following[1]
    # "Really?" he asked. (See above.) and on. Wait … what?
    closed = after > stop.end() and text[after - 1] in _QUOTES
    if small and (closed or stop[0][0] == "…" or stop[0].startswith("..")):
        return bool(_UNSPACED.intersection(stop[0]))
    return stop[0] != "." or not _goes_on(text, (start, stop.start()), word)


def _ends_unspaced(mark: str, following: str) -> bool:
    """Tell whether a stop ends a sentence though no space follows, as in Chinese."""
    if _UNSPACED.intersection(mark):
        return mark != "．" or not following.isdigit()
    return mark not in {".", "…"} and following > "\u2e7f"


def _goes_on(text: str, before: tuple[int, int], word: str) -> bool:
    """Tell whether a dot belongs to the word before it, or to a number that counts."""
    start, stop = before
    said = _BEFORE.search(text, max(start, stop - _LONGEST), stop)
    known = said[0].casefold() if said else ""
    if said is None or _TITLE.fullmatch(known):
        return said is not None
    begins = word[:1].isupper() and bool(_BEGINNING.fullmatch(word.casefold()))
    if known.isdigit():
        first = said.start() <= start + 2 and not text[start : said.start()].strip()
        return first or (len(known) <= 2 and word[:1].islower())
    capital = len(known) == 1 and said[0].isupper()
    if _COUNTED.fullmatch(known) and not capital:
        return word[:1].isdigit()
    acronym = _ACRONYM.fullmatch(known) is not None
    initial = capital or (len(known) == 1 and len(word) == 1)
    return (initial or acronym or bool(_ENDING.fullmatch(known))) and bool(word) and not begins
