"""Every magic, verb, flag, setting and error is documented, offline and in the README."""

import inspect
import re

import pytest

from jan_magics.domain import errors
from jan_magics.engine.setting_list import SETTINGS
from jan_magics.magics.commands import ASKING, VERBS, Verb
from jan_magics.magics.manual import TOPICS
from jan_magics.magics.rag import rag_help
from jan_magics.magics.rag_commands import RAG_VERBS
from jan_magics.magics.topics import help_text
from tests.readme import README
from tests.readme_tables import renewed

ERRORS = [
    each for each in vars(errors).values()
    if inspect.isclass(each) and issubclass(each, errors.JanError)
]  # fmt: skip


def test_the_table_of_verbs_is_that_of_the_parsers() -> None:
    text = README.read_text("utf-8")
    assert renewed(text) == text, "write it anew: python -m tests.readme_tables"


def test_contributing_leads_to_files_that_there_are() -> None:
    text = (README.parent / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:jan_magics|tests|labextension|docs)/[^`*… ]+)`", text)
    assert len(named) > 20
    assert [each for each in named if not (README.parent / each).exists()] == []


@pytest.mark.parametrize("magic", ["%%chat", "%rag"])
def test_magics(magic: str) -> None:
    assert help_text(magic).strip()
    assert magic in README.read_text("utf-8")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_verbs_and_their_flags(verb: Verb) -> None:
    told = help_text(verb.name)
    assert verb.summary in " ".join(told.split())
    assert f"  {verb.name}" in help_text("")
    for flag in verb.flags:
        assert flag.help
        assert all(name in told for name in flag.names)


@pytest.mark.parametrize("verb", RAG_VERBS, ids=lambda verb: verb.name)
def test_verbs_of_collections_and_their_flags(verb: Verb) -> None:
    told = rag_help(verb.name)
    assert f"  {verb.name}" in rag_help("")
    assert all(flag.help and all(name in told for name in flag.names) for flag in verb.flags)


def test_flags_of_a_cell() -> None:
    told = help_text("chat")
    assert all(flag.help and all(name in told for name in flag.names) for flag in ASKING)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_settings(setting: object) -> None:
    name, meaning = setting.name, setting.meaning  # type: ignore[attr-defined]
    assert meaning
    assert any(line.split()[:1] == [name] for line in help_text("settings").splitlines())


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_errors(error: type[errors.JanError]) -> None:
    assert error.__doc__
    lines = [line.lstrip("│├└─ ") for line in help_text("errors").splitlines()]
    assert [line.split()[:1] for line in lines].count([error.__name__]) == 1


@pytest.mark.parametrize("topic", TOPICS)
def test_topics_are_listed_and_have_a_text(topic: str) -> None:
    assert topic in help_text("").splitlines()[-1]
    assert len(help_text(topic).splitlines()) > 5
    assert max(map(len, help_text(topic).splitlines())) <= 120
