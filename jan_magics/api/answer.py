"""The answer to one question: text first, then everything that is known about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import (
    FilePart,
    FinishReason,
    Message,
    ToolCallPart,
    ToolResultPart,
    text_of,
)
from jan_magics.domain.models import AnswerSchema, ChatRequest, Timings, Usage
from jan_magics.engine.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from jan_magics.context.plan import ContextPlan
    from jan_magics.engine.given import Retrieved


@dataclass(slots=True, eq=False)
class Answer:
    """An answer. `str(answer)` is its text; a cell that ends with it shows it.

    `finish` is stop, length, tools, filter, max_steps, stopped, interrupted or error.
    """

    text: str
    model: str
    thread: str
    message: str
    version: int
    versions: int
    usage: Usage
    timings: Timings
    finish: FinishReason
    sent: Mapping[str, Any] = field(repr=False)
    _plan: "ContextPlan | None" = field(repr=False)
    _bundle: Mapping[str, object] = field(repr=False)
    _here: Callable[[], str] = field(repr=False)
    _given: "Retrieved | None" = field(default=None, repr=False)
    _shown_in: str | None = field(default=None, repr=False)
    _schema: AnswerSchema | None = field(default=None, repr=False)
    _stored: Message | None = field(default=None, repr=False)

    @property
    def plan(self) -> "pd.DataFrame":
        """Return what was sent and what was left out, a row a message; sizes in tokens.

        Raises:
            ThreadError: for an answer that was written by hand.
        """
        from jan_magics.api.context_tables import sent_plan_table

        if self._plan is None:
            raise ThreadError("nothing was sent for this answer", "See: %chat plan")
        return sent_plan_table(self._plan)

    @property
    def repairs(self) -> "pd.DataFrame":
        """Return what was repaired in the messages that were sent; stored ones are as they were."""
        from jan_magics.api.context_tables import repairs_table

        return repairs_table(self._plan)

    @property
    def sources(self) -> "pd.DataFrame":
        """Return what was retrieved and sent with the prompt, by number; `cited` by the answer.

        Where nothing was retrieved, what the tools of others gave as sources: passages, web pages.
        """
        from jan_magics.api.hit_tables import sources_table
        from jan_magics.api.tool_sources import tool_sources
        from jan_magics.frames import frame
        from jan_magics.rag.citations import cite

        if self._given is None and self._stored:
            return frame("sources", tool_sources(self._stored, self.text))
        cited = cite(self.text, self._given.hits).citations if self._given else ()
        return sources_table(self._given, (each.n for each in cited))

    @property
    def citations(self) -> "pd.DataFrame":
        """Return the places that the answer names by number, each with what stands there.

        `attrs` list numbers that name nothing; they are no citations.
        """
        from jan_magics.api.citing import citations

        return citations(self._given, self.text)

    def grounding(self) -> "pd.DataFrame":
        """Return how near each sentence is to what was retrieved: a cosine, and shared words.

        `attrs["jan"]["marked"]` is the answer with the number of its source behind each sentence
        that one supports, as Markdown; a number is a row of `sources`, from 1.

        Raises:
            RetrievalError: when nothing was retrieved for this answer.
            EmbedderError: when the collection's embedder is not installed.
        """
        from jan_magics.api.citing import grounding

        return grounding(self._given, self.text)

    def citations_as(self, shape: str) -> Any:
        """Return the answer with its citations as JSON: "anthropic" or "cohere" has that shape.

        Raises SettingError.
        """
        from jan_magics.api.citing import shaped

        return shaped(self._given, self.text, shape)

    @property
    def code(self) -> str:
        """Return the code blocks of the answer, a blank line between two; "" without any."""
        from jan_magics.notebook.markdown import code_blocks

        return "\n\n".join(block.code.rstrip("\n") for block in code_blocks(self.text))

    @property
    def data(self) -> Any:
        """Return the answer as parsed JSON: the whole text, else its first code block that is.

        None when nothing in it is JSON, or it is not of the form that was asked for.
        """
        from jan_magics.engine.forms import data_in

        return data_in(self.text, self._schema)

    @property
    def tables(self) -> "list[pd.DataFrame]":
        """Return the Markdown tables of the answer, all cells as text."""
        from jan_magics.frames import text_table
        from jan_magics.notebook.markdown import tables

        return [text_table(table[0], table[1:]) for table in tables(self.text)]

    def hide(self) -> None:
        """Do not show the answer where this cell ends with it."""
        self._shown_in = self._here()

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return dict(self._bundle)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        here = self._here()
        if self._shown_in != here:
            display(dict(self._bundle), raw=True)
        # Shown once by the turn itself; asked for again in another cell it shows again.
        self._shown_in = None if self._shown_in != here else here


def sent_of(request: ChatRequest, plan: "ContextPlan | None" = None) -> dict[str, Any]:
    """Return the exact request as JSON, each span with where it came from.

    `from` of a message is the id of a stored one, or what it is; `also` are the ids of others that
    were merged into it. `system_from` names the spans of the system text in their order.
    """
    also = merged_ids(plan) if plan else {}
    options = {k: v for k, v in asdict(request.options).items() if v not in (None, {})}
    return {
        "model": str(request.model),
        "system": request.system,
        "system_from": spans_of(plan) if plan else ["instructions"] * bool(request.system),
        "messages": [_sent_message(message, also) for message in request.messages],
        **({"tools": [asdict(tool) for tool in request.tools]} if request.tools else {}),
        "options": options,
        "stable": request.stable,
        **({"schema": dict(request.schema.body)} if request.schema else {}),
    }


def _sent_message(message: Message, also: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    known: dict[str, Any] = {"role": message.role, "text": text_of(message), "from": message.id}
    known |= _called(message) | _files(message)
    merged = also.get(message.id)
    return {**known, "also": list(merged)} if merged else known


def _called(message: Message) -> dict[str, Any]:
    calls = [
        {"name": part.name, "arguments": part.arguments}
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    results = [
        {"name": part.name, "output": part.output, "state": part.state}
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    return {"calls": calls, "results": results} if calls or results else {}


def _files(message: Message) -> dict[str, Any]:
    """Return images, recordings and other files of a message by what they are, without bytes."""
    files = [
        {"name": part.name, "media_type": part.media_type, "size_bytes": len(part.data or b"")}
        for part in message.parts
        if isinstance(part, FilePart)
    ]
    return {"files": files} if files else {}


def merged_ids(plan: "ContextPlan") -> dict[str, tuple[str, ...]]:
    """Return the ids of messages that went into others, by the one that they went into."""
    measured = plan.measured
    numbers = range(len(measured.messages))
    return {measured.messages[n].id: ids[1:] for n in numbers if (ids := measured.sources(n))[1:]}


def spans_of(plan: "ContextPlan") -> list[str]:
    """Say what the system text was made of: instructions, messages of the thread, a summary."""
    told = ["instructions"] if plan.terms.system.strip() else []
    told += [message.id for _, message in plan.measured.system if text_of(message).strip()]
    summary = plan.seen.summary
    return [*told, *([f"a summary of {len(summary.covers)} messages"] if summary else [])]


def answer_of(
    outcome: Outcome, bundle: Mapping[str, object], here: Callable[[], str], *, shown: bool
) -> Answer:
    """Make the answer of a finished turn; `shown` = this cell has shown it already."""
    turn = outcome.turn
    return Answer(
        text_of(turn.answer), str(turn.request.model), turn.thread.title or turn.thread.id,
        turn.answer.id, outcome.version, outcome.versions, turn.usage, turn.timings, turn.finish,
        sent_of(turn.request, turn.plan), turn.plan, bundle, here, turn.given,
        here() if shown else None, turn.schema, turn.answer,
    )  # fmt: skip
