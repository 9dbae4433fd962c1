"""The answer to one question: text first, then everything that is known about it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from jan_magics.domain.messages import FinishReason, Message, text_of
from jan_magics.domain.models import ChatRequest, Timings, Usage
from jan_magics.engine.outcome import Outcome

if TYPE_CHECKING:
    import pandas as pd


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
    _bundle: Mapping[str, object] = field(repr=False)
    _here: Callable[[], str] = field(repr=False)
    _shown_in: str | None = field(default=None, repr=False)

    @property
    def code(self) -> str:
        """Return the code blocks of the answer, a blank line between two; "" without any."""
        from jan_magics.notebook.markdown import code_blocks

        return "\n\n".join(block.code.rstrip("\n") for block in code_blocks(self.text))

    @property
    def data(self) -> Any:
        """Return the answer as parsed JSON: the whole text, else its first code block that is.

        None when nothing in it is JSON.
        """
        from jan_magics.notebook.markdown import code_blocks

        for text in (self.text, *(block.code for block in code_blocks(self.text))):
            try:
                return json.loads(text)
            except ValueError:
                continue
        return None

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


def sent_of(request: ChatRequest) -> dict[str, Any]:
    """Return the exact request as JSON, each message with the stored id it came from."""
    options = {k: v for k, v in asdict(request.options).items() if v not in (None, {})}
    return {
        "model": str(request.model),
        "system": request.system,
        "messages": [_sent_message(message) for message in request.messages],
        "options": options,
        "stable": request.stable,
    }


def _sent_message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "text": text_of(message), "from": message.id}


def answer_of(
    outcome: Outcome, bundle: Mapping[str, object], here: Callable[[], str], *, shown: bool
) -> Answer:
    """Make the answer of a finished turn; `shown` = this cell has shown it already."""
    turn = outcome.turn
    return Answer(
        text_of(turn.answer), str(turn.request.model), turn.thread.title or turn.thread.id,
        turn.answer.id, outcome.version, outcome.versions, turn.usage, turn.timings, turn.finish,
        sent_of(turn.request), bundle, here, here() if shown else None,
    )  # fmt: skip
