"""The form of an answer: what names a schema, what is read of an answer, and one more request."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from jan_magics.domain.errors import SchemaUnmet, SettingError
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import AnswerSchema, Profile
from jan_magics.engine.forms import Misshapen, data_in, fields_of, is_held, read, schema_from
from jan_magics.engine.records import finish_of, steps_of
from jan_magics.engine.shaping import MENDED
from tests.engine.opened import Model, opened

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@dataclass
class Ticket:
    """A ticket.

    Args:
        urgency: 1 to 5
    """

    title: str
    urgency: int
    kind: Literal["bug", "wish"] = "bug"


class Place(TypedDict):
    name: str
    population: int | None


def made(value: object, **names: object) -> AnswerSchema:
    schema = schema_from(value, names)
    assert schema is not None
    return schema


def test_a_schema_is_text_a_dict_a_class_or_the_name_of_one() -> None:
    assert schema_from(None, {}) is None
    assert made('{"type": "object"}') == AnswerSchema("answer", {"type": "object"})
    assert made(CITY).body == CITY
    ticket = made("Ticket", Ticket=Ticket)
    assert ticket == made(Ticket)
    assert ticket.name == "Ticket"
    assert ticket.body["required"] == ["title", "urgency"]
    assert ticket.body["additionalProperties"] is False
    assert ticket.body["properties"]["urgency"]["description"] == "1 to 5"  # type: ignore[index, call-overload]
    assert list(fields_of(made(Place))) == ["name", "population"]
    assert made("地点", 地点='{"type": "object"}').name == "answer"


def test_a_pydantic_class_is_a_schema() -> None:
    pydantic = pytest.importorskip("pydantic")
    city = pydantic.create_model("City", name=(str, ...), tags=(list[str], []))
    schema = made("City", City=city)
    assert schema.name == "City"
    assert data_in('{"name": "東京", "tags": []}', schema) == {"name": "東京", "tags": []}
    assert data_in('{"name": 1}', schema) is None


WRONG: dict[str, tuple[object, str]] = {
    "a slip": ("Tickt", "no variable 'Tickt' for the schema; closest: 'Ticket'"),
    "no JSON": ("{'a': 1}", "the schema is no JSON"),
    "no schema": ({"type": "nope"}, "this is no JSON schema"),
    "a number": (7, "no schema can be made of 7"),
    "an object of a class without fields": (object(), "no schema can be made of"),
    "what is elsewhere": ({"$ref": "http://127.0.0.1:1/x"}, "'http://127.0.0.1:1/x'"),
    "what is no JSON in it": ({"type": "object", "default": {1, 2}}, "cannot be sent as JSON"),
}


@pytest.mark.parametrize("given", WRONG)
def test_what_is_no_schema_is_refused(given: str) -> None:
    value, why = WRONG[given]
    with pytest.raises(SettingError) as caught:
        schema_from(value, {"Ticket": Ticket})
    assert why in caught.value.message
    assert caught.value.next_step


def test_a_list_or_a_text_stands_in_an_object() -> None:
    schema = made(list[int])
    assert schema.wrapped
    assert read('{"value": [1, 2]}', schema) == [1, 2]
    assert fields_of(schema) == {}
    shared = {"$defs": {"N": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/N"}}
    assert data_in('{"value": [1]}', made(shared)) == [1]
    assert data_in('{"value": ["x"]}', made(shared)) is None


READ: dict[str, tuple[str, Any]] = {
    "all of it": ('{"city": "Köln"}', {"city": "Köln"}),
    "a block": (
        'Here it is:\n\n```json\n{"city": "北京 🏯"}\n```\nAnything else?',
        {"city": "北京 🏯"},
    ),
    "behind a sentence": ('Sure! {"city": "Oslo"}', {"city": "Oslo"}),
    "with a sentence behind": ('{"city": "Oslo"} is my answer', None),
    "no JSON": ("Oslo", None),
    "nothing": ("", None),
    "another type": ('{"city": 3}', None),
}


@pytest.mark.parametrize("given", READ)
def test_data_is_read_of_an_answer(given: str) -> None:
    text, data = READ[given]
    assert data_in(text, made(CITY)) == data


def test_what_is_wrong_names_its_place() -> None:
    with pytest.raises(Misshapen, match=r"^urgency: 'high' is not of type 'integer'$"):
        read('{"title": "x", "urgency": "high"}', made(Ticket))
    with pytest.raises(Misshapen, match="'city' is a required property"):
        read("{}", made(CITY))


def test_who_holds_an_answer_to_its_schema() -> None:
    schema = made(CITY)
    for schemas, tools, held in (
        ("never", [], False), ("alone", [], True), ("alone", ["f"], False),
        ("always", ["f"], True), ("always", ["answer"], False),
    ):  # fmt: skip
        profile = Profile("some", schemas=schemas)  # type: ignore[arg-type]
        assert is_held(schema, profile, iter(tools)) is held
    assert is_held(schema, Profile("some", tools=False, schemas="alone"), iter(["f"]))


def test_who_is_not_held_to_it_is_told_in_words(tmp_path: Path) -> None:
    here = opened(tmp_path, Model(*['{"city": "Köln"}'] * 2))
    outcome = asyncio.run(here.send("where?", schema=CITY))
    (sent,) = here.model.asked
    # The double is a server of which nothing is known, so it is asked for the schema itself.
    assert sent.schema == made(CITY)
    assert outcome.turn.schema == made(CITY)
    here.session.engine.learned.note(sent.model, "schema")
    asyncio.run(here.send("and where?", schema=CITY))
    assert here.model.asked[-1].schema is None
    said = text_of(here.model.asked[-1].messages[-1])
    assert '"properties"' in said
    assert said.endswith("and where?")
    assert "properties" not in text_of(here.messages()[-2]), "what is stored is what was asked"


def test_it_is_asked_once_more_with_what_is_wrong(tmp_path: Path) -> None:
    here = opened(tmp_path, Model('{"city": 3}', '{"city": "Köln"}'))
    outcome = asyncio.run(here.send("where?", schema=CITY))
    assert text_of(outcome.turn.answer) == '{"city": "Köln"}'
    first, second = here.model.asked
    assert second.messages[: len(first.messages)] == first.messages
    assert [each.role for each in second.messages[-2:]] == ["assistant", "user"]
    assert "city: 3 is not of type 'string'" in text_of(second.messages[-1])
    assert MENDED in outcome.lines
    assert steps_of(here.messages()[-1]) == 2
    assert [each.role for each in here.messages()] == ["user", "assistant"]


def test_what_is_wrong_twice_is_an_error_and_kept(tmp_path: Path) -> None:
    here = opened(tmp_path, Model("nope", "never"))
    with pytest.raises(SchemaUnmet, match="it is no JSON"):
        asyncio.run(here.send("where?", schema=CITY))
    kept = here.messages()[-1]
    assert (text_of(kept), finish_of(kept)) == ("never", "stop")
    assert len(here.model.asked) == 2


def test_an_unknown_schema_leaves_no_thread_behind(tmp_path: Path) -> None:
    here = opened(tmp_path, Model())
    with pytest.raises(SettingError):
        asyncio.run(here.send("where?", schema="Nowhere"))
    assert not here.session.engine.store.threads()
