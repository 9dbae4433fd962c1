"""Count and place tokens for chunking: with a vocabulary where one is installed, else estimated."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from jan_magics.context.estimator import Estimator
from jan_magics.context.tokens import estimator_for

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]

VOCABULARY: Final = "o200k_base"
BLOCK: Final = 65_536
"""Characters that are encoded at once: the time of a run without a blank grows faster than it."""
RUN: Final = 1_024
"""Characters that are encoded at once where there is no blank."""
SPECIAL: Final = "<|"
"""How the special tokens of the vocabulary begin, which in a document are plain text."""
SAMPLE: Final = 256
"""Characters between two estimates of where tokens end."""
NEAR: Final = 8
"""Blanks that are looked at for one that is not behind another."""
_CONTINUED: Final = bytes(range(0x80, 0xC0))
"""All bytes of a character but its first."""
_BEFORE_BLANK: Final = re.compile("[!-~] ")


class Tokens(Protocol):
    """The tokens of one text."""

    @property
    def borders(self) -> Sequence[int]:
        """Return where each token ends: characters, ascending, the last is the text's length.

        A token that ends within a character counts as ending with it.
        """
        ...

    def count(self, start: int, end: int, first: int, last: int) -> int:
        """Return the tokens of a stretch of the text by itself.

        `first` and `last` are numbers of tokens between which its own ones are.
        """
        ...


class Counter(Protocol):
    """Counts the tokens of texts."""

    @property
    def name(self) -> str:
        """Return the name of the vocabulary or rule."""
        ...

    @property
    def exact(self) -> bool:
        """Tell whether it is a vocabulary's own count."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of a text by itself."""
        ...

    def tokens(self, text: str) -> Tokens:
        """Return where the tokens of a text are."""
        ...


class _Vocabulary(Protocol):
    @property
    def vocab_size(self) -> int: ...
    def encode_flat(self, text: str) -> bytes: ...
    def encode_ordinary(self, text: str) -> list[int]: ...
    def decode_token_bytes(self, token: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class VocabularyCounter:
    """Counts with a vocabulary; `begun` are the characters that begin in each token."""

    vocabulary: _Vocabulary
    begun: Integers
    name: str = VOCABULARY
    exact: bool = True

    def count(self, text: str) -> int:
        """Return the tokens of a text by itself."""
        try:
            if SPECIAL in text:
                return len(self.vocabulary.encode_ordinary(text))
            return len(self.vocabulary.encode_flat(text)) // 4
        except UnicodeEncodeError:
            return self.count(encodable(text))

    def tokens(self, text: str) -> Tokens:
        """Return where the tokens of a text are."""
        clean = encodable(text)
        blocks, adds_up = _blocks(clean)
        tokens = np.concatenate([_NONE, *map(self._encoded, blocks)])
        ends: Any = np.cumsum(self.begun.take(tokens), dtype=np.int32)
        return _Encoded(clean, memoryview(ends), self, adds_up)

    def _encoded(self, text: str) -> Any:
        if SPECIAL in text:
            return np.array(self.vocabulary.encode_ordinary(text), np.uint32)
        return np.frombuffer(self.vocabulary.encode_flat(text), np.uint32)


_NONE: Final = np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A text that was encoded; `adds_up`: at no place where a pre-token may go on was it cut."""

    text: str
    borders: Sequence[int]
    counter: Counter
    adds_up: bool

    def count(self, start: int, end: int, first: int, last: int) -> int:
        """Return the tokens of a stretch by itself.

        The vocabulary's rule lets no token reach from a sign over a blank, or from a line into a
        word of the next. Between two such places a stretch has the tokens that the whole text has,
        so only what is left at its two ends is counted.
        """
        head = self._first_parting(start, end) if self.adds_up else -1
        if head < 0:
            return self.counter.count(self.text[start:end])
        tail = end if self._begins_word(end) else _last_blank(self.text, head, end)
        begun = bisect_right(self.borders, head, first, last)
        whole = tail == len(self.text)
        ended = len(self.borders) if whole else bisect_right(self.borders, tail, begun, last)
        inside = ended - begun
        if head > start:
            inside += self.counter.count(self.text[start:head])
        if tail == end - 1 and self.text[tail] == " ":
            inside += 1  # a blank, which is the most frequent end
        elif tail < end:
            inside += self.counter.count(self.text[tail:end])
        return inside

    def _first_parting(self, start: int, end: int) -> int:
        if self._begins_word(start):
            return start
        found = _BEFORE_BLANK.search(self.text, start, end)
        return found.end() - 1 if found else -1

    def _begins_word(self, at: int) -> bool:
        """Tell whether a place is that of a word at the beginning of a line, or an end."""
        text = self.text
        if not 0 < at < len(text):
            return True
        return text[at - 1] == "\n" and text[at].isascii() and text[at].isalnum()


def _last_blank(text: str, first: int, end: int) -> int:
    """Return the last of the near places behind a sign and before a blank; `first` is one."""
    at = end
    for _ in range(NEAR):
        at = text.rfind(" ", first, at)
        if at <= first or "!" <= text[at - 1] <= "~":
            return max(first, at)
    return first


@dataclass(frozen=True, slots=True)
class EstimatedCounter:
    """Estimates by the script of a text, where no vocabulary is installed."""

    estimator: Estimator

    @property
    def name(self) -> str:
        """Return the name of the estimate."""
        return self.estimator.name

    @property
    def exact(self) -> bool:
        """Return False: it is an estimate."""
        return False

    def count(self, text: str) -> int:
        """Return the tokens of a text, about."""
        return self.estimator.count(text)

    def tokens(self, text: str) -> Tokens:
        """Return where tokens would be if those of each stretch of text were equally long."""
        places = [*range(0, len(text), SAMPLE), len(text)]
        stretches = (text[a:b] for a, b in pairwise(places))
        tokens = [0, *accumulate(map(self.estimator.count, stretches))]
        ends = np.interp(np.arange(1, tokens[-1] + 1), tokens, places).astype(np.int64)
        return _Counted(text, memoryview(ends), self)


@dataclass(frozen=True, slots=True)
class CharacterCounter:
    """Counts characters (code points), each of them a token."""

    name: str = "chars"
    exact: bool = True

    def count(self, text: str) -> int:
        """Return the characters of a text."""
        return len(text)

    def tokens(self, text: str) -> Tokens:
        """Return the places behind each character."""
        return _Counted(text, range(1, len(text) + 1), self)


@dataclass(frozen=True, slots=True)
class _Counted:
    text: str
    borders: Sequence[int]
    counter: Counter

    def count(self, start: int, end: int, first: int, last: int) -> int:
        """Return the tokens of a stretch by itself."""
        return self.counter.count(self.text[start:end])


def encodable(text: str) -> str:
    """Return a text as UTF-8 can hold it: a lone surrogate becomes a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def counter_here() -> Counter:
    """Return the exact counter where `splintr-rs` is installed, else the estimate."""
    try:
        return _load()
    except ImportError:
        return estimated()


def estimated() -> EstimatedCounter:
    """Return the estimate for the same vocabulary."""
    return EstimatedCounter(estimator_for("gpt-4o"))


@lru_cache(maxsize=1)
def _load() -> VocabularyCounter:
    import splintr

    vocabulary: _Vocabulary = splintr.Tokenizer.from_pretrained(VOCABULARY)
    return VocabularyCounter(vocabulary, _begun(vocabulary))


def _begun(vocabulary: _Vocabulary) -> Integers:
    begun = np.zeros(vocabulary.vocab_size, np.int16)
    for token in range(vocabulary.vocab_size):
        try:
            data = vocabulary.decode_token_bytes(token)
        except ValueError:
            continue  # vocabularies have gaps
        begun[token] = len(data.translate(None, _CONTINUED))
    return begun


def _blocks(text: str) -> tuple[Sequence[str], bool]:
    """Cut a text into blocks before a blank; tell whether there always was one."""
    blocks, start, adds_up = list[str](), 0, True
    while len(text) - start > BLOCK:
        last = start + BLOCK
        blank = _last_blank(text, last - RUN, last)
        if blank > last - RUN:
            blocks.append(text[start:blank])
            start = blank
        else:
            adds_up = False
            blocks += [text[at : at + RUN] for at in range(start, last, RUN)]
            start = last
    if start < len(text):
        blocks.append(text[start:])
    return blocks, adds_up
