"""An answer of a given form, from Python and in a cell, on a real connection."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.api.answer import Answer
from jan_magics.domain.errors import SchemaUnmet, SettingError
from tests.kernel import running_kernel
from tests.providers.loopback import Reply, chunked, http
from tests.providers.serving import serving_here


@dataclass
class City:
    name: str
    people: int


def saying(text: str) -> Reply:
    delta = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    return chunked(f"data: {json.dumps(delta)}\n\n".encode(), b"data: [DONE]\n\n")


def asked(body: bytes) -> str:
    text: str = json.loads(body)["messages"][-1]["content"]
    return text


def test_a_server_is_given_the_schema(tmp_path: Path) -> None:
    with (
        serving_here(saying('{"name": "Köln", "people": 1100000}')) as server,
        jan.Chat("t", model=f"{server.address}#m", data_folder=str(tmp_path)) as chat,
    ):
        answer = chat.send("Which city? 哪里？", schema=City, show=False)
        assert answer.data == {"name": "Köln", "people": 1100000}
        assert answer.sent["schema"]["required"] == ["name", "people"]
    (body,) = server.bodies[-1:]
    assert json.loads(body)["response_format"]["json_schema"]["strict"] is True
    assert asked(body) == "Which city? 哪里？"


def test_a_server_that_refuses_it_is_told_in_words_from_then_on(tmp_path: Path) -> None:
    no = http(
        b'{"error": {"message": "This response_format type is unavailable now"}}',
        status=400, kind="application/json",
    )  # fmt: skip
    good = saying('{"name": "Oslo", "people": 700000}')
    with (
        serving_here(no, good) as server,
        jan.Chat("t", model=f"{server.address}#m", data_folder=str(tmp_path)) as chat,
    ):
        assert chat.send("Which?", schema=City, show=False).data["name"] == "Oslo"
        assert chat.send("And?", schema=City, show=False).data["name"] == "Oslo"
    forms = ["response_format" in json.loads(body) for body in server.bodies if body]
    assert forms == [True, False, False]
    assert all('"people"' in asked(body) for body in server.bodies[-2:])


def test_an_answer_of_another_form_is_kept_beside_the_error(tmp_path: Path) -> None:
    with jan.Chat("t", model="offline:echo", data_folder=str(tmp_path)) as chat:
        with pytest.raises(SchemaUnmet) as caught:
            chat.send("no JSON", schema=City, show=False)
        assert isinstance(caught.value.answer, Answer)
        assert caught.value.answer.data is None
        assert len(chat.messages()) == 2
        with pytest.raises(SettingError, match="schema is about one turn"):
            chat.use(schema=City)


def test_a_cell_names_a_class_or_writes_json(tmp_path: Path) -> None:
    with running_kernel(tmp_path, JAN_MODEL="offline:quote") as kernel:
        kernel.ok("%load_ext jan_magics\nfrom typing import Literal, TypedDict")
        kernel.ok("class Film(TypedDict):\n    mood: Literal['good', 'bad']\n    stars: int")
        kernel.ok("%%chat --schema Film -o film\nA bad film, 2 stars. 很差 🎬")
        assert kernel.ok("film.data").result == "{'mood': 'bad', 'stars': 2}"
        schema = '{"type": "object", "properties": {"n": {"type": "integer"}}}'
        kernel.ok(f"%%chat --schema {schema} -o counted\nThere are 7.")
        assert kernel.ok("counted.data").result == "{'n': 7}"
        ran = kernel.run("%%chat --schema Fim\nhi")
        assert ran.error is not None
        assert "closest: 'Film'" in "\n".join(ran.error[2])
        ran = kernel.run("%%chat -m offline:echo --schema Film -o kept\nhi")
        assert ran.error is not None
        assert ran.error[0] == "SchemaUnmet"
        assert kernel.ok("kept.data is None").result == "True"
