"""Many tools: those are offered that the question is about, and on a branch the set only grows."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from jan_magics.api.tools import tool
from jan_magics.domain.messages import Json
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.asking import Asking
from jan_magics.engine.records import offered_of
from jan_magics.engine.routing import MOST, Routed, by_words, chosen, is_much, words_of
from jan_magics.engine.tools import Tool
from tests.engine.calling import Calling, ask, call, results
from tests.engine.opened import Opened, opened


def route(tools: Sequence[Tool], text: str, kept: Collection[str], budget: int) -> Routed:
    return chosen(tools, by_words(tools, text), kept, budget)


SMALL = 2000
"""A window in which a few tools are too many."""


def made(name: str, description: str, **parameters: str) -> Tool:
    schema: dict[str, Json] = {
        key: {"type": "string", "description": text} for key, text in parameters.items()
    }
    spec = ToolSpec(name, description, {"type": "object", "properties": schema})
    return Tool(spec, lambda _: None, "mcp" if "__" in name else "function")


TOOLS = (
    made("get_weather", "Tell the weather of a city.", city="name of the city"),
    made("send_mail", "Send an electronic message to a person.", to="the address"),
    made("files__readFile", "Read a file from the disk.", path="where it is"),
    made("files__delete_files", "Delete files.", path="where they are"),
    made("calendar__events", "List appointments of a day.", day="the date"),
    made("查询天气", "查询城市的天气预报"),
)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("How is the weather in Paris?", "get_weather"),
        ("Please mail it to Li", "send_mail"),
        ("delete the file notes.txt", "files__delete_files"),
        ("Which appointments have I on Monday?", "calendar__events"),
        ("what events are there", "calendar__events"),
        ("北京天气怎么样？", "查询天气"),
        ("call send_mail", "send_mail"),
        ("WEATHER!", "get_weather"),
    ],
)
def test_the_words_of_the_question_choose(text: str, first: str) -> None:
    found = route(TOOLS, text, (), 400)
    names = [each.name for each in found.tools]
    assert first in names
    assert set(names) | set(found.left_out) == {each.name for each in TOOLS}
    assert found.left_out
    assert names == [each.name for each in TOOLS if each.name in names]  # in the order of all


@pytest.mark.parametrize("text", ["", "hello", "你好", "and what of it?", "🦊", "Danke schön"])
def test_where_no_word_fits_all_are_offered(text: str) -> None:
    assert route(TOOLS, text, (), 400).tools == TOOLS


def test_what_was_offered_on_the_branch_stays() -> None:
    found = route(TOOLS, "the weather", {"calendar__events"}, 400)
    assert {"calendar__events", "get_weather"} <= {each.name for each in found.tools}


def test_no_more_than_a_tenth_but_always_the_best() -> None:
    long = made("read_all", "Read " + "all of the files there are. " * 200)
    tools = (long, *(made(f"read_{n}", "Read a file.") for n in range(30)))
    few = route(tools, "read all files", (), 1000)
    assert [each.name for each in few.tools] == ["read_all"]
    assert len(route(tools, "read a file", (), 10**9).tools) == MOST


def test_when_tools_are_chosen() -> None:
    assert not is_much(TOOLS[:2], 10_000)
    assert is_much(TOOLS[:2], 100)
    assert not is_much(TOOLS[2:4], 10_000)  # one server
    assert is_much(TOOLS[2:5], 10_000)  # two


def test_names_are_cut_into_words() -> None:
    assert words_of("getWeather_v2 files__read-all") == ["weather", "v2", "files", "read", "all"]


def test_a_long_text_and_many_tools_take_no_time() -> None:
    tools = [made(f"s__tool_{n}", f"Do thing {n} of many.", what=f"word{n}") for n in range(1000)]
    text = "\n".join(f"thing number{n} etwas 东西{n}" for n in range(20_000))
    begun = time.process_time()  # a busy machine does not count
    route(tools, text, (), 10_000)
    assert time.process_time() - begun < 5


def functions() -> list[Callable[..., str]]:
    """Make a few functions whose schemas are too long for a small window."""

    @tool(safe=True)
    def get_weather(city: str) -> str:
        """Tell the weather of a city, with all that is known of wind, rain, sun and snow."""
        return f"21 in {city}"

    @tool(safe=True)
    def send_mail(to: str, text: str) -> str:
        """Send an electronic message to a person, with a text that may be of any length."""
        return to + text

    @tool(safe=True)
    def plan_trip(start: str, end: str) -> str:
        """Find trains between two stations, with the places at which one has to change."""
        return start + end

    return [get_weather, send_mail, plan_trip]


def offered(kernel: Opened) -> list[str]:
    return [spec.name for spec in kernel.model.asked[-1].tools]


def test_a_turn_offers_what_fits_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    model = Calling((call("get_weather", '{"city": "x"}'),), ("21",))
    kernel = opened(tmp_path, model)
    outcome = ask(kernel, "How is the weather?", tools=functions(), window=SMALL)
    assert [[spec.name for spec in each.tools] for each in model.asked] == [["get_weather"]] * 2
    assert results(outcome.turn.answer) == [("get_weather", "21 in x", "ok")]
    assert offered_of(kernel.messages()[-1]) == ("get_weather",)
    (note,) = [line for line in outcome.lines if "tools are offered" in line]
    assert note.startswith("1 of 3 tools are offered, by words of the prompt: get_weather")
    assert "left out: send_mail, plan_trip" in note
    assert "tool_router = 'off'" in note


def test_on_a_branch_the_set_grows_and_beside_it_begins_anew(tmp_path: Path) -> None:
    kernel, given = opened(tmp_path, Calling()), functions()
    first = ask(kernel, "How is the weather?", tools=given, window=SMALL)
    ask(kernel, "Find a train to the stations", tools=given, window=SMALL)
    assert offered(kernel) == ["get_weather", "plan_trip"]
    ask(kernel, "and then?", tools=given, window=SMALL)
    assert offered(kernel) == ["get_weather", "send_mail", "plan_trip"]  # no word fits
    ask(kernel, "the weather again", tools=given, window=SMALL)
    assert len(offered(kernel)) == 3  # what was offered stays
    ask(kernel, "mail it", tools=given, window=SMALL, at=first.turn.answer.id)
    assert offered(kernel) == ["get_weather", "send_mail"]
    ask(kernel, "mail it", tools=given, window=SMALL, history=False)
    assert offered(kernel) == ["send_mail"]


def test_off_and_a_large_window_offer_all(tmp_path: Path) -> None:
    kernel = opened(tmp_path / "off", Calling(), {"tool_router": "off"})
    ask(kernel, "How is the weather?", tools=functions(), window=SMALL)
    assert len(offered(kernel)) == 3
    kernel = opened(tmp_path / "large", Calling())
    ask(kernel, "How is the weather?", tools=functions(), window=100_000)
    assert len(offered(kernel)) == 3
    assert offered_of(kernel.messages()[-1]) == ()


def test_a_dry_run_shows_what_would_be_offered(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling())
    asking = Asking("the weather", model="double:m", tools=tuple(functions()), window=SMALL)
    preview = asyncio.run(kernel.session.preview(asking))
    assert [spec.name for spec in preview.request.tools] == ["get_weather"]
