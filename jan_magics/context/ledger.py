"""The ledger: what a summary must not lose, copied word for word by rules and not by a model.

Models drop exactly these: where a file is, how much of what, how something is called, what must
not be done and what was decided. What is looked for stands in `ledger_patterns`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from jan_magics.context.counting import INLINE_KEY
from jan_magics.context.ledger_patterns import (
    BESIDE,
    CODE,
    DECISION,
    DEFINED,
    ENDED,
    IDENTIFIER,
    NUMBER,
    PATH,
    PROHIBITION,
    QUESTION,
    RUN,
    SENTENCE,
    SIZED,
    URL,
)
from jan_magics.domain.messages import FilePart, Message, ToolCallPart, text_of

LONGEST: Final = 200
"""Characters of a sentence that are kept."""
ORDER: Final = ("prohibitions", "decisions", "urls", "paths", "numbers", "identifiers")
"""The kinds, in the order in which they are worth their tokens."""
SENTENCES: Final = ORDER[:2]
DEFINED_NAMES: Final = "defined"
"""Identifiers that code defines, until they are told apart from those that were spoken of."""
NAMES: Final = 5
"""The most names that are taken from one block of code."""
LABEL: Final = 4
"""Tokens of a kind's name, and of what stands between two entries at most."""

Ledger = Mapping[str, tuple[str, ...]]
Count = Callable[[str], int]


def ledger_of(messages: Iterable[Message]) -> Ledger:
    """Return what messages say that a summary must not lose, by kind, each once, oldest first."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in (*ORDER, DEFINED_NAMES)}
    for message in messages:
        said = entries_of(text_of(message))
        for kind, entries in said.items():
            # What a person says is binding; a model's own "do not" is talk.
            if message.role == "user" or kind not in SENTENCES:
                found[kind].update(dict.fromkeys(entries))
        found["paths"].update(dict.fromkeys(_files(message)))
    # An answer that was cut off ends in the middle of a name.
    whole = list(found["paths"])
    found["paths"] = {
        each: None for each in whole if not any(more.startswith(f"{each}.") for more in whole)
    }
    # What was spoken of outlasts what a program defines: the last are kept longest.
    defined = {name: None for name in found.pop(DEFINED_NAMES) if name not in found["identifiers"]}
    found["identifiers"] = defined | found["identifiers"]
    return {kind: tuple(entries) for kind, entries in found.items() if entries}


def entries_of(text: str) -> Ledger:
    """Return the entries of one text by kind; of code only where it looks, and what it defines."""
    code = CODE.findall(text)
    prose = RUN.sub(" ", CODE.sub("\n", text))
    sentences = [" ".join(each.split()) for each in SENTENCE.findall(prose)]
    stated = [each for each in sentences if not QUESTION.search(each)]
    found = {
        "prohibitions": _matching(PROHIBITION, stated),
        "decisions": _matching(DECISION, stated),
    }
    found["urls"], rest = _taken(URL, prose)
    shares, rest = _shares(rest)
    found["paths"], rest = _taken(PATH, ENDED.sub(r"\1 ", BESIDE.sub(" ", rest)))
    # The parts of an address or a path are neither numbers nor identifiers.
    found["numbers"] = shares + _taken(NUMBER, rest)[0]
    found["identifiers"], _ = _taken(IDENTIFIER, rest)
    found[DEFINED_NAMES] = ()
    for block in code:
        urls, rest = _taken(URL, RUN.sub(" ", block))
        paths, _ = _taken(PATH, "\n".join(_quoted(rest)))
        found["urls"] += urls
        found["paths"] += paths
        found[DEFINED_NAMES] += _taken(DEFINED, rest)[0][:NAMES]
    return {kind: tuple(dict.fromkeys(entries)) for kind, entries in found.items()}


def merged(old: Ledger, new: Ledger, count: Count, limit: int) -> Ledger:
    """Join two ledgers within a limit of tokens.

    Every kind has an equal share of the limit, and what is left of it is filled up in the kinds'
    order. Within a kind what was said last goes before older entries where not all fit; what is
    kept stands in the order in which it was last said.
    """
    entries = {kind: _newest((*old.get(kind, ()), *new.get(kind, ()))) for kind in ORDER}
    told = " ".join(each for kind in SENTENCES for each in entries[kind])
    for kind in ORDER[2:]:
        entries[kind] = [each for each in entries[kind] if not _is_in(each, told)]
    kinds = [kind for kind in ORDER if entries[kind]]
    left = limit - LABEL * (len(kinds) + 1)
    chosen: dict[str, set[str]] = {kind: set() for kind in kinds}
    for room in (left // max(1, len(kinds)), left):
        for kind in kinds:
            most = min(room, left)
            for entry in entries[kind]:
                cost = count(entry) + 1
                if entry not in chosen[kind] and cost <= most:
                    chosen[kind].add(entry)
                    most, left = most - cost, left - cost
    kept = {kind: tuple(e for e in reversed(entries[kind]) if e in chosen[kind]) for kind in kinds}
    return {kind: each for kind, each in kept.items() if each}


def ledger_tokens(ledger: Ledger, count: Count) -> int:
    """Return the tokens of a ledger, with the names of its kinds and what stands between."""
    entries = sum(count(entry) + 1 for each in ledger.values() for entry in each)
    return entries + LABEL * (len(ledger) + 1) if ledger else 0


def _newest(entries: Sequence[str]) -> list[str]:
    """Return each entry once, what was said last first."""
    return list(dict.fromkeys(reversed(entries)))


def _is_in(entry: str, text: str) -> bool:
    """Tell whether a text holds an entry, and not only the letters of it inside a longer word."""
    at = text.find(entry)
    while at >= 0:
        around = text[at - 1 : at] if at else "", text[at + len(entry) : at + len(entry) + 1]
        if not any(re.match(r"[A-Za-z0-9_/\\-]", each) for each in around):
            return True
        at = text.find(entry, at + 1)
    return False


def _matching(pattern: re.Pattern[str], sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(each[:LONGEST] for each in sentences if pattern.search(each))


def _taken(pattern: re.Pattern[str], text: str) -> tuple[tuple[str, ...], str]:
    """Return what matches, and the text without it."""
    found = tuple(match.group().strip().rstrip(".,;:") for match in pattern.finditer(text))
    return tuple(filter(None, found)), pattern.sub(" ", text)


def _shares(text: str) -> tuple[tuple[str, ...], str]:
    """Return the amounts of something per something, and fractions; and the text without them."""
    if "/" not in text:
        return (), text
    found = [each for each in SIZED.finditer(text) if "/" in each.group(1)]
    rest = SIZED.sub(lambda each: " " if "/" in each.group(1) else each.group(), text)
    return tuple(each.group().strip() for each in found), rest


def _quoted(code: str) -> list[str]:
    """Return the strings of code: elsewhere a slash divides, and a dot looks up."""
    return re.findall(r"[\"']([^\"'\n]{1,200})[\"']", code)


def _files(message: Message) -> Iterable[str]:
    """Yield the files that a message brings, and those that its tool calls name."""
    for part in message.parts:
        if isinstance(part, FilePart) and part.name:
            yield part.name
        elif isinstance(part, ToolCallPart):
            yield from _taken(PATH, "\n".join(_strings(part.arguments)))[0]
    inline = message.metadata.get(INLINE_KEY)
    for each in inline if isinstance(inline, list | tuple) else ():
        if isinstance(each, Mapping) and isinstance(name := each.get("name"), str):
            yield name


def _strings(arguments: str) -> Iterable[str]:
    """Yield the texts at the top of a tool call's arguments."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return
    values = given.values() if isinstance(given, dict) else ()
    yield from (value for value in values if isinstance(value, str) and len(value) <= LONGEST)
