"""The surface is frozen: columns and functions are those that were promised, word for word."""

import inspect

import pytest

import jan_magics as jan
from jan_magics.api.answer import Answer
from jan_magics.frames import COLUMNS

TABLES = {
    "threads": "thread title notebook messages branches tokens model updated_at",
    "messages": "id role text version versions on_path status tokens parent cell created_at",
    "turns": "turn model prompt answer input_tokens output_tokens cached_tokens first_token_s "
    "seconds tokens_per_s finish sources cost created_at",
    "models": "model provider window capabilities source reachable chosen why",
    "found": "thread notebook id role created_at snippet on_path",
    "imported": "thread status reason messages",
    "assistants": "id name instructions parameters status",
    "config": "setting value source meaning",
    "doctor": "check status detail fix",
}
FUNCTIONS = {
    "current": "()",
    "threads": "(data_folder=None)",
    "find": "(words, *, thread=None)",
    "import_threads": "(path)",
    "models": "()",
}
ANSWER = "text code data tables model thread message version versions usage timings finish sent"


@pytest.mark.parametrize("table", TABLES)
def test_columns(table: str) -> None:
    assert list(COLUMNS[table]) == TABLES[table].split()


def test_no_table_is_without_a_promise() -> None:
    assert COLUMNS.keys() == TABLES.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    signature = inspect.signature(getattr(jan, name))
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    assert str(shown) == FUNCTIONS[name]


def test_an_answer_has_what_it_promises() -> None:
    assert not [name for name in ANSWER.split() if not hasattr(Answer, name)]
