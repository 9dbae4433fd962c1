"""A model as a column: order, failures, going on, limits, and what a template is."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.domain.errors import ModelNotReachable, SettingError
from tests.api.answering import Said, answering

FRAME = pd.DataFrame(
    {"title": ["a", "北京 🏯", None, "{{ title }}"], "a b": [1.0, 2.5, float("nan"), 4.0]},
    index=["w", "x", "y", "z"],
)
NEW = ["answer", "error", "finish", "input_tokens", "output_tokens", "seconds", "message"]


@contextmanager
def chatting(folder: Path, model: str = "offline:echo", **more: Any) -> Iterator[jan.Chat]:
    with jan.Chat("t", model=model, data_folder=str(folder), **more) as chat:
        yield chat


def config(address: str, more: str = "") -> str:
    folder = Path(os.environ["JAN_CONFIG_FOLDER"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f'[providers.mine]\naddress = "{address}"\n{more}\n')
    return "mine:m"


def test_a_row_is_looked_up_and_nothing_is_evaluated(tmp_path: Path) -> None:
    with chatting(tmp_path) as chat:
        chat.send("before", show=False)
        table = chat.map(FRAME, 'T={{row.title}} N={{ row["a b"] }} \\{{row}} {{ 1 + 1 }} {{x}}')
        assert list(table.columns) == ["title", "a b", *NEW]
        assert table.index.tolist() == FRAME.index.tolist()
        rest = "{{row}} {{ 1 + 1 }} {{x}}"
        assert table.answer.tolist() == [
            f"T=a N=1.0 {rest}", f"T=北京 🏯 N=2.5 {rest}", f"T= N= {rest}",
            f"T={{{{ title }}}} N=4.0 {rest}",
        ]  # fmt: skip
        assert table.finish.tolist() == ["stop"] * 4
        assert table.error.isna().all()
        assert table.answer.dtype == "string"
        # The head has not moved, and the rows stand below it.
        assert len(chat.messages(all=True)) == 2
        assert FRAME.columns.tolist() == ["title", "a b"], "what was given stays as it was"


def test_rows_are_siblings_from_the_same_prefix(tmp_path: Path) -> None:
    with answering() as server, chatting(tmp_path, f"{server.address}#m") as chat:
        chat.send("You know cities.", show=False)
        chat.map(["Köln", "Oslo"], "Where is {{row}}?")
    prefix = [each["content"] for each in server.bodies[0]["messages"]]
    for body in server.bodies[1:]:
        assert [each["content"] for each in body["messages"]][:2] == [*prefix, "yes"]
        assert len(body["messages"]) == 3


SOURCES: dict[str, tuple[Any, list[str]]] = {
    "a series": (pd.Series(["x", "y"], name="word"), ["word"]),
    "texts": (["x", "y"], ["row"]),
    "dicts": ([{"k": "x"}, {"k": "y", "more": 1}], ["k", "more"]),
    "a generator": (({"k": each} for each in "xy"), ["k"]),
    "an array": (pd.Series(["x", "y"]).to_numpy(), ["row"]),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_what_has_rows_is_a_table(tmp_path: Path, kind: str) -> None:
    data, columns = SOURCES[kind]
    with chatting(tmp_path) as chat:
        template = "{{row}}" if columns in (["word"], ["row"]) else "{{row.k}}"
        table = chat.map(data, template)
    assert list(table.columns) == [*columns, *NEW]
    assert table.answer.tolist() == ["x", "y"]


def test_an_empty_table_asks_nobody(tmp_path: Path) -> None:
    with chatting(tmp_path, "http://127.0.0.1:9/v1#m") as chat:
        table = chat.map(FRAME.head(0), "{{row.title}}", schema='{"properties": {"n": {}}}')
        assert list(table.columns) == ["title", "a b", "answer", "n", *NEW[1:]]
        assert len(table) == 0
        assert len(chat.map([], "{{row}}")) == 0


WRONG: dict[str, tuple[Any, str, dict[str, Any], str]] = {
    "a slip": (FRAME, "{{row.titel}}", {}, "no column 'titel' in the table; closest: 'title'"),
    "nothing of a row": (FRAME, "what?", {}, "names nothing of a row"),
    "no table": (7, "{{row}}", {}, "int is no table of rows"),
    "a text": ("abc", "{{row}}", {}, "str is no table of rows"),
    "a dict": ({"a": [1]}, "{{row}}", {}, "dict is no table of rows"),
    "mixed rows": (["a", {"k": 1}], "{{row}}", {}, "some rows are dicts"),
    "a column that is there": (
        FRAME.rename(columns={"title": "answer"}), "{{row.answer}}", {}, "column 'answer' already",
    ),
    "a field that every map has": (
        FRAME, "{{row.title}}", {"schema": '{"properties": {"error": {}}}'}, "a field 'error'",
    ),
    "a column twice": (
        pd.DataFrame([[1, 2]], columns=["a", "a"]), "{{row.a}}", {}, "two columns are called 'a'",
    ),
    "no concurrency": (FRAME, "{{row.title}}", {"concurrency": 0}, "concurrency is 0"),
    "no cost": (FRAME, "{{row.title}}", {"max_cost": -1}, "max_cost is -1"),
    "no price": (FRAME, "{{row.title}}", {"max_cost": 1}, "what offline:echo costs is not known"),
    "no prompt in any row": ([None, ""], "{{row}}", {}, "no row has a prompt"),
}  # fmt: skip


@pytest.mark.parametrize("given", WRONG)
def test_what_cannot_be_is_refused_before_anybody_is_asked(tmp_path: Path, given: str) -> None:
    data, template, more, why = WRONG[given]
    with chatting(tmp_path) as chat:
        with pytest.raises(SettingError) as caught:
            chat.map(data, template, **more)
        assert why in caught.value.message
        assert caught.value.next_step


def test_a_column_that_is_there_is_left_to_a_prefix(tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"title": "answer"})
    with chatting(tmp_path) as chat:
        with pytest.raises(SettingError) as caught:
            chat.map(frame, "{{row.answer}}!")
        assert "--prefix" in caught.value.next_step
        table = chat.map(frame, "{{row.answer}}!", prefix="m_")
        assert list(table.columns) == ["answer", "a b", *(f"m_{name}" for name in NEW)]
        with pytest.raises(SettingError) as caught:
            chat.map(table, "{{row.answer}}!", prefix="m_")
        assert "prefix='m_2_'" in caught.value.next_step, "what was just tried is no way out"


def test_a_failing_row_is_a_row(tmp_path: Path) -> None:
    def say(prompt: str) -> Said:
        return Said("no such thing", 422) if "Oslo" in prompt else Said(prompt.upper())

    with answering(say) as server, chatting(tmp_path, f"{server.address}#m") as chat:
        table = chat.map(["Köln", "Oslo", None, "北京"], "in {{row}}")
        assert table.answer.tolist()[::3] == ["IN KÖLN", "IN 北京"]
        assert table.error.notna().tolist() == [False, True, False, False]
        assert "no such thing" in table.error.iloc[1]
        assert table.answer.iloc[2] == "IN ", "an unknown value is no text"
        asked = len(server.prompts)
        again = chat.map(["Köln", "Oslo", None, "北京"], "in {{row}}")
        assert server.prompts[asked:] == ["in Oslo"], "only what failed is asked again"
        assert again.message.fillna("").tolist() == table.message.fillna("").tolist()
        chat.map(["Köln", "北京"], "in {{row}}", again=True)
        assert sorted(server.prompts[asked + 1 :]) == ["in Köln", "in 北京"]


def test_answers_are_known_by_prompt_model_parameters_and_form(tmp_path: Path) -> None:
    with answering(Said('{"n": 1}')) as server, chatting(tmp_path, f"{server.address}#m") as chat:

        def asked(**more: Any) -> int:
            before = len(server.prompts)
            chat.map(["a", "b"], "x {{row}}", **more)
            return len(server.prompts) - before

        assert asked() == 2
        assert asked() == 0
        assert asked(schema='{"properties": {"n": {"type": "integer"}}}') == 2
        assert asked(schema='{"properties": {"n": {"type": "integer"}}}') == 0
        chat.use(temperature=0.5)
        assert asked() == 2
        chat.use(system="Be brief. {{current_date}}")
        assert asked() == 2
        chat.send("something else", show=False)
        assert asked() == 0, "what was said meanwhile does not make a table cost twice"
        chat.use(model=f"{server.address}#other")
        assert asked() == 2


def test_rows_that_ask_the_same_have_an_answer_each(tmp_path: Path) -> None:
    numbers = iter(range(100))
    with (
        answering(lambda _: Said(f"n{next(numbers)}")) as server,
        chatting(tmp_path, f"{server.address}#m") as chat,
    ):
        first = chat.map(["a", "a", "a"], "x {{row}}")
        assert sorted(first.answer) == ["n0", "n1", "n2"]
        assert sorted(chat.map(["a"] * 4, "x {{row}}").answer) == ["n0", "n1", "n2", "n3"]
        newest = chat.map(["a"], "x {{row}}", again=True).answer.tolist()
        assert chat.map(["a"], "x {{row}}").answer.tolist() == newest == ["n4"]


def test_rows_are_known_after_a_restart_in_both_stores(tmp_path: Path) -> None:
    for store in ("sqlite", "jsonl"):
        with answering() as server:
            for _ in range(2):
                with chatting(tmp_path / store, f"{server.address}#m", store=store) as chat:
                    assert chat.map(list("abc"), "{{row}}").answer.tolist() == ["yes"] * 3
            assert len(server.prompts) == 3


CITY = '{"properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}'


def test_the_fields_of_a_schema_are_typed_columns(tmp_path: Path) -> None:
    def say(prompt: str) -> Said:
        if "bad" in prompt or "form" in prompt:
            return Said("no JSON")
        return Said('{"city": "Köln 🏰", "n": 3}' if "both" in prompt else '{"n": 4}')

    with answering(say) as server, chatting(tmp_path, f"{server.address}#m") as chat:
        table = chat.map(["both", "one", "bad"], "{{row}}", schema=CITY)
        assert list(table.columns) == ["row", "answer", "city", "n", *NEW[1:]]
        assert table.n.dtype == "Int64"
        assert table.city.fillna("?").tolist() == ["Köln 🏰", "?", "?"]
        assert table.n.fillna(-1).tolist() == [3, 4, -1]
        assert table.answer.iloc[2] == "no JSON", "it is kept"
        assert "it is no JSON" in table.error.iloc[2]
        asked = len(server.prompts)
        chat.map(["both", "one", "bad"], "{{row}}", schema=CITY)
        assert len(server.prompts) == asked + 2, "what is not of the form is asked again"


def test_many_requests_slow_all_rows_down(tmp_path: Path) -> None:
    refused: list[float] = []

    def say(prompt: str) -> Said:
        if prompt == "2" and not refused:
            refused.append(time.perf_counter())
            return Said("slow down", 429, after=0.6)
        return Said(prompt)

    with answering(say) as server:
        model = config(server.address)
        with chatting(tmp_path, model) as chat:
            table = chat.map([str(n) for n in range(12)], "{{row}}")
    assert table.answer.tolist() == [str(n) for n in range(12)]
    pause = [each for each in server.times if refused[0] + 0.02 < each < refused[0] + 0.55]
    assert not pause, "nobody was asked while the server wanted to be left alone"
    assert len(server.prompts) == 13


def test_what_it_may_cost_is_never_exceeded(tmp_path: Path) -> None:
    prices = "prices = {input = 0.0, output = 1000000.0}"  # a unit for each token of an answer
    with answering(Said("ok", usage=(5, 2))) as server:
        model = config(server.address, prices)
        with chatting(tmp_path, model) as chat:
            chat.use(max_tokens=3)
            table = chat.map(list("abcdefgh"), "{{row}}", max_cost=10)
            # Four rows cost 8, and the fifth might cost 3 more.
            assert table.answer.notna().sum() == 4
            assert table.error.dropna().str.startswith("not asked: the limit is 10, 8 is").all()
            assert len(server.prompts) == 4
            table = chat.map(list("abcdefgh"), "{{row}}", max_cost=100)
            assert table.answer.notna().all()
            assert len(server.prompts) == 8, "what was paid is not paid twice"
            assert chat.map(["z"], "{{row}}", max_cost=0).answer.isna().all()


def test_an_answer_gets_a_bound_where_the_cost_is_limited(tmp_path: Path) -> None:
    prices = "prices = {input = 0.0, output = 1000000.0}"
    with answering(Said('"好"', usage=(5, 2048))) as server:
        model = config(server.address, prices)
        with chatting(tmp_path, model) as chat:
            table = chat.map(list("abcd"), "{{row}}", max_cost=5000)
            assert table.answer.notna().sum() == 2
            assert "(less with --max-tokens)" in table.error.dropna().iloc[0]
            assert [body["max_tokens"] for body in server.bodies] == [2048, 2048]
            # What is asked for once more is reserved as well.
            text = {"type": "string"}
            formed = chat.map(["x"], "{{row}}", max_cost=3000, schema=text)
            assert formed.answer.isna().all()
            assert len(server.prompts) == 2
            chat.map(list("ab"), "{{row}}")
    assert len(server.prompts) == 2, "an answer that was given within a bound is known without one"


def test_who_is_not_there_is_not_asked_for_every_row(tmp_path: Path) -> None:
    with chatting(tmp_path, "http://127.0.0.1:9/v1#m") as chat:
        began = time.perf_counter()
        with pytest.raises(ModelNotReachable):
            chat.map([str(n) for n in range(500)], "{{row}}")
        assert time.perf_counter() - began < 30


def test_a_server_of_this_machine_is_sent_one_row_at_a_time(tmp_path: Path) -> None:
    with answering(Said(seconds=0.1)) as server, chatting(tmp_path, f"{server.address}#m") as chat:
        table = chat.map([str(n) for n in range(6)], "{{row}}", concurrency=4)
        assert server.most == 1
        assert max(table.seconds) < 0.25, "how long others took is no time of a row"
        chat.map([str(n) for n in range(6)], "again {{row}}", concurrency=3)
        assert server.most == 3, "so many were asked for"
