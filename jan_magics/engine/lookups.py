"""The retrieval tools of one turn: in which collection they look, and what they found so far."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.domain.retrieval import Hit
from jan_magics.engine.given import Retrieved
from jan_magics.engine.tools import Ran, Tool
from jan_magics.rag.attached import Attachments
from jan_magics.rag.grounding import Grounding
from jan_magics.rag.tools import Place, Terms, answer_call, tool_specs


@dataclass(slots=True)
class Lookups:
    """Answers the calls of a turn; `hits` are numbered from 1 in the order they were found.

    `ground` compares an answer with some of them.
    """

    name: str
    place: Place
    attachments: Attachments
    terms: Terms
    chunks: int = 0
    ground: Callable[[Sequence[Hit], str], Grounding] | None = None
    hits: tuple[Hit, ...] = ()
    address: str = ""
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools as a turn offers them; they only read, and nobody is asked."""
        return tuple(self._tool(spec) for spec in tool_specs(self.terms.limit))

    def given(self) -> Retrieved | None:
        """Return what was found, as if it had been given with the prompt; None for nothing."""
        if not self.hits:
            return None
        ground = partial(self.ground, self.hits) if self.ground else None
        return Retrieved(
            self.name, self.hits, chunks=self.chunks, ground=ground, address=self.address
        )

    def _tool(self, spec: ToolSpec) -> Tool:
        async def call(arguments: Mapping[str, Json]) -> Ran:
            # One after the other: a number names a chunk for the whole turn.
            async with self._one:
                answer = await asyncio.to_thread(
                    answer_call, spec.name, arguments, self.place, self.attachments, self.terms,
                    self.hits,
                )  # fmt: skip
                self.hits = answer.hits
            return Ran(answer.payload, "ok" if answer.ok else "error")

        return Tool(spec, call, "built-in", "auto", safe=True, elsewhere=True)
