"""What a turn is given of a collection: found with its prompt, sent before it, never stored.

Only which chunks were sent is remembered with the answer, so that its sources can be told later.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from jan_magics.domain.messages import Json, Message, TextPart
from jan_magics.domain.retrieval import Hit

if TYPE_CHECKING:
    from jan_magics.rag.grounding import Grounding


OFF: Final = "retrieval is off (rag.enabled), and nothing was looked up"
LOOKUP: Final = "rag"
"""The name of the retrieval tools, all three at once; no function of the user has it."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a turn.

    `name` is the collection's as people read it, `address` what it is found by again. `hits` are
    those that are sent, numbered from 1 in their order; `text` is how they are sent, "" without
    any. `chunks` are all of the collection. `notes` are lines for the footer. `ground` compares
    the sentences of an answer with what was found.
    """

    name: str = ""
    hits: tuple[Hit, ...] = ()
    text: str = ""
    chunks: int = 0
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Json] | None = None
    ground: "Callable[[str], Grounding] | None" = None
    address: str = ""

    @property
    def piece(self) -> str:
        """Return the footer's piece: `sources: 4 of 812 from support (0.71-0.44)`."""
        if not self.hits:
            return ""
        scores = [hit.score for hit in self.hits]
        low, high = f"{min(scores):.2f}", f"{max(scores):.2f}"
        span = high if low == high else f"{high}–{low}"
        return f"sources: {len(self.hits)} of {self.chunks:,} from {self.name} ({span})"


def remembered(given: Retrieved | None) -> Json:
    """Return what an answer remembers of its sources: where they stand, how near; None for none."""
    if given is None or not given.hits:
        return None
    at = given.address or given.name
    return [_source(hit, n, at) for n, hit in enumerate(given.hits, 1)]


class Finding(Protocol):
    """Who finds more while a turn goes on: the tools of the model."""

    def given(self) -> Retrieved | None:
        """Return what was found so far, None for nothing."""
        ...


def looks_up(tools: Sequence[object] | None) -> bool:
    """Tell whether the retrieval tools are among those that were asked for."""
    return any(is_lookup(each) for each in tools or ())


def is_lookup(tool: object) -> bool:
    """Tell whether a name means the retrieval tools: `rag`, or `rag:COLLECTION`."""
    return isinstance(tool, str) and tool.partition(":")[0] == LOOKUP


def as_sent(question: Message, given: Retrieved | None, aside: str = "") -> Message:
    """Return a question behind what was retrieved for it, and what is said aside."""
    texts = (given.text if given else "", aside)
    before = tuple(TextPart(text) for text in texts if text)
    return replace(question, parts=(*before, *question.parts)) if before else question


def _source(hit: Hit, number: int, collection: str) -> dict[str, Json]:
    chunk = hit.chunk
    return {
        "n": number, "chunk": chunk.id, "source": hit.source, "start": chunk.start,
        "end": chunk.end, "score": round(hit.score, 6), "collection": collection,
    }  # fmt: skip
