"""Loading what the first call needs, in one piece.

Python's import lock does not survive an interrupt in the wrong moment: it would stay locked, and
every later import of another thread would wait for it for ever.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put an interrupt off until the block is over, and raise it then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
    if asked:
        raise KeyboardInterrupt


def load() -> None:
    """Import what `%%chat` and the verbs need; later calls find it there."""
    with undisturbed():
        import jan_magics.magics.asking
        import jan_magics.magics.verbs  # noqa: F401


def load_retrieval() -> None:
    """Import what the verbs of `%rag` need."""
    with undisturbed():
        import jan_magics.magics.retrieving  # noqa: F401
