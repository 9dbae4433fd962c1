"""`col.evaluate`: every odd value of every key, and questions that nobody can answer."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.api.search_values import RECIPE, SEARCH
from jan_magics.domain.errors import JanError, SettingError

TEXTS = {
    "panda.md": "# 熊猫\n\n熊猫吃竹子。 The panda eats bamboo all day.\n",
    "fox.md": "# Fox 🦊\n\nThe fox hunts mice in the forest at night.\n",
    "boat.txt": "Boats are made of wood, and they float on water.\n",
}
ASKED = pd.DataFrame(
    {
        "question": ["panda bamboo", "竹子", "fox forest"],
        "source": ["panda.md", "panda.md", "fox.md"],
    }
)


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[jan.Collection]:
    tmp_path = tmp_path_factory.mktemp("animals")
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "animals.db"
    with jan.Collection(path, data_folder=tmp_path / "data", embedder="hash") as made:
        made.add([tmp_path / name for name in TEXTS])
        yield made


@pytest.mark.parametrize("key", [*SEARCH, *RECIPE])
@pytest.mark.parametrize(
    "value",
    [
        None, "none", "", "x", "熊猫", 3, 0, -1, 0.5, 2.5, float("nan"), float("inf"), True, [],
        [[]], [None], ["none", 0.3], {}, {"source": "fox.md"}, [{"source": "fox.md"}], b"x",
        object(), np.int64(3), np.float64(0.3), np.array([1, 3]), pd.NA, pd.Series([1, 3]),
        range(1, 3), datetime(2026, 1, 1, tzinfo=UTC), "source ~ 'fox'", "source ~", "mmr",
        "hybrid", 64, "512c",
    ],
    ids=lambda value: "an object" if type(value) is object else repr(value)[:24],
)  # fmt: skip
def test_any_value_of_any_key_works_or_says_what_is_wrong(
    animals: jan.Collection, key: str, value: Any
) -> None:
    fault, report = None, pd.DataFrame()
    try:
        report = animals.evaluate(ASKED, grid={key: value})
    except JanError as refused:
        fault = refused
    assert fault.next_step if fault else key in report.columns
    assert fault or len(report) > 0


def test_a_value_by_itself_and_numbers_of_numpy_are_tried(animals: jan.Collection) -> None:
    assert animals.evaluate(ASKED, grid={"k": 3})["k"].tolist() == [3]
    assert animals.evaluate(ASKED, grid={"mode": "keyword"})["mode"].tolist() == ["keyword"]
    assert animals.evaluate(ASKED, grid={"k": np.array([1, 3])})["k"].tolist() == [1, 3]


def test_none_is_a_value_that_switches_off(animals: jan.Collection) -> None:
    report = animals.evaluate(ASKED, grid={"threshold": [0.99, "none", None]})
    assert report["threshold"].isna().tolist() == [False, True, True]
    assert report["recall"].tolist() == [0, 1, 1]
    assert animals.evaluate(ASKED, grid={"rerank": ["none", "mmr"]})["recall"].tolist() == [1, 1]


def test_all_of_a_grid_is_read_before_the_first_is_measured(animals: jan.Collection) -> None:
    for grid in ({"k": [1, 0]}, {"size": [64, "big"]}, {"rerank": ["none", "best"]}):
        with pytest.raises(JanError):
            animals.evaluate(pd.DataFrame(), grid=grid)  # the grid is at fault, not the questions
    with pytest.raises(SettingError, match="a search has no 'kk'"):
        animals.evaluate(ASKED, kk=3)


def test_questions_about_other_sources_are_left_out_and_said(animals: jan.Collection) -> None:
    asked = pd.concat([ASKED, pd.DataFrame({
        "question": ["whale", "鲸鱼", "fox forest"], "source": ["whale.md", "鲸.md", "old/fox.md"],
    })])  # fmt: skip
    report = animals.evaluate(asked)
    assert (report["n"].tolist(), report["recall"].tolist()) == ([3], [1])
    assert report.attrs["jan"]["notes"][:2] == [
        "2 questions answered only in sources that are not in the collection"
        " ('whale.md', '鲸.md'): not counted",
        "1 question answered also in sources that are not in the collection"
        " ('old/fox.md'): those answers are left out",
    ]
    rows = animals.evaluate(asked, per_question=True).set_index("question")
    assert rows["missed"]["鲸鱼"] == "鲸.md (not in the collection)"
    assert rows["recall"].isna()["whale"]
    assert rows["recall"]["fox forest"] == 1


def test_questions_that_are_all_about_other_sources_are_refused(animals: jan.Collection) -> None:
    asked = pd.DataFrame({"question": ["fox"], "source": ["elsewhere/fox.md"]})
    with pytest.raises(SettingError, match=r"no source 'elsewhere/fox\.md'") as refused:
        animals.evaluate(asked)
    assert "'boat.txt'" in refused.value.next_step


@pytest.mark.parametrize("value", ["a", "三", True, 1.5, float("inf"), [3]])
def test_a_place_that_is_no_number_names_its_row(animals: jan.Collection, value: object) -> None:
    asked = ASKED.assign(start=pd.Series([0, value, 0], dtype=object), end=9)
    with pytest.raises(SettingError, match="row 2 of the questions: start is ") as refused:
        animals.evaluate(asked)
    assert repr(value) in refused.value.message


def test_what_is_unknown_in_a_table_is_unknown(animals: jan.Collection) -> None:
    places = pd.Series([0, pd.NA, None], dtype="Int64")
    report = animals.evaluate(ASKED.assign(start=places, end=places + 9))
    assert report["recall"].tolist() == [1]
    with pytest.raises(SettingError, match="a Series has no columns"):
        animals.evaluate(ASKED["question"])
