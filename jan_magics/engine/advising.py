"""The next step of a failure, as it fits the thread and the turn that failed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from jan_magics.domain.errors import JanError
from jan_magics.domain.messages import Thread
from jan_magics.engine.asks import Ask
from jan_magics.engine.outcome import named_in
from jan_magics.engine.views import View

SHORTER: Final = "Shorten the prompt, or ask a model with a larger window: %chat models"


class Glancing(Protocol):
    """Who knows where the next cell goes."""

    def glance(self) -> View:
        """Return the thread that the next cell goes to, without writing anything."""
        ...


def is_elsewhere(here: Glancing, thread: Thread) -> bool:
    """Tell whether the next cell goes to another thread than this one."""
    with suppress(JanError):
        current = here.glance().thread
        return current is None or current.id != thread.id
    return True


def told_of(here: Glancing, thread: Thread, text: str) -> str:
    """Return a next step in a thread, which names it where the next cell goes to another one."""
    return named_in(text, thread) if is_elsewhere(here, thread) else text


@contextmanager
def advising(ask: Ask, here: Glancing) -> Iterator[None]:
    """Let the next step of a failure name its thread, where the next cell goes elsewhere."""
    try:
        with fitting_in(ask):
            yield
    except JanError as failure:
        failure.next_step = told_of(here, ask.thread, failure.next_step)
        raise


@contextmanager
def fitting_in(ask: Ask) -> Iterator[None]:
    """Let the next step of a failure name no history where none is sent."""
    try:
        yield
    except JanError as failure:
        advise(ask, failure)
        raise


def advise(ask: Ask, failure: JanError) -> None:
    """Name no history where none is sent."""
    if not (ask.history and ask.index.path()) and "--no-history" in failure.next_step:
        # Where only the answer does not fit, the first thing to do is to ask for a shorter one.
        kept, other, _ = failure.next_step.partition(", or without history")
        failure.next_step = f"{kept}, or shorten the prompt" if other else SHORTER
