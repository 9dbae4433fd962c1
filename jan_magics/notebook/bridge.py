"""Where sync meets async, once: a daemon thread owns the loop, the caller's thread waits.

A waiting main thread can be interrupted at any moment; that cancels the turn, which closes its
HTTP stream and keeps what was said.
"""

import asyncio
import atexit
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from jan_magics.domain.counting import counted
from jan_magics.notebook.wording import worded

T = TypeVar("T")
P = TypeVar("P")

TICK: Final = 0.1
"""Seconds: on Windows a waiting lock does not notice Ctrl-C, so the wait is cut in pieces."""
GRACE: Final = 2.0
"""Seconds that a cancelled turn has to close its stream and keep its words."""


class Stopped(KeyboardInterrupt):
    """Report that the user stopped a turn; Run All stops, and one line is shown.

    `kept` counts the characters of the answer that are kept, `answer` is what was said. `why`
    says what became of a turn without an answer, `resume` is what goes on with one. `language` is
    that of the line.
    """

    def __init__(
        self,
        kept: int = 0,
        answer: object = None,
        why: str = "no answer yet",
        resume: str = "%chat resume",
    ) -> None:
        super().__init__("stopped")
        self.kept = kept
        self.answer = answer
        self.why = why
        self.resume = resume
        self.language = ""

    def __str__(self) -> str:
        if not self.kept:
            return self.why
        return f"kept {counted(self.kept, 'character')} of the answer · go on: {self.resume}"

    def _render_traceback_(self) -> list[str]:
        return [f"Stopped: {worded(str(self), self.language)}"]


@dataclass(slots=True)
class _Done:
    pass


@dataclass(slots=True)
class Errand:
    """Something that the loop wants run in the thread that waits for it."""

    work: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop

    def run(self) -> None:
        """Run it; an interrupt goes on, and the turn is cancelled by whoever waits."""
        result = self.work()
        self.loop.call_soon_threadsafe(self._end, result)

    def _end(self, result: Any) -> None:
        if not self.future.done():
            self.future.set_result(result)


@dataclass(frozen=True, slots=True)
class Channel(Generic[P]):
    """From a coroutine on the loop to the thread that waits for it: call it with an update."""

    queue: SimpleQueue[P | _Done | Errand]

    def __call__(self, update: P) -> None:
        """Put an update into the queue."""
        self.queue.put(update)

    async def hand(self, work: Callable[[], T]) -> T:
        """Have something run in the waiting thread. `work` raises nothing but an interrupt."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self.queue.put(Errand(work, future, loop))
        return await future


@dataclass(slots=True)
class Job(Generic[T, P]):
    """A coroutine on the loop; read its updates in one thread, then its result."""

    loop: asyncio.AbstractEventLoop
    make: Callable[[Channel[P]], Coroutine[Any, Any, T]]
    _queue: SimpleQueue[P | _Done | Errand] = field(default_factory=SimpleQueue)
    _task: asyncio.Task[T] | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Put the coroutine on the loop."""
        self.loop.call_soon_threadsafe(self._begin)

    def updates(self) -> Iterator[P]:
        """Yield updates until the coroutine is over; while nothing comes, the last one again."""
        latest: P | None = None
        while True:
            with suppress(Empty):
                update = self._queue.get(timeout=TICK)
                if isinstance(update, _Done):
                    return
                if isinstance(update, Errand):
                    if latest is not None:
                        # It holds this thread up: what was said until then is shown before.
                        time.sleep(TICK)
                        yield latest
                    update.run()
                    continue
                latest = update
            if latest is not None:
                yield latest

    def result(self) -> T:
        """Return the result, or raise what the coroutine raised; Stopped when it was cancelled."""
        self._over.wait()
        task = self._task
        if task is None or task.cancelled():
            raise Stopped
        return task.result()

    def cancel(self) -> bool:
        """Cancel and wait until the stream is closed; False when that takes too long."""
        return cancel_all([self]) == 1

    def drop_soon(self) -> None:
        """Cancel and do not wait, from any thread."""
        self.loop.call_soon_threadsafe(self.drop)

    def drop(self) -> None:
        """Cancel, called on the loop."""
        if self._task is not None:
            self._task.cancel()

    def ended(self) -> bool:
        """Wait until the coroutine is over; False when that takes too long."""
        return self._over.wait(GRACE)

    def _begin(self) -> None:
        self._task = self.loop.create_task(self.make(Channel(self._queue)))
        self._task.add_done_callback(self._end)

    def _end(self, _: asyncio.Task[T]) -> None:
        self._over.set()
        self._queue.put(_Done())


def cancel_all(jobs: Sequence[Job[Any, Any]]) -> int:
    """Cancel jobs of one loop and return how many are over by then.

    All in one step of the loop: else the end of one would let another begin that waits for it.
    """

    def drop() -> None:
        for job in jobs:
            job.drop()

    if jobs:
        jobs[0].loop.call_soon_threadsafe(drop)
    return sum([job.ended() for job in jobs])


@dataclass(slots=True)
class Bridge:
    """The engine's thread. `running` are the turns that can be stopped."""

    running: list[Job[Any, Any]] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self,
        make: Callable[[Channel[P]], Coroutine[Any, Any, T]],
        on_update: Callable[[P], None] = lambda _: None,
        on_start: Callable[[Job[T, P]], None] = lambda _: None,
    ) -> T:
        """Run a coroutine on the engine's thread and hand its updates to the caller's thread.

        `on_start` is given what can be dropped from any thread.

        Raises:
            Stopped: when the caller was interrupted; the coroutine is cancelled by then.
        """
        running = self.start(make)
        on_start(running)
        try:
            for update in running.updates():
                on_update(update)
            return running.result()
        except KeyboardInterrupt as interrupt:
            running.cancel()
            raise (interrupt if isinstance(interrupt, Stopped) else Stopped()) from None
        except BaseException:
            running.cancel()  # else it would wait for an errand that nobody runs any more
            raise
        finally:
            self.running.remove(running)

    def call(self, coroutine: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine that has no updates."""
        return self.run(lambda _: coroutine())

    def start(self, make: Callable[[Channel[P]], Coroutine[Any, Any, T]]) -> Job[T, P]:
        """Start a coroutine and return at once; the caller removes it from `running`."""
        running: Job[T, P] = Job(self.loop(), make)
        self.running.append(running)
        running.start()
        return running

    def stop(self) -> int:
        """Cancel everything that runs and return how much that was."""
        return cancel_all(tuple(self.running))

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop; its thread starts at the first call."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(self._loop,), daemon=True)
                self._thread.start()
                atexit.register(self.close)
            return self._loop

    def close(self) -> None:
        """Stop what runs and end the thread; a later call starts a new one."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            atexit.unregister(self.close)
            cancel_all(tuple(self.running))
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(GRACE)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_end_all())
        loop.close()


async def _end_all() -> None:
    """Cancel what is left in the background, so that it still closes its streams."""
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
