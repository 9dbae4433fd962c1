"""Sources in tools' outputs, sentences, grounding and numbers in answers, beside Jan's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.retrieval import Chunk, Citation, Fingerprint, Hit
from jan_magics.rag.footnotes import footnoted
from jan_magics.rag.grounding import cosines, ground
from jan_magics.rag.sentences import sentences
from jan_magics.rag.tool_outputs import read_sources
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas


def run_parse(given: Any) -> object:
    found = read_sources(given["output"])
    if found is None:
        return None
    said = {"query": found.query, "scope": found.scope, "projectId": found.project}
    known = {name: value for name, value in said.items() if value is not None}
    return {"kind": found.kind, "citations": list(found.sources), **known}


def run_split(given: Any) -> object:
    text = given["text"]
    return [
        {"formatted": text[each.start : each.end], "plain": each.plain}
        for each in sentences(text)
        if each.claims
    ]


@dataclass(frozen=True)
class ByRules:
    """Gives each text the vector of the first rule whose word it has; a text as rules: one row."""

    rules: Any

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint("rules", "1", 2)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if isinstance(self.rules, str):
            return np.array([[1, 0]], np.float32)
        return np.array([self._vector(text.lower()) for text in texts], np.float32)

    def reads(self, text: str) -> bool:
        return bool(text)

    def _vector(self, text: str) -> list[float]:
        return next(vector for word, vector in self.rules if word == "*" or word in text)


def run_compute(given: Any) -> object:
    hits = [
        Hit(Chunk(str(n), each["file_id"], n, 0, len(each["text"]), 1), "s", each["text"], 1, 1, "")
        for n, each in enumerate(given["citations"])
    ]
    top = given["options"].get("topK", 1)
    try:
        rows = ground(given["text"], hits, ByRules(given["stub_embedding_rules"]), top=top).rows
    except EmbedderError:
        return {"$error": "EmbedderError"}
    found: dict[str, list[int]] = {}
    for row in rows:
        if row.supported and int(row.chunk or 0) not in found.setdefault(row.sentence, []):
            found[row.sentence].append(int(row.chunk or 0))
    return found


def run_cosine(given: Any) -> object:
    left, right = (np.array([given[side]], np.float64) for side in "ab")
    try:
        score = float(cosines(left, right)[0, 0])
    except ValueError:
        return {"$error": "shape"}
    return None if np.isnan(score) else round(score, 9)


def run_markers(given: Any) -> object:
    text, made, taken = given["markdown"], list[Citation](), list[tuple[int, int]]()
    for sentence in sorted(given["sentence_citations"], key=len, reverse=True):
        start = text.find(sentence)
        while start >= 0 and any(start < last and first < start + 1 for first, last in taken):
            start = text.find(sentence, start + 1)
        if start >= 0:
            end = start + len(sentence)
            taken.append((start, end))
            made += [
                Citation(n + 1, "c", "s", 0, 1, "x", start, end, None, "grounding")
                for n in given["sentence_citations"][sentence]
            ]
    return footnoted(text, made, given["anchor_prefix"])


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({
    "citations.parse": run_parse,
    "grounding.compute": run_compute,
    "grounding.cosine": run_cosine,
    "grounding.inject_markers": run_markers,
    "grounding.split_sentences": run_split,
})  # fmt: skip
CHINESE: Final = "今天的天气非常好。"
BOATS: Final = "Boats (e.g. canoes) were kept inside all winter."
DIRECTION: Final = "what has no direction is not compared: unknown is not 0"
OURS: Final[Mapping[str, Ours]] = MappingProxyType({
    "grounding.split_sentences/cjk_short_dropped": Ours(
        [{"formatted": CHINESE, "plain": CHINESE}], "nine Chinese characters are a sentence"
    ),
    "grounding.split_sentences/abbrev_inside": Ours(
        [{"formatted": BOATS, "plain": BOATS}], "an abbreviation ends no sentence"
    ),
    "grounding.compute/embed_length_mismatch": Ours(
        {"$error": "EmbedderError"}, "a wrong count is an error that says so, not no support"
    ),
    "grounding.inject_markers/tilde_fence_not_protected": Ours(
        "~~~\nThe river froze early.\n~~~", "no number is set inside of code"
    ),
    "grounding.cosine/zero_vector": Ours(None, DIRECTION),
    "grounding.cosine/mismatch": Ours({"$error": "shape"}, "two embedders are not compared"),
})  # fmt: skip


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_as_jan_does(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ({"results": [], "sources": [{"url": "https://z"}]}, "web"),
        (["no json", '{"citations": [{"id": "a", "text": "b", "file_id": "c"}]}'], "rag"),
        ([{"type": "text", "text": '[{"url": "http://z"}]'}], "web"),
        ("[" * 100_000, None),
        ("[1, null, {}]", None),
        ({"content": None}, None),
        (None, None),
        (True, None),
    ],
)
def test_sources_are_read_from_whatever_a_tool_gives(output: Any, kind: str | None) -> None:
    """Jan takes the first list, also one without a single page."""
    found = read_sources(output)
    assert (found and found.kind) == kind
