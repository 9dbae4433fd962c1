"""Many tools are chosen by the embedder of this machine, or by the model; else all are offered."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jan_magics.domain.errors import EmbedderError, NotRecorded, ServerFailed
from jan_magics.domain.protocols import Embedder
from jan_magics.engine.asking import Asking
from jan_magics.engine.deck import Deck
from jan_magics.engine.embedding import Embedders
from jan_magics.engine.judging_tools import Router, near
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.records import offered_of
from jan_magics.engine.routing import MOST, by_words, chosen
from jan_magics.engine.settings import Settings, Source
from jan_magics.engine.tools import Tool
from jan_magics.rag.comparing import cosines, scripts_of
from tests.conftest import require
from tests.engine.calling import Calling, ask, call, results
from tests.engine.many_tools import CHINESE, SAID, TOOLS
from tests.engine.opened import Opened, opened
from tests.rag.embedding import Broken, Counting

WINDOW = 6000
"""A window in which sixty tools are too many."""


def router(folder: Path, embedder: Embedder | None, **more: Any) -> Router:
    kernel = opened(folder, Calling())
    return Router(kernel.session.engine, "embedder", lambda: embedder, **more)


def names(tools: Sequence[Tool], made: Router, text: str, kept: Sequence[str] = ()) -> list[str]:
    judged = near(made, tools, text, by_words(tools, text).scores or ())
    return [each.name for each in chosen(tools, judged, kept, 10_000).tools]


@pytest.fixture(scope="module")
def static() -> Embedder:
    require("embedders", find_spec("wordllama"), "static is not installed")
    found = Embedders(lambda: Settings((), {})).chosen("static")
    assert found is not None
    return found


def test_there_are_many() -> None:
    assert len(TOOLS) >= 60
    assert len(CHINESE) >= 30


@pytest.mark.parametrize(("text", "wanted"), list(SAID.items()))
def test_what_is_meant_is_found_in_other_words(
    tmp_path: Path, static: Embedder, text: str, wanted: str
) -> None:
    found = names(TOOLS, router(tmp_path, static), text)
    assert wanted in found
    assert len(found) == MOST


def test_more_is_found_than_by_words_alone(tmp_path: Path, static: Embedder) -> None:
    made = router(tmp_path, static)
    by_word = sum(max(scores) > 0 and scores[n] == max(scores) for n, scores in _judged_words())
    assert sum(names(TOOLS, made, text).count(wanted) for text, wanted in SAID.items()) > by_word


def _judged_words() -> list[tuple[int, Sequence[float]]]:
    order = [tool.name for tool in TOOLS]
    return [
        (order.index(wanted), by_words(TOOLS, text).scores or ()) for text, wanted in SAID.items()
    ]


def test_a_name_that_is_said_counts_most(tmp_path: Path) -> None:
    assert "lock_door" in names(TOOLS, router(tmp_path, Counting()), "call lock_door, please")


def test_a_description_is_embedded_once_and_again_when_it_changes(tmp_path: Path) -> None:
    embedder, vectors = Counting(), dict[str, Any]()
    made = router(tmp_path, embedder, vectors=vectors)
    for text in ("rain", "snow"):
        names(TOOLS, made, text)
    assert len(embedder.seen) == len(TOOLS) + 2
    changed = (*TOOLS[:-1], Tool(TOOLS[0].spec, print))
    names((*changed, *TOOLS[-1:]), made, "rain")
    assert len(embedder.seen) == len(TOOLS) + 3


def test_what_no_script_joins_is_not_compared(tmp_path: Path) -> None:
    english = [tool for tool in TOOLS if tool.name.isascii()]
    made = router(tmp_path, Counting())
    assert len(names(english, made, "明天会下雨吗")) == len(english)  # nobody can say
    assert not {*CHINESE} & {*names(TOOLS, made, "will it rain?")}
    assert scripts_of("Привет, 世界 ひらがな 3 🦊") == {"CYRILLIC", "CJK"}


def test_vectors_that_are_none_are_far(tmp_path: Path) -> None:
    broken = Broken(np.full((2, 4), np.nan, np.float32))
    assert cosines(broken, ["a", "b"], "a") == [0.0, 0.0]
    assert cosines(broken, [], "a") == []


def test_where_the_embedder_fails_all_are_offered(tmp_path: Path) -> None:
    def failing() -> Embedder:
        raise EmbedderError("it is broken", "Mend it")

    made = Router(opened(tmp_path, Calling()).session.engine, "embedder", failing)
    judged = near(made, TOOLS, "rain", [0.0] * len(TOOLS))
    assert judged.scores is None
    assert judged.note == "the embedder could not choose tools: it is broken"
    assert "no embedder is installed" in near(router(tmp_path / "none", None), TOOLS, "x", ()).note


def test_nothing_is_loaded_before_many_tools_are_offered() -> None:
    code = (
        "import sys, jan_magics.engine.session, jan_magics.engine.routing\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'splintr', 'wordllama')))"
    )
    folder = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=folder, check=False).returncode == 0


# --------------------------------------------------------------------------------- in a turn


def functions() -> list[Any]:
    """Make the sixty tools as functions, as a notebook has them."""

    def made(name: str, description: str) -> Any:
        def function(text: str = "") -> str:
            return f"{name}: {text}"

        function.__name__, function.__doc__ = name, description
        return function

    return [
        made(tool.name if tool.name.isascii() else f"tool_{n}", tool.spec.description)
        for n, tool in enumerate(TOOLS)
    ]


def asked(kernel: Opened, text: str, **more: Any) -> Outcome:
    return ask(kernel, text, tools=functions(), window=WINDOW, yes=True, **more)


def told(outcome: Outcome, words: str) -> str:
    return next((line for line in outcome.lines if words in line), "")


@pytest.mark.usefixtures("static")
def test_a_turn_uses_the_embedder_where_the_setting_says_so(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling(), {"tool_router": "embedder"})
    embedders = Embedders(lambda: Settings((), {}))
    kernel.session.retriever = lambda: SimpleNamespace(embedders=embedders)  # type: ignore[assignment]
    outcome = asked(kernel, "Do I need an umbrella today?")
    sent = [spec.name for spec in kernel.model.asked[-1].tools]
    assert "get_weather" in sent
    assert len(sent) <= MOST
    line = told(outcome, "tools are offered")
    assert line.startswith(f"{len(sent)} of {len(TOOLS)} tools are offered, by words and vectors")
    assert "left out: " in line
    asked(kernel, "我饿了，去哪里吃晚饭")
    more = [spec.name for spec in kernel.model.asked[-1].tools]
    assert {*sent} < {*more}  # on a branch it only grows
    assert "查找附近吃饭的地方" in [spec.description for spec in kernel.model.asked[-1].tools]


def test_without_an_embedder_all_are_offered_and_it_is_said(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling(), {"tool_router": "embedder"})
    outcome = asked(kernel, "Do I need an umbrella today?")
    assert len(kernel.model.asked[-1].tools) == len(TOOLS)
    assert told(outcome, "no embedder is installed").endswith(f"all {len(TOOLS)} are offered")


CHOOSE = {"tool_router": "model"}


def test_the_model_chooses(tmp_path: Path) -> None:
    said = "get_weather\n- `book_hotel`\nnot_a_tool"
    kernel = opened(tmp_path, Calling((said,), (call("get_weather"),), ("fine",)), CHOOSE)
    outcome = asked(kernel, "Do I need an umbrella today?")
    first, second, third = kernel.model.asked
    assert first.tools == ()
    assert "Do I need an umbrella" in str(first.messages)
    assert "查找附近吃饭的地方" in str(first.messages)
    assert first.options.think is False
    assert [spec.name for spec in second.tools] == ["get_weather", "book_hotel"]
    assert second.tools == third.tools
    assert results(outcome.turn.answer) == [("get_weather", "get_weather: ", "ok")]
    assert offered_of(kernel.messages()[-1]) == ("get_weather", "book_hotel")
    line = told(outcome, "tools are offered")
    assert "as double:m chose (10 → 2 tokens): get_weather, book_hotel" in line
    assert len(kernel.messages()) == 2  # what was asked for the choice is no turn


def test_on_a_branch_what_the_model_chose_stays(tmp_path: Path) -> None:
    steps = [("get_weather",), ("fine",), ("send_mail",), ("fine",)]
    kernel = opened(tmp_path, Calling(*steps), CHOOSE)
    asked(kernel, "umbrella?")
    asked(kernel, "tell Anna")
    assert [spec.name for spec in kernel.model.asked[-1].tools] == ["get_weather", "send_mail"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (("none",), "double:m named no tool"),
        (("I would say: perhaps the weather one 🌤",), "double:m named no tool"),
        ((ServerFailed("it fell over", "Wait"),), "could not choose tools: it fell over"),
        (("get_weather", ServerFailed("it fell over", "Wait")), "it fell over"),
    ],
)
def test_where_the_model_fails_all_are_offered(
    tmp_path: Path, step: tuple[Any, ...], words: str
) -> None:
    kernel = opened(tmp_path, Calling(step, ("fine",)), CHOOSE)
    outcome = asked(kernel, "umbrella?")
    assert len(kernel.model.asked[-1].tools) == len(TOOLS)
    assert told(outcome, words).endswith(f"all {len(TOOLS)} are offered")
    asked(kernel, "and now?")  # all stay, so nobody is asked again
    assert len(kernel.model.asked) == 3


def test_a_request_that_a_cassette_does_not_have_is_an_error(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling((NotRecorded("notes.jsonl"),)), CHOOSE)
    with pytest.raises(NotRecorded):
        asked(kernel, "umbrella?")


def test_a_look_asks_nobody(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling(), CHOOSE)
    asking = Asking("umbrella?", model="double:m", tools=tuple(functions()), window=WINDOW)
    preview = asyncio.run(kernel.session.preview(asking))
    assert len(preview.request.tools) == len(TOOLS)
    assert kernel.model.asked == []


def test_a_list_that_is_too_long_is_not_sent(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling(("fine",)), CHOOSE)
    text = "Do I need an umbrella? " * 60
    outcome = ask(kernel, text, tools=functions()[:8], window=1500, yes=True)
    assert len(kernel.model.asked) == 1
    assert told(outcome, "the list of tools is too long for double:m")


def test_sixty_tools_take_no_time(tmp_path: Path, static: Embedder) -> None:
    made = router(tmp_path, static, vectors={})
    names(TOOLS, made, "warm up")
    begun = time.perf_counter()
    for text in SAID:
        names(TOOLS, made, text)
    assert time.perf_counter() - begun < 1


def test_a_setting_that_names_a_server_chooses_tools_on_this_machine() -> None:
    require("embedders", find_spec("wordllama"), "static is not installed")
    settings = Settings((Source("here", {"embedder": "openai:text-embedding-3-small"}),), {})
    found = Embedders(lambda: settings, Deck()).packaged()
    assert found is not None
    assert found.fingerprint.id == "static"
