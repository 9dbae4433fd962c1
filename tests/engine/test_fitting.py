"""Windows and counts by model: who tells, what is learned, and that it outlives the kernel."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.models import ChatRequest, ModelInfo, ModelRef, Usage
from jan_magics.engine.asking import Asking
from jan_magics.engine.outcome import Outcome
from tests.engine.opened import Model, Opened, opened

TEXT = "one two three four five six seven eight nine ten " * 8


def send(opened: Opened, text: str, **flags: Any) -> Outcome:
    return asyncio.run(opened.send(text, **flags))


class Server(Model):
    """A model behind a server that tells its window, and counts twice what an estimate says."""

    def __init__(self, window: int | None = None) -> None:
        super().__init__()
        self.window = window
        self.listed = 0
        self.refuses: int | None = None

    async def models(self) -> Sequence[ModelInfo]:
        self.listed += 1
        return (ModelInfo(ModelRef("double", "m"), self.window),)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(request)
        count = sum(len(str(message.parts)) for message in request.messages) // 2
        if self.refuses and count > self.refuses:
            raise ContextOverflow(count, self.refuses, model="double:m", status=400)
        yield TextDelta("yes")
        yield Finish("stop", Usage(input=count, output=1))


def test_the_server_tells_its_window_once(tmp_path: Path) -> None:
    server = Server(5000)
    session = opened(tmp_path, server)
    outcome = send(session, "hello")
    for _ in range(2):
        outcome = send(session, "hello")
    plan = outcome.turn.plan
    assert plan is not None
    assert (plan.budget.window, plan.budget.source, server.listed) == (5000, "the server", 1)


@pytest.mark.parametrize(
    ("model", "window", "source"),
    [
        ("double:gpt-4o", 128_000, "the catalogue"),
        ("double:nobody-knows", 8192, "nobody says it; set it with --window"),
    ],
)
def test_else_the_catalogue_else_a_guess_that_says_so(
    tmp_path: Path, model: str, window: int, source: str
) -> None:
    outcome = send(opened(tmp_path, Server()), "hello", model=model)
    plan = outcome.turn.plan
    assert plan is not None
    assert (plan.budget.window, plan.budget.source) == (window, source)


def test_counts_are_corrected_by_what_the_server_counted(tmp_path: Path) -> None:
    session = opened(tmp_path, Server(100_000))
    errors = []
    for turn in range(8):
        outcome = send(session, f"{turn} {TEXT}")
        counted, plan = outcome.turn.usage.input, outcome.turn.plan
        assert counted
        assert plan is not None
        errors.append(abs(plan.tokens - counted) / counted)
    assert errors[0] > 0.3
    assert max(errors[5:]) < 0.1
    # A new kernel reads it from the answers of the thread.
    again = opened(tmp_path, Server(100_000))
    again.session.sticky = session.session.sticky
    preview = asyncio.run(again.session.preview(Asking(f"9 {TEXT}", model="double:m")))
    assert "×" in preview.plan.measured.tokenizer.name


def test_a_window_is_learned_from_a_refusal(tmp_path: Path) -> None:
    server = Server()
    server.refuses = 700
    session = opened(tmp_path, server)
    send(session, TEXT)
    with pytest.raises(ContextOverflow):
        send(session, TEXT * 4)
    outcome = send(session, "short")
    plan = outcome.turn.plan
    assert plan is not None
    assert (plan.budget.window, plan.budget.source) == (700, "the server's refusal")
