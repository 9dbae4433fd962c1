"""Tools where the window is nearly full: a compaction comes first, and holds for every step."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from jan_magics.context.counting import count_message, count_system, count_tools
from jan_magics.domain.events import Finish, StreamEvent, TextDelta, ToolCallDelta
from jan_magics.domain.messages import Message
from jan_magics.domain.models import ChatRequest
from tests.engine.calling import calls
from tests.engine.compacted import Summarising, compacting, is_summary, question, sent
from tests.engine.threads import Kernel


def look_up(word: str = "") -> str:
    """Look a word up."""
    return f"{word} means something"


@dataclass
class CallsOnce(Summarising):
    """Calls a function whenever the question before was not answered yet."""

    calling: bool = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        if self.calling and not is_summary(request) and request.messages[-1].role == "user":
            self.calling = False
            self.asked.append(request)
            yield ToolCallDelta(0, "c", "look_up", '{"word": "tea"}')
            yield Finish("tools")
            return
        if request.messages[-1].role == "user":
            async for event in super().stream(request):
                yield event
            return
        self.asked.append(request)
        yield TextDelta("done")
        yield Finish("stop")


def spoken(messages: tuple[Message, ...]) -> list[object]:
    return [(message.role, message.parts) for message in messages]


def test_what_was_compacted_stays_so_in_the_next_step(kernel: Kernel) -> None:
    talk = compacting(kernel.folder, kernel.store)
    talk.model = CallsOnce()
    talk.open()
    talk.model.answer = "word " * 68
    talk.chat(1, 5)
    talk.model.calling = True
    outcome = talk.ask(question(6), tools=(look_up,), yes=True)
    assert len(talk.model.summaries) == 1
    first, second = talk.model.asked[-2:]
    assert second.system == first.system
    assert "The user plans an experiment" in second.system
    # The prefix of the first request is that of the second, whichever marks cleaning left.
    assert spoken(second.messages)[: len(first.messages)] == spoken(first.messages)
    assert calls(second.messages[-1]) == ["look_up"]
    plan = outcome.turn.plan
    assert plan is not None
    tokenizer = plan.measured.tokenizer
    counted = (
        sum(count_message(message, tokenizer) for message in second.messages)
        + count_system(second.system, tokenizer)
        + count_tools(second.tools, tokenizer)
    )
    assert plan.tokens == counted <= plan.budget.input
    assert sent(second)[0] == sent(first)[0]
