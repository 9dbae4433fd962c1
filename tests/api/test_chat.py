"""`jan.Chat` from a script and inside a running event loop."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import jan_magics as jan
from jan_magics.api.asking import asking_of
from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.engine.asking import Asking


def test_a_script_asks_and_gets_an_answer() -> None:
    with jan.Chat(model="offline:echo") as chat:
        answer = chat.send("hello")
        assert (str(answer), answer.model, answer.finish) == ("hello", "offline:echo", "stop")
        assert answer.version == answer.versions == 1
        assert answer.sent["messages"] == [
            {"role": "user", "text": "hello", "from": chat.messages().id.iloc[0]}
        ]


def test_a_thread_is_found_again_by_its_name() -> None:
    with jan.Chat("notes", model="offline:echo") as chat:
        chat.send("first")
    with jan.Chat("notes") as chat:
        assert chat.send("second").model == "offline:echo"  # it was named for this thread
        assert list(chat.messages().role) == ["user", "assistant"] * 2


def test_stream_yields_pieces_and_has_the_answer_afterwards() -> None:
    with jan.Chat(model="offline:echo") as chat:
        stream = chat.stream("one two three four", pace=0.05)
        pieces = list(stream)
        assert "".join(pieces) == "one two three four"
        assert len(pieces) > 1
        assert stream.answer.text == "one two three four"


def test_leaving_a_stream_stops_the_turn_and_keeps_the_words() -> None:
    with jan.Chat(model="offline:echo") as chat:
        for _ in chat.stream("one two three four five six", pace=0.1):
            break
        messages = chat.messages()
        assert list(messages.role) == ["user", "assistant"]
        assert "one two three four five six".startswith(messages.text.iloc[1])


def test_it_works_inside_a_running_loop() -> None:
    async def main() -> str:
        with jan.Chat(model="offline:echo") as chat:
            return chat.send("hello").text

    assert asyncio.run(main()) == "hello"


def test_turns_and_threads_are_tables() -> None:
    with jan.Chat("notes", model="offline:echo") as chat:
        chat.send("hello")
        turns = chat.turns()
        assert list(turns["prompt"]) == ["hello"]
        assert isinstance(turns["created_at"].dtype, pd.DatetimeTZDtype)
        assert turns["cost"].isna().all()
    threads = jan.threads()
    assert list(threads["title"]) == ["notes"]
    assert threads["messages"].iloc[0] == 2


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
def test_both_stores_serve(store: str, tmp_path: Path) -> None:
    with jan.Chat("a/b", model="offline:echo", store=store, data_folder=str(tmp_path)) as chat:
        chat.send("hello 中文")
    with jan.Chat("a/b", store=store, data_folder=str(tmp_path)) as chat:
        assert list(chat.messages().text) == ["hello 中文"] * 2


def test_a_key_never_leaves_the_object() -> None:
    with jan.Chat(model="openai:gpt-4", api_key="sk-very-secret-key-0123456789") as chat:
        assert "secret" not in repr(chat)
        assert "secret" not in repr(vars(chat))
    with jan.Chat(model="offline:echo") as chat, pytest.raises(KeyRefused):
        chat.send("hi", api_key="sk-very-secret")


@pytest.mark.parametrize("text", ["", "  \n", None, 3])
def test_a_prompt_must_say_something(text: object) -> None:
    with jan.Chat(model="offline:echo") as chat, pytest.raises(SettingError):
        chat.send(text)  # type: ignore[call-overload]


def test_answers_know_their_code_tables_and_data() -> None:
    text = (
        'a\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```json\n{"k": [1]}\n```'
    )
    with jan.Chat(model="offline:echo") as chat:
        answer = chat.send(text)
    assert answer.code == 'x = 1\n\n{"k": [1]}'
    assert answer.data == {"k": [1]}
    assert answer.tables[0].to_dict("list") == {"a": ["1"], "b": ["2"]}


def test_a_table_keeps_the_cells_beyond_its_header() -> None:
    with jan.Chat(model="offline:echo") as chat:
        table = chat.send("|a|b|\n|-|-|\n|1|2|EXTRA|4|").tables[0]
    assert table.to_dict("list") == {
        "a": ["1"], "b": ["2"], "column 3": ["EXTRA"], "column 4": ["4"]
    }  # fmt: skip


def test_a_plain_script_ends_by_itself(tmp_path: Path) -> None:
    script = "import jan_magics as jan\nprint(jan.current().send('Is it over?').text)"
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Is it over?" in done.stdout
    assert done.stderr == ""


def test_public_names_are_all_there() -> None:
    assert sorted(jan.__all__) == jan.__all__
    for name in jan.__all__:
        assert getattr(jan, name).__doc__
    with pytest.raises(AttributeError):
        jan.nothing  # noqa: B018


def test_a_seed_and_a_patience_stick_too() -> None:
    with jan.Chat(model="offline:quote") as chat:
        chat.use(seed=3, timeout=7)
        options = chat._host.preview(Asking("hello")).request.options
        assert (options.seed, options.timeout) == (3, 7)
        assert chat._host.preview(asking_of("hello", {"seed": 4})).request.options.seed == 4
