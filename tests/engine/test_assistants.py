"""Assistants: files that people may edit, threads that remember, parameters below the flags."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import AssistantNotFound, KeyRefused, SettingError, StoreError
from jan_magics.engine.assistants import (
    PLAIN,
    VERSION_FILE,
    Assistant,
    Assistants,
    usable_name,
    usable_parameters,
)
from jan_magics.engine.migrations import MIGRATIONS, Migration, migrate, version_of

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
POET: dict[str, Any] = {
    "avatar": "🖋", "id": "poet1", "object": "assistant", "created_at": 1, "name": "Poet",
    "instructions": "Only rhyme.", "parameters": {"temperature": 0.9, "top_k": 5}, "tools": [],
}  # fmt: skip


def known(folder: Path) -> Assistants:
    return Assistants(folder / "assistants", lambda: "f" * 32, lambda: NOW)


def write(folder: Path, raw: dict[str, Any], name: str = "") -> Path:
    path = folder / "assistants" / f"{name or raw['id']}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def test_looking_writes_nothing_and_finds_the_default(tmp_path: Path) -> None:
    (row,) = known(tmp_path).rows()
    assert row.assistant == PLAIN
    assert known(tmp_path).named("default").path is None
    assert known(tmp_path).default() == PLAIN
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_readable_and_its_unknown_keys_survive(tmp_path: Path) -> None:
    path = write(tmp_path, POET)
    row = known(tmp_path).named("Poet")
    assert row.assistant.parameters == POET["parameters"]
    known(tmp_path).save(row.assistant, row.path)
    assert json.loads(path.read_text(encoding="utf-8")) == POET
    assert "\n" in path.read_text(encoding="utf-8")
    assert [each.name for each in path.parent.iterdir()] == ["poet1.json"], "no leftovers"


def test_jans_own_folders_are_read_and_written_in_place(tmp_path: Path) -> None:
    path = tmp_path / "assistants" / "jan" / "assistant.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"id": "jan", "name": "Jan", "parameters": None}))
    row = known(tmp_path).named("jan")
    assert row.path == path
    known(tmp_path).save(Assistant("jan", "Jan", "Be kind."), row.path)
    assert known(tmp_path).named("jan").assistant.instructions == "Be kind."


@pytest.mark.parametrize("name", ["Poet", "poet", "poet1", "POET"])
def test_a_name_or_an_id_is_enough(tmp_path: Path, name: str) -> None:
    write(tmp_path, POET)
    assert known(tmp_path).named(name).assistant.id == "poet1"


def test_an_unknown_name_suggests_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, POET)
    with pytest.raises(AssistantNotFound) as caught:
        known(tmp_path).named("Peot")
    assert caught.value.nearest == ("Poet",)
    assert "%chat assistants" in caught.value.next_step


def test_one_name_for_two_is_an_error_that_lists_ids(tmp_path: Path) -> None:
    write(tmp_path, POET)
    write(tmp_path, POET | {"id": "poet2"})
    with pytest.raises(SettingError, match=r"(?s)2 assistants.*poet1, poet2"):
        known(tmp_path).named("Poet")
    assert known(tmp_path).named("poet2").assistant.id == "poet2"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{nope", "not JSON"),
        ("[]", "no JSON object"),
        ('{"id": "bad", "instructions": 3}', "instructions"),
        ('{"id": "bad", "parameters": [1]}', "parameters"),
        ("\xff", "not JSON"),
    ],
)
def test_a_damaged_file_is_a_row_and_never_fatal(tmp_path: Path, text: str, fault: str) -> None:
    write(tmp_path, POET)
    path = tmp_path / "assistants" / "bad.json"
    path.write_bytes(text.encode("latin-1"))
    rows = {row.assistant.name: row for row in known(tmp_path).rows()}
    assert fault in str(rows["bad"].fault)
    assert rows["Poet"].fault is None
    with pytest.raises(SettingError, match=r"bad\.json"):
        known(tmp_path).named("bad")
    assert path.read_bytes() == text.encode("latin-1")


def test_a_new_one_is_made_once(tmp_path: Path) -> None:
    first = known(tmp_path).create(" my  poet ")
    assert first.assistant.name == "my poet"
    assert first.path == tmp_path / "assistants" / f"{'f' * 32}.json"
    known(tmp_path).save(Assistant(first.assistant.id, "my poet", "Rhyme."), first.path)
    assert known(tmp_path).create("my poet").assistant.instructions == "Rhyme."


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "x" * 81])
def test_what_cannot_be_a_name(name: str) -> None:
    with pytest.raises(SettingError):
        usable_name(name)


@pytest.mark.parametrize("name", ["../../evil", "CON", "a/b", "诗人 🖋"])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    row = known(tmp_path).create(name)
    assert row.path is not None
    assert row.path.parent == tmp_path / "assistants"
    assert known(tmp_path).named(name).assistant.name == name


def test_parameters_are_json_and_no_keys() -> None:
    assert usable_parameters({"top_k": 5, "stop": ("a",)}) == {"top_k": 5, "stop": ["a"]}
    with pytest.raises(SettingError):
        usable_parameters({"x": object()})
    with pytest.raises(KeyRefused):
        usable_parameters({"api_key": "x"})


# --------------------------------------------------------------------------------------- migrations

TABLE = (Migration(2, "new", "newest", {"top_k": 20, "top_p": 0.8}), Migration(1, "old", "new"))


def test_an_untouched_text_goes_all_the_way(tmp_path: Path) -> None:
    write(tmp_path, {"id": "a", "instructions": "old", "parameters": {"top_k": 3}, "x": 1})
    assert migrate(known(tmp_path), TABLE) == 2
    assistant = known(tmp_path).named("a").assistant
    assert assistant.instructions == "newest"
    assert assistant.parameters == {"top_k": 3, "top_p": 0.8}, "what the user set stays"
    assert assistant.extra == {"x": 1}
    assert (tmp_path / "assistants" / VERSION_FILE).read_text() == "2"


@pytest.mark.parametrize("text", ["old ", "old and mine", "Old", " old", "mine"])
def test_an_edited_text_is_never_touched(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, {"id": "a", "instructions": text})
    before = path.read_bytes()
    migrate(known(tmp_path), TABLE)
    assert path.read_bytes() == before


def test_a_version_from_the_future_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"id": "a", "instructions": "old"})
    (tmp_path / "assistants" / VERSION_FILE).write_text("9 of tomorrow")
    assert migrate(known(tmp_path), TABLE) == 9
    assert known(tmp_path).named("a").assistant.instructions == "old"
    assert (tmp_path / "assistants" / VERSION_FILE).read_text() == "9 of tomorrow"


def test_the_version_is_saved_after_the_writes(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "a", "instructions": "old"})
    blocker = path.with_name("a.json.new")
    blocker.mkdir()  # where the new file would be written first
    with pytest.raises(StoreError):
        migrate(known(tmp_path), TABLE)
    assert version_of(known(tmp_path)) == 0
    blocker.rmdir()
    assert migrate(known(tmp_path), TABLE) == 2


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert migrate(known(tmp_path), TABLE) == 0
    assert migrate(known(tmp_path), MIGRATIONS) == 0
    assert list(tmp_path.iterdir()) == []
