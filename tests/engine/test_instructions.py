"""Whose instructions a turn has: flags, the thread, a setting; filled in at every send."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import AssistantNotFound
from jan_magics.domain.messages import Json, Thread, text_of
from jan_magics.domain.models import ChatOptions, ChatRequest
from jan_magics.domain.overlays import CellLink
from jan_magics.engine.assistants import PLAIN, Assistant, remembered
from tests.engine.opened import Model, Opened, opened
from tests.engine.test_assistants import POET, known, write

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


def test_a_thread_keeps_its_assistant_in_jans_key() -> None:
    poet = Assistant("poet1", "Poet", "Rhyme.")
    thread = Thread("t", "", NOW, NOW, extra={"assistants": [{"id": "old", "model": {"id": "m"}}]})
    keys = remembered(thread, poet)
    assert keys is not None
    entries: Any = keys["assistants"]
    assert [each["id"] for each in entries] == ["poet1", "old"]
    assert entries[0]["model"] == {"id": "m"}
    again = Thread("t", "", NOW, NOW, extra=keys)
    assert remembered(again, poet) is None
    assert remembered(Thread("t", "", NOW, NOW), PLAIN) is None


def test_a_thread_from_elsewhere_brings_its_assistant(tmp_path: Path) -> None:
    copy: dict[str, Json] = {"id": "gone", "name": "Gone", "instructions": "Be odd."}
    thread = Thread("t", "", NOW, NOW, extra={"assistants": [copy]})
    found = known(tmp_path).of_thread(thread)
    assert found is not None
    assert found.instructions == "Be odd."
    for odd in ([], "x", [3], [{"id": 3}], [{"id": "a", "instructions": 3}]):
        thread = Thread("t", "", NOW, NOW, extra={"assistants": odd})  # type: ignore[dict-item]
        assert known(tmp_path).of_thread(thread) is None


def turns(folder: Path, *asked: dict[str, Any], **settings: str) -> list[ChatRequest]:
    """Make turns one after the other, and return what was sent."""
    here = opened(folder, Model(), settings)

    async def main() -> None:
        for flags in asked:
            await here.send("hi", **flags)

    asyncio.run(main())
    return here.model.asked


def test_a_thread_remembers_whom_it_asked(tmp_path: Path) -> None:
    write(tmp_path, POET)
    asked = turns(tmp_path, {}, {"assistant": "Poet"}, {})
    assert [request.system for request in asked] == ["", "Only rhyme.", "Only rhyme."]
    (record,) = (tmp_path / "threads").glob("*/thread.json")
    (kept,) = json.loads(record.read_text(encoding="utf-8"))["assistants"]
    assert kept == POET
    asked = turns(tmp_path, {}, {"thread": "other"})
    assert [request.system for request in asked] == ["Only rhyme.", ""], "a new kernel knows it too"


def test_a_side_turn_does_not_change_who_it_is(tmp_path: Path) -> None:
    write(tmp_path, POET)
    asked = turns(tmp_path, {}, {"assistant": "Poet", "history": False}, {})
    assert [request.system for request in asked] == ["", "Only rhyme.", ""]


def test_the_default_takes_an_assistant_back(tmp_path: Path) -> None:
    write(tmp_path, POET)
    asked = turns(tmp_path, {"assistant": "Poet"}, {"assistant": "default"}, {})
    assert [request.system for request in asked] == ["Only rhyme.", "", ""]


def test_the_file_is_read_anew_at_each_turn(tmp_path: Path) -> None:
    write(tmp_path, POET)
    here = opened(tmp_path, Model())

    async def main() -> None:
        await here.send("hi", assistant="Poet")
        write(tmp_path, POET | {"instructions": "Only sing."})
        await here.send("hi")
        (tmp_path / "assistants" / "poet1.json").unlink()
        await here.send("hi")

    asyncio.run(main())
    assert [request.system for request in here.model.asked] == [
        "Only rhyme.", "Only sing.", "Only sing.",
    ]  # fmt: skip


def test_the_setting_is_for_threads_that_have_none(tmp_path: Path) -> None:
    write(tmp_path, POET)
    write(tmp_path, POET | {"id": "cook", "name": "Cook", "instructions": "Only cook."})
    asked = turns(tmp_path, {"assistant": "Cook"}, {}, {"thread": "new"}, assistant="Poet")
    assert [request.system for request in asked] == ["Only cook.", "Only cook.", "Only rhyme."]


def test_a_wrong_assistant_leaves_no_thread_behind(tmp_path: Path) -> None:
    here = opened(tmp_path, Model())
    with pytest.raises(AssistantNotFound):
        asyncio.run(here.send("hi", assistant="nobody"))
    assert here.session.current() is None
    assert here.model.asked == []


def test_parameters_are_below_the_flags(tmp_path: Path) -> None:
    write(tmp_path, POET | {"parameters": {"temperature": 0.9, "max_tokens": 7.0, "top_k": 5}})
    flags = ChatOptions(temperature=0.1, parameters={"top_k": 1, "top_p": 0.5})
    plain, flagged = turns(tmp_path, {"assistant": "Poet"}, {"assistant": "Poet", "options": flags})
    assert plain.options == ChatOptions(0.9, 7, parameters={"top_k": 5})
    assert flagged.options == ChatOptions(0.1, 7, parameters={"top_k": 1, "top_p": 0.5})


def test_what_use_made_stick_is_a_flag(tmp_path: Path) -> None:
    write(tmp_path, POET)
    here = opened(tmp_path, Model())
    sticky = here.session.sticky
    here.session.sticky = type(sticky)(assistant="Poet", options=ChatOptions(temperature=0.2))
    asyncio.run(here.send("hi", system="In French."))
    (request,) = here.model.asked
    assert request.system == "Only rhyme.\n\nIn French."
    assert request.options.temperature == 0.2


# ---------------------------------------------------------------------------------------- templates


def test_a_date_is_new_at_every_send_and_a_time_goes_last(tmp_path: Path) -> None:
    write(tmp_path, POET | {"instructions": "{{current_date}} in {{notebook}}, {{model}}.\n"
                                            "The time: {{current_time}}"})  # fmt: skip
    here = opened(tmp_path, Model())

    async def main(here: Opened) -> None:
        await here.send("one", assistant="Poet")
        here.clock[0] += timedelta(minutes=5)
        await here.send("two")
        here.clock[0] += timedelta(days=30)
        await here.send("three")

    asyncio.run(main(here))
    first, second, third = here.model.asked
    local = here.clock[0].astimezone() - timedelta(days=30)
    assert first.system == f"March {local.day}, 2026 in work.ipynb, double:m."
    assert second.system == first.system, "the prefix is the same within a day"
    assert third.system != first.system
    assert text_of(second.messages[-1]) == f"The time: {local:%H:%M}\n\ntwo"
    assert [text_of(each) for each in second.messages[:-1]] == ["one", "yes"]
    assert second.stable == 2
    assert third.messages[: second.stable] == second.messages[: second.stable]
    assert [text_of(each) for each in here.messages()] == [
        "one",
        "yes",
        "two",
        "yes",
        "three",
        "yes",
    ]


def test_an_unknown_template_is_sent_as_text_and_told_once(tmp_path: Path) -> None:
    here = opened(tmp_path, Model())

    async def main() -> list[tuple[str, ...]]:
        system = "{{curent_date}} {{foo}}"
        return [(await here.send("hi", system=system)).lines for _ in range(2)]

    first, second = asyncio.run(main())
    assert here.model.asked[0].system == "{{curent_date}} {{foo}}"
    told = [line for line in first if "template" in line]
    assert told == ["{{curent_date}} in the instructions is no template and was sent as text, "
                    "closest: {{current_date}} (and 1 more)"]  # fmt: skip
    assert not [line for line in second if "template" in line]


def test_a_time_in_the_instructions_does_not_ask_again(tmp_path: Path) -> None:
    here = opened(tmp_path, Model("first", "second"), {"rerun": "reuse"})
    link = CellLink("work.ipynb", "cell", 0, "")

    async def main() -> list[str]:
        said = []
        for system in ("It is {{current_time}}.", "It is {{current_time}}.", "Be brief."):
            outcome = await here.send("hi", system=system, cell=link)
            said.append(text_of(outcome.turn.answer))
            here.clock[0] += timedelta(minutes=5)
        return said

    assert asyncio.run(main()) == ["first", "first", "second"]
