"""A llama-server of our own: started at the first request, reused, ended with the kernel."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import (
    JanError,
    ModelNotFound,
    ModelNotReachable,
    ProviderError,
    ServerFailed,
    StreamBroken,
)
from jan_magics.domain.events import (
    Finish,
    LeftOut,
    Loading,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import FilePart
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef, Timings
from jan_magics.providers.access import Shared
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.key_order import Keys
from jan_magics.providers.llamacpp import LlamaTokenizer
from jan_magics.providers.local_files import LocalFiles, check_weights, find_files
from jan_magics.providers.local_process import Running, launch, ready
from jan_magics.providers.openai import OpenAIProvider

_NEWS: Final = 2.0  # seconds between two lines about loading
_LOOK: Final = 0.05  # seconds between two looks whether it has died
_LOOKS: Final = 10
_WORDS: Final = (TextDelta, ReasoningDelta, ToolCallDelta)


class LocalServer:
    """One llama-server, started when it is first needed and again when it has died.

    `weights` and `program` are paths that the user chose; `window` is in tokens.
    """

    def __init__(
        self, *, weights: Path | None = None, program: Path | None = None, window: int = 4096
    ) -> None:
        self.window = window
        self._weights = weights
        self._program = program
        self._checked: tuple[str, int, int] | None = None
        self._unfit: Path | None = None  # a program that this processor cannot run
        self._running: Running | None = None
        self._starting: asyncio.Task[None] | None = None

    def available(self) -> ModelRef | None:
        """Return the model that a request would start, None where something is missing."""
        try:
            files = find_files(self._weights, self._program)
        except JanError:
            return None
        return None if files.program == self._unfit else ModelRef("local", files.name)

    def check(self) -> None:
        """Look for what a start needs. Raises ModelNotReachable where something is missing."""
        if not self.running:
            find_files(self._weights, self._program)

    @property
    def running(self) -> Running | None:
        """Return the server while it lives."""
        return self._running if self._running and self._running.alive else None

    async def started(self) -> AsyncGenerator[Loading, None]:
        """Start the server unless it runs, with a line of news every few seconds.

        Several callers may wait; one that leaves early does not stop the start for the others.

        Raises:
            ModelNotReachable: when it cannot start, with the last lines of its log.
        """
        if self.running:
            return
        files = find_files(self._weights, self._program)
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(files))
        task, begun = self._starting, time.monotonic()
        while not task.done():
            waited = time.monotonic() - begun
            yield Loading(f"starting {_plain(files.name)} …{f' {waited:.0f} s' * (waited >= 1)}")
            await asyncio.wait({task}, timeout=_NEWS)
        task.result()

    async def crashed(self, asked: Running) -> bool:
        """Tell whether the server that was asked has died; it is given a moment for that."""
        for _ in range(_LOOKS):
            if not asked.alive:
                return True
            await asyncio.sleep(_LOOK)
        return False

    async def drop(self, asked: Running) -> None:
        """End the server that was asked, unless another one runs by now."""
        if self._running is asked:
            await self.close()

    async def close(self) -> None:
        """End the server; a later request starts it again."""
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        running, self._running = self._running, None
        if running:
            await asyncio.to_thread(running.end)

    async def _start(self, files: LocalFiles) -> None:
        if self._running:  # it has crashed: its pipe and log are of no use any more
            await asyncio.to_thread(self._running.end)
            self._running = None
        state = files.weights.stat()
        if self._checked != (str(files.weights), state.st_mtime_ns, state.st_size):
            self._checked = await asyncio.to_thread(check_weights, files)
        for last in (False, False, True):
            running = launch(files, self.window)
            try:
                await ready(running, files)
            except ModelNotReachable as error:
                if running.unfit:
                    self._unfit = files.program
                # Somebody took the port between our look and the server's start.
                if last or "bind" not in error.message:
                    raise
                continue
            self._running = running
            return


class LocalProvider:
    """The provider `local`: our own server behind the wire that all speak."""

    def __init__(
        self, server: LocalServer, *, own: bool = False, shared: Shared | None = None
    ) -> None:
        self._server = server
        self._shared = shared or Shared()
        self._own = own
        self._inner: OpenAIProvider | None = None

    @property
    def name(self) -> str:
        """Return `local`."""
        return "local"

    @property
    def continues(self) -> bool:
        """Tell whether the server goes on with a last message of the assistant."""
        return CATALOG[self.name].dialect.prefill

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse a model that cannot be started. Raises ModelNotFound, ModelNotReachable."""
        self._server.check()
        self._check(model)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Start the server where it does not run, then send the request.

        One that crashes before the first word is started once more. Raises ProviderError.
        """
        self._check(request.model)
        begun, load = time.monotonic(), None
        for last in (False, True):
            async with aclosing(self._server.started()) as news:
                async for line in news:
                    yield line
                    load = 0.0
            load = None if load is None else time.monotonic() - begun
            inner, running = await self._speaking(request.model), self._server.running
            said = False
            try:
                async with aclosing(inner.stream(request)) as events:
                    async for event in events:
                        said = said or isinstance(event, _WORDS)
                        if not (last and isinstance(event, LeftOut)):  # it was told before
                            yield _with_load(event, load)
            except ProviderError as failure:
                if last or said or running is None or not await self._crashed(failure, running):
                    raise
            else:
                return

    async def _crashed(self, failure: ProviderError, asked: Running) -> bool:
        """Tell whether the server has crashed or fails without a word, and end it if so."""
        wordless = isinstance(failure, ServerFailed) and failure.wordless and failure.status == 500
        broken = isinstance(failure, ModelNotReachable | StreamBroken)
        if not wordless and not (broken and await self._server.crashed(asked)):
            return False
        await self._server.drop(asked)
        return True

    async def idle(self) -> bool:
        """Tell whether the server runs and has nothing to do. Raises ProviderError."""
        model = self._server.available()
        if model is None or not self._server.running:
            return False
        return await (await self._speaking(model)).idle()

    async def models(self) -> Sequence[ModelInfo]:
        """Return the model that a request would start; nothing is started for it."""
        ref = self._server.available()
        if ref is None:
            return ()
        return (ModelInfo(ref, self._server.window, loaded=self._server.running is not None),)

    async def tokenizer(
        self, model: ModelRef, image: Callable[[FilePart], int]
    ) -> LlamaTokenizer | None:
        """Return the running server's own tokenizer; none is started for it."""
        if not self._server.running:
            return None
        return await (await self._speaking(model)).tokenizer(model, image)

    async def close(self) -> None:
        """Close the connections, and the server where nobody else owns it."""
        await self._leave()
        if self._own:
            await self._server.close()

    def _check(self, model: ModelRef) -> None:
        ref = self._server.available()
        if ref is not None and ref.name != model.name:
            raise ModelNotFound(
                f"the local server has {ref.name!r}, not {model.name!r}",
                f"Take it: %chat use {ref}   or choose weights: %config JanMagics.gguf = 'PATH'",
                model=str(model),
            )

    async def _speaking(self, model: ModelRef) -> OpenAIProvider:
        """Return the connection to the running server, which has a new address after a crash."""
        if not (running := self._server.running):
            raise ModelNotReachable(f"{model} has just ended", "Run the cell again.")
        if self._inner is None or self._inner.address != running.address:
            await self._leave()
            dialect = CATALOG[self.name].dialect
            # A server that has crashed does not come back by itself.
            access = self._shared.access(running.address, Keys([running.key]), patient=False)
            self._inner = OpenAIProvider(self.name, running.address, access, dialect=dialect)
        return self._inner

    async def _leave(self) -> None:
        inner, self._inner = self._inner, None
        if inner:
            await inner.close()


def _with_load(event: StreamEvent, load: float | None) -> StreamEvent:
    """Return the end of an answer with the seconds that its server took to start."""
    if load is None or not isinstance(event, Finish):
        return event
    return replace(event, timings=replace(event.timings or Timings(), load=load))


def _plain(name: str) -> str:
    """Leave the quantisation out: people know the model by what stands before it."""
    return name.rsplit(".", 1)[0]
