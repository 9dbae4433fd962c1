"""Windows and counts by model: who tells, what is learned, and that it outlives the kernel."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.domain.messages import TextPart, ToolCallPart, text_of
from jan_magics.domain.models import (
    ANTHROPIC,
    STRICT_OPENAI,
    ChatRequest,
    ModelInfo,
    ModelRef,
    Profile,
    ToolSpec,
    Usage,
)
from jan_magics.engine.asking import Asking
from jan_magics.engine.fitting import Fit
from jan_magics.engine.outcome import Outcome
from jan_magics.sanitize.validate import validate
from tests.engine.opened import Model, Opened, opened
from tests.sanitize.saying import answer, call, result, user

LOOK = ToolSpec("look", "Look.", {"type": "object", "properties": {}})

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


def test_a_request_that_a_server_refuses_is_sent_once_more_within_its_window(
    tmp_path: Path,
) -> None:
    """Nothing was answered yet, and by now it is known what the server takes."""
    server = Server()
    server.refuses = 700
    session = opened(tmp_path, server)
    outcome = send(session, TEXT)
    while len(server.asked) < 10 and not (outcome.turn.plan and outcome.turn.plan.trimmed):
        outcome = send(session, TEXT)
    sent = len(server.asked)
    assert text_of(outcome.turn.answer) == "yes"
    assert len(server.asked[-1].messages) < len(server.asked[-2].messages)
    assert any("sent once more within its window" in line for line in outcome.lines)
    assert outcome.turn.steps == 1
    # It is known to the next turn, which is not refused.
    plan = send(session, "short").turn.plan
    assert plan is not None
    assert (plan.budget.window, plan.budget.source) == (700, "the server's refusal")
    assert len(server.asked) == sent + 1


@pytest.mark.parametrize("overflow", ["trim", "error"])
def test_what_does_not_fit_a_window_that_was_learned_says_so(tmp_path: Path, overflow: str) -> None:
    server = Server()
    server.refuses = 700
    session = opened(tmp_path, server)
    for _ in range(1 if overflow == "trim" else 3):
        send(session, TEXT)
    sent = len(server.asked)
    with pytest.raises(ContextOverflow) as caught:
        send(session, TEXT * 4 if overflow == "trim" else TEXT, overflow=overflow)
    assert caught.value.planned == 700
    wanted = "Shorten the prompt (" if overflow == "trim" else "Ask with --overflow trim"
    assert caught.value.next_step.startswith(wanted)
    assert len(server.asked) == sent + 1
    plan = send(session, "short").turn.plan
    assert plan is not None
    assert (plan.budget.window, plan.budget.source) == (700, "the server's refusal")


@pytest.mark.parametrize(
    ("profile", "tools", "told"),
    [(ANTHROPIC, (), True), (ANTHROPIC, (LOOK,), False), (STRICT_OPENAI, (), False)],
)
def test_earlier_calls_are_told_where_no_tools_are_offered_and_the_wire_wants_some(
    profile: Profile, tools: tuple[ToolSpec, ...], told: bool
) -> None:
    asked = answer(call("1", '{"at": "北京"}'), result("1", "21°"), "21°")
    path = (user("how warm?"), asked, user("sure?", identifier="v"))
    plan = asyncio.run(Fit(profile=profile).plan(path, "", tools))
    parts = [part for message in plan.messages for part in message.parts]
    assert any(isinstance(part, ToolCallPart) for part in parts) is not told
    assert (TextPart('[look({"at": "北京"}) returned: 21°]') in parts) is told
    assert validate(plan.messages, replace(profile, tools=False)) == () or not told
