"""A provider without a model or network: it quotes or repeats. The default when there is no model.

It is also the tests' double: pace, delay, failures and whole scripts can be set.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from jan_magics.domain.errors import ModelNotFound, ProviderError, ServerFailed, SettingError
from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.messages import FinishReason, Json, text_of
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelInfo, ModelRef, Timings, Usage
from jan_magics.providers.filling import fill
from jan_magics.providers.quoting import pieces, quote

When: TypeAlias = Literal["before", "in", "after"]
_MOMENTS: Final[tuple[When, ...]] = ("before", "in", "after")
NAMES: Final = ("quote", "echo")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How it answers: seconds a token, seconds before the first, tokens a chunk, failure, script.

    `script` holds the events of each request in turn, without Finish where the answer shall break
    off; once it is used up, answers are made again. `error` is raised `fail` the stream.
    `continues`: a last message of the assistant is repeated and gone on with, as llama-server does.
    """

    pace: float = 0.0
    delay: float = 0.0
    chunk: int = 1
    fail: When | None = None
    error: ProviderError | None = None
    script: tuple[tuple[StreamEvent, ...], ...] = ()
    continues: bool = True


class OfflineProvider:
    """Answer from the request itself, always the same way."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self._behaviour = behaviour or Behaviour()
        self._asked = 0

    @property
    def name(self) -> str:
        """Return `offline`."""
        return "offline"

    @property
    def continues(self) -> bool:
        """Tell whether a last message of the assistant is gone on with."""
        return self._behaviour.continues

    def check(self, model: ModelRef, options: ChatOptions) -> None:
        """Refuse another name than the two, and moments and paces that are none.

        Raises:
            ModelNotFound, SettingError.
        """
        _chosen(self._behaviour, options)
        if model.name not in NAMES and self._asked >= len(self._behaviour.script):
            raise ModelNotFound(
                f"offline has no {model.name!r}",
                "It has offline:quote and offline:echo: %chat use offline:quote",
                model=str(model),
            )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the answer word by word; `pace`, `delay` and `fail` may come as parameters.

        Raises:
            ModelNotFound: for a name that is neither `quote` nor `echo`.
            ProviderError: where a failure was asked for.
        """
        self.check(request.model, request.options)
        behaviour = _chosen(self._behaviour, request.options)
        events = self._events(request, behaviour)
        await asyncio.sleep(behaviour.delay)
        _fail("before", behaviour, request.model)
        for number, event in enumerate(events):
            if number == (len(events) + 1) // 2:
                _fail("in", behaviour, request.model)
            if number and behaviour.pace:
                await asyncio.sleep(behaviour.pace * behaviour.chunk)
            if isinstance(event, Finish):
                _fail("after", behaviour, request.model)
            yield event

    async def idle(self) -> bool:
        """Return True: it never has anything to do."""
        return True

    async def models(self) -> Sequence[ModelInfo]:
        """List the two, the default one first."""
        return tuple(ModelInfo(ModelRef(self.name, name), loaded=True) for name in NAMES)

    async def close(self) -> None:
        """Do nothing: nothing was opened."""

    def _events(self, request: ChatRequest, behaviour: Behaviour) -> Sequence[StreamEvent]:
        asked, self._asked = self._asked, self._asked + 1
        if asked < len(behaviour.script):
            return behaviour.script[asked]
        return _answer(request, behaviour)


def _answer(request: ChatRequest, behaviour: Behaviour) -> Sequence[StreamEvent]:
    said = [text_of(message) for message in request.messages]
    prompt = next(
        (text_of(message) for message in reversed(request.messages) if message.role == "user"), ""
    )
    seed = request.options.seed or 0
    goes_on = behaviour.continues and request.messages[-1].role == "assistant"
    begun = said[-1] if goes_on else ""
    sources = said[:-1] if goes_on else said  # else it would quote what it goes on with
    text = _said(request, prompt, sources, seed)
    words = pieces(text.removeprefix(begun))
    limit = request.options.max_tokens or len(words)
    reason: FinishReason = "length" if limit < len(words) else "stop"
    words = words[:limit]
    read = sum(len(pieces(source)) for source in (request.system, *said))
    step = max(1, behaviour.chunk)
    deltas = [
        TextDelta("".join(words[start : start + step])) for start in range(0, len(words), step)
    ]
    if begun:
        deltas.insert(0, TextDelta(begun))
    rate = 1 / behaviour.pace if behaviour.pace else None
    usage = Usage(input=read, output=len(words), cached=0)
    return [*deltas, Finish(reason, usage, Timings(tokens_per_second=rate))]


def _said(request: ChatRequest, prompt: str, sources: Sequence[str], seed: int) -> str:
    if request.model.name == "echo":
        return prompt
    if request.schema:
        return fill(request.schema.body, prompt)
    return quote(prompt, (request.system, *sources), seed=seed)


def _chosen(behaviour: Behaviour, options: ChatOptions) -> Behaviour:
    given = options.parameters
    fail = given.get("fail", behaviour.fail)
    moment = next((when for when in _MOMENTS if when == fail), None)
    if fail is not None and moment is None:
        raise SettingError(f"fail={fail!r} is no moment", "Write before, in or after.")
    return Behaviour(
        pace=_seconds("pace", given.get("pace", behaviour.pace)),
        delay=_seconds("delay", given.get("delay", behaviour.delay)),
        chunk=behaviour.chunk,
        fail=moment,
        error=behaviour.error,
        script=behaviour.script,
        continues=behaviour.continues,
    )


def _seconds(name: str, value: Json) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) else -1.0
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise SettingError(f"{name}={value!r} is no number of seconds", f"Write: -P {name}=0.05")
    return seconds


def _fail(now: When, behaviour: Behaviour, model: ModelRef) -> None:
    if behaviour.fail == now:
        raise behaviour.error or ServerFailed(
            f"{model} fails {now} the stream, as it was asked to",
            "Leave the parameter out: -P fail=…",
            model=str(model),
        )
