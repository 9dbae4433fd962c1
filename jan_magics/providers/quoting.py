"""Find the sentences of a conversation that answer a question best, by common words. Pure."""

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
    Of a conversation that is to be summarised the first sentence of each question is quoted.
    """
    if len(outlined := _OUTLINED.findall(prompt)) > 1:
        return "\n".join(outlined)
    if len(said := _ASKED.findall(prompt)) > 1:
        return "\n".join(f"- “{first[0]}”" for each in said if (first := sentences(each)))
    own = sentences(prompt)
    if not own:
        return "No model is answering, and there is no question to quote from."
    question = next((text for text in reversed(own) if text.endswith(("?", "？"))), own[0])
    candidates = dict.fromkeys(text for source in sources for text in sentences(source))
    candidates.pop(question, None)
    best = _best(question, tuple(candidates))
    if not best:
        return f"“{own[0]}” – no model is answering, and nothing said so far matches this."
    turn = seed % len(best)
    chosen = (best[turn:] + best[:turn])[:_SHOWN]
    return _LEADS[seed % len(_LEADS)] + " … ".join(f"“{text}”" for text in chosen)


def sentences(text: str) -> list[str]:
    """Cut text at full stops, question marks and line ends, in Latin and in CJK writing."""
    found = (match.strip() for match in _SENTENCE.findall(text))
    return [sentence for sentence in found if _WORD.search(sentence)]


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
