"""The steps of a turn: every call is answered, whatever happens, and the turn ends."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from jan_magics.api.tools import tool
from jan_magics.context.counting import count_message, count_system, count_tools
from jan_magics.domain.errors import SettingError
from jan_magics.domain.events import ReasoningDelta, ToolCallDelta
from jan_magics.domain.messages import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from jan_magics.domain.models import Usage
from jan_magics.engine.records import estimated_of
from tests.engine.calling import Calling, ask, call, calls, results
from tests.engine.opened import opened


@tool(safe=True)
def get_weather(city: str, unit: str = "C") -> str:
    """Tell the weather of a city."""
    return f"21 °{unit} in {city}"


def risky(x: int = 0) -> int:
    """Do something that a person must approve."""
    return x + 1


def failing() -> None:
    raise LookupError("no such 城市")


def test_a_call_is_run_sent_back_and_stored(tmp_path: Path) -> None:
    model = Calling(
        (ReasoningDelta("hm"), "Let me look.", ToolCallDelta(0, "c1", "get_weather", '{"city": ')
         , ToolCallDelta(0, arguments='"巴黎"}')),
        ("It is 21 °C.",),
    )  # fmt: skip
    kernel = opened(tmp_path, model)
    outcome = ask(kernel, "weather?", tools=(get_weather,))
    answer = kernel.messages()[-1]
    assert answer == outcome.turn.answer
    assert answer.parts == (
        ReasoningPart("hm"),
        TextPart("Let me look."),
        ToolCallPart("c1", "get_weather", '{"city": "巴黎"}'),
        ToolResultPart("c1", "get_weather", "21 °C in 巴黎"),
        TextPart("It is 21 °C."),
    )
    first, second = model.asked
    assert [spec.name for spec in first.tools] == [spec.name for spec in second.tools]
    assert second.messages[:-1] == first.messages
    # What was thought is not sent again.
    said, call, result = second.messages[-1].parts
    assert said == answer.parts[1]
    # Some templates want ids of nine letters; call and result keep the same one.
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (call.call_id, call.arguments) == (result.call_id, '{"city": "巴黎"}')
    assert result.output == "21 °C in 巴黎"
    assert (outcome.turn.finish, outcome.turn.steps) == ("stop", 2)
    assert outcome.turn.usage == Usage(input=20, output=4)
    assert estimated_of(answer) is None  # the tokens of two requests teach nothing of one


def test_the_plan_counts_what_is_sent_at_every_step(tmp_path: Path) -> None:
    model = Calling((call("get_weather", '{"city": "a"}'),), ("then", call("get_weather")))
    kernel = opened(tmp_path, model)
    plan = ask(kernel, "weather?", tools=(get_weather,), system="be brief").turn.plan
    assert plan is not None
    sent, tokenizer = model.asked[-1], plan.measured.tokenizer
    counted = (
        sum(count_message(message, tokenizer) for message in sent.messages)
        + count_tools(sent.tools, tokenizer)
        + count_system(sent.system, tokenizer)
    )
    assert plan.tokens == counted
    assert plan.costs.tools == count_tools(sent.tools, tokenizer) > 0


def test_the_next_turn_sees_what_was_called(tmp_path: Path) -> None:
    model = Calling((call("get_weather", '{"city": "x"}'),))
    kernel = opened(tmp_path, model)
    ask(kernel, tools=(get_weather,))
    outcome = ask(kernel, "and now?")
    assert model.asked[-1].tools == ()
    assert calls(model.asked[-1].messages[1]) == ["get_weather"]
    assert outcome.turn.plan is not None
    assert outcome.turn.plan.trimmed == 0


def test_what_only_reads_runs_together_and_the_rest_in_order(tmp_path: Path) -> None:
    met, order = threading.Barrier(2, timeout=10), list[str]()

    @tool(safe=True)
    def meets(name: str) -> str:
        met.wait()  # neither returns before both run
        return name

    @tool(approval="auto")
    def follows(name: str) -> None:
        time.sleep(0.02 if name == "c" else 0)
        order.append(name)

    step = (
        call("follows", '{"name": "c"}', index=0),
        call("meets", '{"name": "a"}', index=1),
        call("follows", '{"name": "d"}', index=2),
        call("meets", '{"name": "b"}', index=3),
    )
    outcome = ask(opened(tmp_path, Calling(step)), tools=(meets, follows))
    assert order == ["c", "d"]
    # In the order of the calls, whichever came first.
    assert [output for _, output, _ in results(outcome.turn.answer)] == [None, "a", None, "b"]


@pytest.mark.parametrize(
    ("event", "output", "state"),
    [
        (call("failing"), "LookupError: no such 城市", "error"),
        (call("nothing"), "there is no tool 'nothing'; there are: failing, get_weather", "error"),
        (call("get_weather", "{"), "the arguments are no JSON object: '{'", "error"),
        (call("get_weather", '{"town": 1}'), "no parameter 'town'; there are: city, unit", "error"),
        (call("get_weather", "{}"), "the parameter 'city' is missing", "error"),
        (call("get_weather", '{"city": 3}'), "city: 3 is not text", "error"),
        (call("get_weather", '{"city": "C:\\new"}'), "21 °C in C:\\new", "ok"),
    ],
    ids=["raises", "unknown", "no JSON", "no parameter", "missing", "type", "path"],
)
def test_every_call_is_answered(
    tmp_path: Path, event: ToolCallDelta, output: str, state: str
) -> None:
    model = Calling((event,), ("sorry",))
    outcome = ask(opened(tmp_path, model), tools=(failing, get_weather), yes=True)
    assert results(outcome.turn.answer) == [(event.name, output, state)]
    assert outcome.turn.answer.parts[-1] == TextPart("sorry")


def test_results_of_any_kind_become_json_or_text(tmp_path: Path) -> None:
    @tool(safe=True)
    def make(n: int) -> object:
        made: list[object] = [None, {"a": (1, 2.5)}, {3}, float("nan"), Path("x"), b"\xff", object]
        return made[n]

    step = tuple(call("make", f'{{"n": {n}}}', index=n) for n in range(7))
    outputs = [
        o for _, o, _ in results(ask(opened(tmp_path, Calling(step)), tools=(make,)).turn.answer)
    ]
    assert outputs == [None, {"a": [1, 2.5]}, [3], "nan", "x", "b'\\xff'", "<class 'object'>"]


def test_an_async_function_is_awaited(tmp_path: Path) -> None:
    @tool(safe=True)
    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x + 1

    outcome = ask(opened(tmp_path, Calling((call("later", '{"x": 1}'),))), tools=(later,))
    assert results(outcome.turn.answer) == [("later", 2, "ok")]


def test_steps_have_a_limit_and_the_answer_can_go_on(tmp_path: Path) -> None:
    steps = [(call("risky", f'{{"x": {n}}}'),) for n in range(5)]
    model = Calling(*steps)
    kernel = opened(tmp_path, model)
    outcome = ask(kernel, tools=(risky,), yes=True, max_steps=3)
    assert (outcome.turn.finish, outcome.turn.steps, len(model.asked)) == ("max_steps", 3, 3)
    assert len(results(outcome.turn.answer)) == 3
    assert "no final answer" in outcome.flags
    assert "ended after 3 steps, as --max-steps says · go on: %chat resume" in outcome.lines
    resumed = ask(kernel, "", aim="resume", tools=(risky,), yes=True)
    assert resumed.turn.finish == "stop"
    assert len(results(resumed.turn.answer)) == 5
    assert resumed.turn.answer.parts[-1] == TextPart("done")


def test_eight_steps_unless_it_is_said(tmp_path: Path) -> None:
    model = Calling(*[(call("risky", f'{{"x": {n}}}'),) for n in range(20)])
    outcome = ask(opened(tmp_path, model), tools=(risky,), yes=True)
    assert (outcome.turn.finish, len(model.asked)) == ("max_steps", 8)


def test_the_third_identical_call_with_the_same_result_ends_the_turn(tmp_path: Path) -> None:
    written = ('{"city": "x", "unit": "C"}', '{"unit":"C","city":"x"}', '{ "city": "x","unit":"C"}')
    model = Calling(*[(call("get_weather", each),) for each in written])
    outcome = ask(opened(tmp_path, model), tools=(get_weather,))
    assert (outcome.turn.finish, len(model.asked)) == ("tools", 3)
    assert any("get_weather was called 3 times" in line for line in outcome.lines)


def test_the_same_call_with_other_results_goes_on(tmp_path: Path) -> None:
    numbers = iter(range(9))

    @tool(safe=True)
    def next_number() -> int:
        return next(numbers)

    model = Calling(*[(call("next_number"),)] * 4)
    outcome = ask(opened(tmp_path, model), tools=(next_number,))
    assert outcome.turn.finish == "stop"


def test_calls_have_ids_of_their_own(tmp_path: Path) -> None:
    """Some servers give none, and some count from 0 again at every step."""
    steps = ((ToolCallDelta(0, "", "risky", "{}"), ToolCallDelta(1, "", "risky", '{"x": 1}')),
             (call("risky", '{"x": 2}'),), (call("risky", '{"x": 3}'),))  # fmt: skip
    outcome = ask(opened(tmp_path, Calling(*steps)), tools=(risky,), yes=True)
    parts = outcome.turn.answer.parts
    ids = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 4
    assert all(ids)
    assert ids == [part.call_id for part in parts if isinstance(part, ToolResultPart)]


def test_two_tools_of_one_name_both_stay(tmp_path: Path) -> None:
    first = get_weather

    @tool(name="get_weather", safe=True)
    def other(city: str) -> str:
        return f"rain in {city}"

    model = Calling((call("get_weather_2", '{"city": "x"}'),))
    outcome = ask(opened(tmp_path, model), tools=(first, other))
    assert [spec.name for spec in model.asked[0].tools] == ["get_weather", "get_weather_2"]
    assert results(outcome.turn.answer)[0][1] == "rain in x"
    assert "two tools are called get_weather: the later one is get_weather_2" in outcome.lines


@pytest.mark.parametrize("wanted", ["get_wether", 3, int])
def test_what_is_no_tool_is_refused_before_anything_is_stored(tmp_path: Path, wanted: Any) -> None:
    kernel = opened(tmp_path, Calling())
    with pytest.raises(SettingError):
        ask(kernel, tools=(wanted,))
    assert kernel.session.current() is None


def test_reasoning_of_a_step_stays_with_it(tmp_path: Path) -> None:
    model = Calling((ReasoningDelta("a"), call("risky")), (ReasoningDelta("b"), "done"))
    outcome = ask(opened(tmp_path, model), tools=(risky,), yes=True)
    kinds = [type(part).__name__.removesuffix("Part") for part in outcome.turn.answer.parts]
    assert kinds == ["Reasoning", "ToolCall", "ToolResult", "Reasoning", "Text"]


def test_the_same_tools_are_part_of_the_question(tmp_path: Path) -> None:
    model = Calling(("one",), ("two",), ("three",))
    kernel = opened(tmp_path, model)
    ask(kernel, "q", tools=(risky,))
    stored = ask(kernel, "q", aim="retry", tools=(risky,))
    assert stored.turn.answer.parts == (TextPart("two"),)
    answers = [message for message in kernel.messages() if message.role == "assistant"]
    asked = [message.metadata["jan_magics"] for message in answers]
    digests = {each["asked"] for each in asked if isinstance(each, dict)}
    assert len(digests) == 1
    ask(kernel, "q", aim="retry", tools=())
    last = kernel.messages()[-1].metadata["jan_magics"]
    assert isinstance(last, dict)
    assert last["asked"] not in digests
