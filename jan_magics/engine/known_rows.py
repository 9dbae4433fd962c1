"""Which rows of a table were answered before: the same prompt to the same model, so and so asked.

The messages before it do not count: a notebook that is run again has other answers there, and its
table is not asked once more for that. How many rows that concerns is told.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jan_magics.domain.errors import MessageNotFound
from jan_magics.domain.messages import Message, TextPart, text_of
from jan_magics.domain.models import ChatRequest
from jan_magics.domain.overlays import SideTurn
from jan_magics.engine.asks import Ask
from jan_magics.engine.forms import data_in
from jan_magics.engine.preparing import Prepared
from jan_magics.engine.records import digest, finish_of, row_of
from jan_magics.engine.reusing import UNFIT
from jan_magics.engine.tallies import Prompt
from jan_magics.engine.views import View


@dataclass(slots=True)
class KnownRows:
    """The rows of a thread that were answered. `first` is a turn as any row of the table is one.

    `before` is the path that leads to a row.
    """

    prepared: Prepared
    view: View
    first: Ask
    before: tuple[Message, ...]
    _same: dict[str, bool] = field(default_factory=dict)

    def key(self, text: str) -> str:
        """Return what tells whether the same is asked."""
        wanted, whom, first = self.prepared.wanted, self.prepared.whom, self.first
        looked = (wanted.collection, wanted.k, wanted.threshold, wanted.query)
        files = [each.name for each in wanted.attach]
        # Instructions as they are written: today's date in them asks for nothing else.
        told = repr((wanted.system, whom.instructions, looked, files, wanted.history))
        asked = Message("", "", "user", (TextPart(text),), first.thread.created_at)
        tools = tuple(tool.spec for tool in first.bench.offered)
        request = ChatRequest(first.model, (asked,), told, tools, first.options)
        return digest(request if first.schema is None else _with_form(request, first))

    def found(self, prompts: Sequence[Prompt], keys: Sequence[str]) -> list[SideTurn | None]:
        """Return the stored turn of each row, None where it must be asked.

        Rows that ask the same have a turn each, the newest in the order of writing.
        """
        known, counts = self._known(), Counter(keys)
        left = {key: iter(known[key][-counts[key] :]) for key in known.keys() & counts.keys()}
        none: Iterator[SideTurn] = iter(())
        return [
            None if prompt.fault else next(left.get(key, none), None)
            for prompt, key in zip(prompts, keys, strict=True)
        ]

    def is_elsewhere(self, turn: SideTurn) -> bool:
        """Tell whether a turn was asked below other messages than the table is now."""
        above = turn.question.parent_id
        parent = above if isinstance(above, str) else ""
        if parent not in self._same:
            self._same[parent] = self._leads_there(parent)
        return self.prepared.wanted.history and not self._same[parent]

    def _known(self) -> dict[str, list[SideTurn]]:
        known, schema = defaultdict[str, list[SideTurn]](list), self.first.schema
        for each in self.view.records:
            if isinstance(each, SideTurn) and (key := row_of(each.answer)):
                unfit = (finish_of(each.answer) or "error") in UNFIT
                if not unfit and (schema is None or _has_data(each.answer, self.first)):
                    known[key].append(each)
        return known

    def _leads_there(self, parent: str) -> bool:
        try:
            path = self.view.index.path_to(parent) if parent else ()
        except MessageNotFound:
            return False
        now = [(message.role, message.parts) for message in self.before]
        return [(message.role, message.parts) for message in path] == now


def _has_data(answer: Message, first: Ask) -> bool:
    return data_in(text_of(answer), first.schema) is not None


def _with_form(request: ChatRequest, first: Ask) -> ChatRequest:
    return ChatRequest(
        request.model, request.messages, request.system, request.tools, request.options,
        schema=first.schema,
    )  # fmt: skip
