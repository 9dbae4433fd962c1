"""Long results: cut in the middle, read on page by page, and every character can be had."""

import json
from pathlib import Path

import pytest

from jan_magics.api.tools import tool
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.errors import ContextOverflow
from jan_magics.domain.events import ToolCallDelta
from jan_magics.domain.messages import Json
from jan_magics.engine.arguments import Misfit
from jan_magics.engine.paging import MOST, LongResults, budget
from jan_magics.engine.tools import Ran
from tests.engine.calling import Calling, ask, call, results
from tests.engine.opened import opened

COUNT = CharsTokenizer().count
TEXTS = {
    "lines": "\n".join(f"line {n}" for n in range(3000)),
    "chinese": "数据分析与可视化。" * 2000,
    "emoji": "🦊👩‍🔬" * 1500,
}


def test_a_short_result_stays_as_it_is() -> None:
    ran = Ran({"a": [1, None]})
    assert LongResults().cut(ran, 100, COUNT) is ran


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("tokens", [100, 800])
def test_a_long_result_is_cut_in_the_middle(text: str, tokens: int) -> None:
    long = LongResults()
    cut = long.cut(Ran(text, "error"), tokens, COUNT)
    assert isinstance(cut.output, str)
    assert COUNT(cut.output) <= tokens
    assert cut.state == "error"
    assert cut.output[:20] == text[:20]
    assert cut.output[-5:] == text[-5:]
    assert 'read on: read_result(result="r1", start=' in cut.output


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_all_of_it_can_be_read(text: str) -> None:
    long = LongResults()
    long.cut(Ran(text), 200, COUNT)
    reader = long.tool(200, COUNT)
    read, end, pages = "", "", 0
    while len(read) < len(text):
        page = reader.call({"result": "r1", "start": len(read)})
        assert isinstance(page, str)
        assert COUNT(page) <= 200
        said, _, end = page.rpartition("\n[")
        read += said
        pages += 1
        assert pages < 1000
    assert read == text
    assert end.endswith("the end]")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"result": "r9", "start": 0}, "no result 'r9' is kept; there are: r1"),
        ({"result": "r1", "start": 99999}, "start is 99999, but r1 has"),
        ({"result": "r1", "start": -1}, "start is -1"),
        ({"result": "r1", "start": "x"}, "start: 'x' is not a whole number"),
        ({}, "no result None is kept"),
    ],
)
def test_a_wrong_page_says_what_there_is(given: dict[str, Json], said: str) -> None:
    long = LongResults()
    long.cut(Ran("x" * 5000), 100, COUNT)
    with pytest.raises(Misfit, match=said):
        long.tool(100, COUNT).call(given)


def test_only_the_newest_are_kept() -> None:
    long = LongResults()
    for _ in range(MOST + 5):
        long.cut(Ran("x" * 5000), 100, COUNT)
    assert len(long.kept) == MOST
    assert "r1" not in long.kept


@pytest.mark.parametrize(("window", "tokens"), [(8192, 819), (400, 64), (None, 20_000)])
def test_a_result_may_fill_a_tenth_of_the_window(window: int | None, tokens: int) -> None:
    assert budget(window) == tokens


@tool(safe=True)
def read_all() -> str:
    return TEXTS["lines"]


def test_a_model_reads_on(tmp_path: Path) -> None:
    more = json.dumps({"result": "r1", "start": 500})
    model = Calling((call("read_all"),), (ToolCallDelta(0, "d", "read_result", more),))
    outcome = ask(opened(tmp_path, model), tools=(read_all,), window=4000)
    first, second, third = model.asked
    assert [spec.name for spec in first.tools] == ["read_all"]
    # Ours come first, and stay.
    assert (
        [spec.name for spec in second.tools]
        == ["read_result", "read_all"]
        == [spec.name for spec in third.tools]
    )
    (_, cut, _), (_, page, state) = results(outcome.turn.answer)
    assert (state, "characters left out" in str(cut)) == ("ok", True)
    assert TEXTS["lines"][500:600] in str(page)
    plan = outcome.turn.plan
    assert plan is not None
    assert plan.tokens <= plan.budget.input


def test_results_that_fill_the_window_together_are_an_overflow_with_numbers(tmp_path: Path) -> None:
    """What was called and answered stays, and can be looked at."""
    step = tuple(call("read_all", index=n) for n in range(12))
    kernel = opened(tmp_path, Calling(step))
    with pytest.raises(ContextOverflow):
        ask(kernel, tools=(read_all,), window=2000)
    assert len(results(kernel.messages()[-1])) == 12
