"""The ledger: what a summary must not lose, copied word for word by rules and not by a model.

Models drop exactly these: where a file is, how much of what, how something is called, what must
not be done and what was decided.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from jan_magics.domain.messages import Message, text_of
from jan_magics.domain.protocols import Tokenizer

LONGEST: Final = 200
"""Characters of a sentence that are kept."""

_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:\.(?=[A-Za-z\d/])[^.!?。！？\n]+)*[.!?。！？]?")
_PROHIBITION: Final = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|may not|avoid|forbidden|prohibited"
    r"|under no circumstances)\b|不要|不得|不能|不许|禁止|切勿|严禁|してはいけない|しないで|禁じ",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decided|decision|agreed|we(?:'ll| will) (?:use|go|take|keep)|let's (?:use|go|take|keep)"
    r"|settled on|chose|chosen|going with)\b|决定|确定用|采用|选定|选择了|商定|に決め|を採用",
    re.IGNORECASE,
)
_URL: Final = re.compile(r"\b(?:https?|ftp|s3|file)://[^\s<>\"'`，。；、）)\]}]+")
_PATH: Final = re.compile(
    r"(?<![\w/:.])(?:[A-Za-z]:\\|~?/|\.{1,2}/)?(?:[\w.-]+[/\\])+[\w.-]*[\w]"
    r"|(?<![\w/.])[\w-]+\.(?:py|ipynb|csv|tsv|json|jsonl|parquet|txt|md|rst|pdf|docx|xlsx|html|xml"
    r"|ya?ml|toml|ini|cfg|sql|sh|js|ts|c|h|cpp|rs|go|java|r|R|db|log|zip|gz|png|jpe?g|svg|npz?)\b"
)
_UNITS: Final = (
    r"%|‰|°[CF]?|[kKMGT]i?[Bb]|[munpkMG]?(?:m|g|s|A|V|W|Hz|L|l|mol|J|Pa|N|eV)|km|cm|kg|min|h|hours?"
    r"|days?|weeks?|months?|years?|seconds?|minutes?|rows?|columns?|samples?|tokens?|epochs?|bytes?"
    r"|people|times|USD|EUR|GBP|CNY|JPY|euros?|dollars?|元|公斤|千克|克|米|公里|秒|分钟|小时|天|年|个月"
    r"|人|次|行|列|度|円|個|回"
)
_NUMBER: Final = re.compile(
    rf"(?:[\w-]+[ =:]+){{0,3}}[$€£¥]?\d[\d.,]*(?:e[+-]?\d+)?\s?(?:{_UNITS})(?![A-Za-z\d])"
    r"|(?:[\w-]+[ =:]+){0,3}[$€£¥]\d[\d.,]*"
)
_IDENTIFIER: Final = re.compile(
    r"\b(?:[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+|[a-z]+[A-Z][A-Za-z0-9]+|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]+"
    r"|[A-Z]{2,}-\d+|[a-z_]\w*\.[a-z_]\w*\(\)|(?=[0-9a-f]*\d)[0-9a-f]{7,40})\b"
    r"|(?<=`)[A-Za-z_][\w.]{2,60}(?=`)"
)

ORDER: Final = ("prohibitions", "decisions", "urls", "paths", "numbers", "identifiers")
"""The kinds, in the order in which they are worth their tokens."""
_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {"urls": _URL, "paths": _PATH, "numbers": _NUMBER, "identifiers": _IDENTIFIER}
)

Ledger = Mapping[str, tuple[str, ...]]


def ledger_of(messages: Iterable[Message]) -> Ledger:
    """Return what messages say that a summary must not lose, by kind, each once, oldest first."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in ORDER}
    for message in messages:
        text = text_of(message)
        for kind, entries in entries_of(text).items():
            # What a person says is binding; a model's own "do not" is talk.
            if message.role == "user" or kind not in ("prohibitions", "decisions"):
                found[kind].update(dict.fromkeys(entries))
    return {kind: tuple(entries) for kind, entries in found.items() if entries}


def entries_of(text: str) -> Ledger:
    """Return the entries of one text by kind."""
    sentences = [" ".join(each.split()) for each in _SENTENCE.findall(text)]
    found: dict[str, tuple[str, ...]] = {
        "prohibitions": _matching(_PROHIBITION, sentences),
        "decisions": _matching(_DECISION, sentences),
    }
    rest = text
    for kind, pattern in _PATTERNS.items():
        found[kind] = tuple(match.group().rstrip(".,;:") for match in pattern.finditer(rest))
        if kind in ("urls", "paths"):
            # The parts of a path are no identifiers.
            rest = pattern.sub(" ", rest)
    return found


def merged(old: Ledger, new: Ledger, tokenizer: Tokenizer, limit: int) -> Ledger:
    """Join two ledgers within a limit of tokens.

    Kinds are filled up in their order, and within a kind the newest entries go before older ones
    where not all fit; what is kept stands in the order in which it was said.
    """
    left, kept = limit, dict[str, tuple[str, ...]]()
    for kind in ORDER:
        entries = tuple(dict.fromkeys((*old.get(kind, ()), *new.get(kind, ()))))
        chosen: list[str] = []
        for entry in reversed(entries):
            cost = tokenizer.count(entry) + 1
            if cost > left:
                break
            chosen.append(entry)
            left -= cost
        if chosen:
            kept[kind] = tuple(reversed(chosen))
    return kept


def _matching(pattern: re.Pattern[str], sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(each[:LONGEST] for each in sentences if pattern.search(each))
