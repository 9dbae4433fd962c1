"""What a picture shows is what its table says, and every name can be drawn."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.domain.errors import EmbedderError, SettingError
from tests.conftest import require

ROOT = Path(__file__).parents[1]
PAGES = pd.Series(
    [
        "熊猫吃竹子。 The panda eats bamboo all day.",
        "Foxes hunt mice in the forest.",
        "Boats are made of wood, not of bamboo.",
    ],
    index=["$熊猫$ 🎉", "_fox", "boat"], name="_page",
)  # fmt: skip
QUESTION = "Who eats bamboo? 熊猫 $x^$"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    require("plot", find_spec("matplotlib"), "matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    monkeypatch.setenv("JAN_EMBEDDER", "hash")
    found = jan.Collection("pages.db")
    found.add(PAGES)
    yield found
    import matplotlib.pyplot as plt

    plt.close("all")


def drawn(ax: Any) -> Any:
    """Draw it: a letter that no font has, or math that is none, would fail here."""
    ax.figure.canvas.draw()
    return ax


def names(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_bar_is_as_long_as_its_score(pages: jan.Collection) -> None:
    hits = pages.search(QUESTION, k=1, all=True)
    ax = drawn(jan.plot.scores(hits))
    score, vector, bm25 = ([bar.get_width() for bar in each] for each in ax.containers)
    assert vector == pytest.approx(hits.vector.tolist())
    assert score == pytest.approx((hits.score / hits.score.max()).tolist())
    assert bm25 == pytest.approx((hits.bm25.fillna(0) / hits.bm25.max()).tolist())
    assert [bool(bar.get_hatch()) for bar in ax.containers[0]] == [False, True, True]
    assert [name.endswith("dropped by k") for name in names(ax)] == [False, True, True]
    assert ax.yaxis_inverted(), "the best hit is at the top"


def test_every_name_can_be_drawn(pages: jan.Collection) -> None:
    ax = drawn(jan.plot.scores(pages.search(QUESTION)))
    title = ax.get_title(loc="left")
    assert "$x^$" in title
    assert "熊猫" in title or "□: no font here has this letter" in title
    assert any("$" in name for name in names(ax))
    found = legend(drawn(jan.plot.map(pages, QUESTION)))
    assert len(found) == len(PAGES) + 1, "a name with an underscore is in the legend too"


def test_axes_of_ones_own_are_drawn_into(pages: jan.Collection) -> None:
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    assert jan.plot.scores(pages.search("bamboo", mode="keyword"), ax=left) is left
    assert len(left.containers) == 2, "words alone have no vector"
    assert jan.plot.map(pages, "fox", ax=right) is right
    assert jan.plot.scores(pages.search("fox")).figure.patch.get_alpha() == 1


def test_recall_stands_in_bars_and_over_k_in_lines(pages: jan.Collection) -> None:
    questions = pd.DataFrame({
        "question": ["panda bamboo", "mice", "wood"], "source": [f"_page/{n}" for n in PAGES.index],
    })  # fmt: skip
    report = pages.evaluate(questions, grid={"mode": ["keyword", "hybrid"]})
    ax = drawn(jan.plot.recall(report))
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(report.recall.tolist())
    assert names(ax) == ["mode keyword", "mode hybrid"]
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "D"]
    assert marks == pytest.approx(report.ndcg.tolist())
    report = pages.evaluate(questions, grid={"mode": ["keyword", "hybrid"], "k": [3, 1]})
    ax = drawn(jan.plot.recall(report))
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 3], [1, 3]]
    assert legend(ax) == ["mode keyword", "mode hybrid"]
    single = pages.evaluate(questions, per_question=True)
    with pytest.raises(SettingError, match="single questions"):
        jan.plot.recall(single)


def test_a_map_puts_the_question_near_what_it_asks_for(pages: jan.Collection) -> None:
    ax = drawn(jan.plot.map(pages, "Foxes hunt mice in the forest."))
    *chunks, star = [np.asarray(each.get_offsets()).tolist() for each in ax.collections]
    assert sum(map(len, chunks)) == len(pages)
    fox = legend(ax).index(" _page/_fox")
    assert chunks[fox][0] == pytest.approx(star[0], abs=1e-6)
    again = jan.plot.map(pages, "Foxes hunt mice in the forest.")
    assert np.asarray(again.collections[-1].get_offsets()).tolist() == star


def test_a_map_without_vectors_says_what_to_install(
    pages: jan.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = jan.Collection("words.db", embedder="none")
    words.add(PAGES)
    with pytest.raises(EmbedderError, match="pip install"):
        jan.plot.map(words, "fox")


def test_a_budget_fills_the_window(pages: jan.Collection) -> None:
    with jan.Chat("x", model="offline:quote", window=4000) as chat:
        frame = chat.budget("熊猫?")
    ax = drawn(jan.plot.budget(frame))
    spent = frame[frame.tokens > 0]
    assert [bar.get_width() for bar in ax.patches] == spent.tokens.tolist()
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert [bar.get_x() for bar in ax.patches] == [0, *ends[:-1]]
    assert ends[-1] == 4000
    assert names(ax) == spent.piece.tolist()


@pytest.mark.parametrize("draw", ["scores", "recall", "budget"])
def test_another_table_is_refused(draw: str) -> None:
    for other in (pd.DataFrame({"a": [1]}), 3, None):
        with pytest.raises(SettingError, match="cannot be drawn so") as told:
            getattr(jan.plot, draw)(other)
        assert f"jan.plot.{draw}(" in str(told.value)


def test_hits_of_several_questions_are_refused(pages: jan.Collection) -> None:
    hits = pages.search(["fox", "bamboo"])
    with pytest.raises(SettingError, match="several questions"):
        jan.plot.scores(hits)
    drawn(jan.plot.scores(hits[hits.question == "fox"]))


def test_without_matplotlib_the_command_that_adds_it_is_named() -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import pandas as pd, jan_magics as jan\n"
        "jan.plot.scores(pd.DataFrame({'score': [1.0], 'source': ['a']}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "%pip install 'jan-magics[plot]'" in done.stderr


def test_nothing_is_loaded_before_something_is_drawn() -> None:
    program = "import sys, jan_magics; jan_magics.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"
