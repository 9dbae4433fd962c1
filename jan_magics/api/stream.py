"""An answer that is read while it grows."""

from collections.abc import Iterator

from jan_magics.api.answer import Answer
from jan_magics.api.host import Host
from jan_magics.domain.errors import JanError
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.reply import Progress
from jan_magics.notebook.bridge import Running


class AnswerStream:
    """Iterate over new pieces of text; `.answer` is the whole answer afterwards.

    Leaving the loop early stops the turn; what was said is kept.
    """

    def __init__(self, host: Host, running: Running[Outcome, Progress]) -> None:
        self._host = host
        self._running = running
        self._pieces = self._read()
        self._answer: Answer | None = None

    def __iter__(self) -> Iterator[str]:
        return self._pieces

    def __next__(self) -> str:
        return next(self._pieces)

    @property
    def answer(self) -> Answer:
        """Return the whole answer. Raises JanError before the end of the stream."""
        if self._answer is None:
            raise JanError("the answer is not whole yet", "Read the stream to its end first.")
        return self._answer

    def _read(self) -> Iterator[str]:
        said = 0
        try:
            for progress in self._running.updates():
                if len(progress.text) > said:
                    yield progress.text[said:]
                    said = len(progress.text)
            self._answer = self._host.end(self._running)
            if rest := self._answer.text[said:]:
                yield rest
        finally:
            if self._answer is None:
                self._running.cancel()
            self._host.bridge.running.remove(self._running)
