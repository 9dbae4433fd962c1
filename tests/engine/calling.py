"""A model that calls tools as it is told to, and a desk with somebody behind it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jan_magics.domain.events import Finish, StreamEvent, TextDelta, ToolCallDelta
from jan_magics.domain.messages import Message, ToolCallPart, ToolResultPart
from jan_magics.domain.models import ChatRequest, Usage
from jan_magics.engine.asking import Asking
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.tools import Verdict
from tests.engine.opened import Model, Opened

T = TypeVar("T")


def call(name: str, arguments: str = "{}", *, index: int = 0, key: str = "c") -> ToolCallDelta:
    return ToolCallDelta(index, f"{key}{index}", name, arguments)


class Calling(Model):
    """Sends the events of each step in turn, then says "done"; an exception is raised."""

    def __init__(self, *steps: tuple[StreamEvent | str | Exception, ...]) -> None:
        super().__init__()
        self.steps = list(steps)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(request)
        step = self.steps.pop(0) if self.steps else ("done",)
        for event in step:
            await asyncio.sleep(0)
            if isinstance(event, Exception):
                raise event
            yield TextDelta(event) if isinstance(event, str) else event
        called = any(isinstance(event, ToolCallDelta) for event in step)
        yield Finish("tools" if called else "stop", Usage(input=10, output=2))


@dataclass
class Person:
    """Sits at the main thread and says what it was told to say."""

    says: list[Verdict] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    main: bool = True

    async def run(self, work: Callable[[], T]) -> T:
        return work()

    def ask(self, name: str, arguments: str) -> Verdict:
        self.asked.append((name, arguments))
        return self.says.pop(0)

    def start(self, name: str, command: str) -> Verdict:
        return self.ask(name, command)


def ask(kernel: Opened, text: str = "go", desk: Any = None, **flags: Any) -> Outcome:
    asking = Asking(text, model="double:m", **flags)

    async def go() -> Outcome:
        return await kernel.session.send(asking, lambda _: None, lambda _: None, desk)

    return asyncio.run(go())


def results(message: Message) -> list[tuple[str, object, str]]:
    """The results of an answer: name, output, state."""
    return [
        (part.name, part.output, part.state)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]


def calls(message: Message) -> list[str]:
    return [part.name for part in message.parts if isinstance(part, ToolCallPart)]
