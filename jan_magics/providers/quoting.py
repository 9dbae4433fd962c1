"""Find the sentences of a thread that answer a question best, by common words. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_CJK: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE: Final = re.compile(rf"\s*(?:[{_CJK}]{{1,2}}|[^\s{_CJK}]+)|\s+")
_SENTENCE: Final = re.compile(r"[^。！？!?.\n]*(?:[。！？!?]+|\.+(?!\s|$)|\.+|\n+|$)")
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_ASKED: Final = re.compile(r"^user: (.+)$", re.MULTILINE)
_OUTLINED: Final = re.compile(r"^- “.+”$", re.MULTILINE)
# What was looked up for a turn stands in front of its prompt, in numbered blocks (rag/blocks.py).
_BLOCK: Final = re.compile(
    r'^<retrieved n="(\d+)"[^\n]*>\n(.*?)\n</retrieved>$', re.MULTILINE | re.DOTALL
)
_INTRODUCED: Final = re.compile(r"^The numbered pieces of documents that were retrieved [^\n]*\n\Z")
_SHOWN: Final = 2  # sentences of an answer
_LEADS: Final = ("", "It was said: ", "As above: ")
# fmt: off
# They say nothing about what a sentence is about.
_STOP: Final = frozenset(
    [
        "a", "an", "and", "are", "as", "at", "be", "by", "did", "do",
        "does", "for", "from", "has", "have", "how", "i", "in", "is", "it",
        "its", "me", "my", "of", "on", "or", "our", "that", "the", "their",
        "this", "to", "was", "we", "were", "what", "when", "where", "which", "who",
        "why", "will", "with", "you", "your",
    ]
)
# fmt: on


def pieces(text: str) -> list[str]:
    """Cut text into words with the space before them; joined they are the text again."""
    return _PIECE.findall(text)


def quote(prompt: str, sources: Sequence[str], *, seed: int = 0) -> str:
    """Answer a prompt with the sentences that share most words with it.

    The question is the last sentence of the prompt that ends in a question mark, else its first
    sentence; all else is searched. `seed` chooses the wording and which of the best comes first.
    Of a thread that is to be summarised the first sentence of each question is quoted. What
    was retrieved is cited by its number.
    """
    if len(outlined := _OUTLINED.findall(prompt)) > 1:
        return "\n".join(outlined)
    if len(said := _ASKED.findall(prompt)) > 1:
        return "\n".join(f"- “{first[0]}”" for each in said if (first := sentences(each)))
    own = sentences(_plain(prompt))
    if not own:
        return "No model is answering, and there is no question to quote from."
    question = next((text for text in reversed(own) if text.endswith(("?", "？"))), own[0])
    candidates = _candidates(sources)
    candidates.pop(question, None)
    best = _best(question, tuple(candidates))
    if not best:
        return f"“{own[0]}” – no model is answering, and nothing said so far matches this."
    turn = seed % len(best)
    chosen = (best[turn:] + best[:turn])[:_SHOWN]
    return _LEADS[seed % len(_LEADS)] + " … ".join(f"“{text}”{candidates[text]}" for text in chosen)


def sentences(text: str) -> list[str]:
    """Cut text at full stops, question marks and line ends, in Latin and in CJK writing."""
    found = (match.strip() for match in _SENTENCE.findall(text))
    return [sentence for sentence in found if _WORD.search(sentence)]


def _candidates(sources: Sequence[str]) -> dict[str, str]:
    """Return what can be quoted, each with the mark that cites it, "" for what was only said."""
    found: dict[str, str] = {}
    for source in sources:
        for number, text in _BLOCK.findall(source):
            for sentence in sentences(text):
                found.setdefault(sentence, f" [{number}]")
        for sentence in sentences(_plain(source)):
            found.setdefault(sentence, "")
    return found


def _plain(text: str) -> str:
    """Return a text without what was retrieved for it and the sentence that goes before that."""
    first = _BLOCK.search(text)
    if first is None:
        return text
    return _INTRODUCED.sub("", text[: first.start()]) + _BLOCK.sub("", text[first.start() :])


def _best(question: str, candidates: Sequence[str]) -> list[str]:
    asked = _words(question)
    found = [_words(text) & asked for text in candidates]
    seen = Counter(word for words in found for word in words)
    # A word that every sentence has tells nothing: inverse document frequency.
    scores = [
        sum(math.log(1 + len(candidates) / seen[word]) for word in sorted(words)) for words in found
    ]
    order = sorted(range(len(candidates)), key=lambda index: (-scores[index], index))
    top = max(scores, default=0.0)
    return [candidates[index] for index in order if scores[index] > top / 2]


def _words(text: str) -> frozenset[str]:
    words: set[str] = set()
    for run in _WORD.findall(text.lower()):
        if re.match(rf"[{_CJK}]", run):
            words.update(run[start : start + 2] for start in range(max(1, len(run) - 1)))
        elif run not in _STOP:
            words.add(run)
    return frozenset(words)
