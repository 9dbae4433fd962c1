"""An answer that is read while it grows."""

from types import TracebackType
from typing import Self

from jan_magics.api.answer import Answer
from jan_magics.api.host import Host
from jan_magics.domain.errors import JanError
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.notebook.bridge import Job


class AnswerStream:
    """Iterate over new pieces of text; `.answer` is the whole answer afterwards.

    Leaving the loop early stops the turn as soon as the stream is let go, or closed; what was
    said is kept.
    """

    def __init__(self, host: Host, running: Job[Outcome, Progress]) -> None:
        self._host = host
        self._running = running
        self._updates = running.updates()
        self._said = ""
        self._over = False
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """Return the whole answer. Raises JanError before the end of the stream."""
        if self._answer is None:
            raise JanError("the answer is not whole yet", "Read the stream to its end first.")
        return self._answer

    def close(self) -> None:
        """Stop the turn unless it is over."""
        if not self._over:
            self._over = True
            self._running.cancel()
            self._host.bridge.running.remove(self._running)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if self._over:
            raise StopIteration
        try:
            for progress in self._updates:
                if piece := self._piece(progress.text):
                    return piece
            self._answer = self._host.end(self._running)
        except BaseException:
            self.close()
            raise
        self.close()
        if piece := self._piece(self._answer.text):
            return piece
        raise StopIteration

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _piece(self, text: str) -> str:
        """Return what is new of a text; where it begins otherwise now, it was a thought before."""
        before = self._said if text.startswith(self._said) else ""
        self._said = text
        return text[len(before) :]
