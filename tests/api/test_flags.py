"""The flags of `%%chat` as keywords of a call: honoured or refused, and never sent."""

from typing import Any

import pytest

import jan_magics as jan
from jan_magics.api.asking import BUDGET, CALLING, FLAGS, LOOKING, OPTIONS
from jan_magics.api.flags import NO_PARAMETERS, OF_CELLS, OF_ONE_TURN
from jan_magics.domain.errors import SettingError
from jan_magics.magics.commands import ASKING


def test_every_flag_of_a_cell_is_known_to_a_call() -> None:
    known = {*FLAGS, *BUDGET, *CALLING, *LOOKING, *OPTIONS, *OF_CELLS, *OF_ONE_TURN}
    assert {flag.key for flag in ASKING} <= known


def test_a_dry_run_sends_nothing_and_says_what_it_would() -> None:
    with jan.Chat(model="offline:echo") as chat:
        plan = chat.send("你好 😀", dry_run=True)
        assert "nothing was sent" in str(plan)
        assert plan.sent["messages"][-1]["text"] == "你好 😀"
        assert chat.messages().empty
        assert chat.send("hello", dry_run=False).text == "hello"
        with pytest.raises(SettingError, match=r"chat\.send"):
            chat.stream("hello", dry_run=True)


def test_no_history_and_literal_mean_what_they_mean_in_a_cell() -> None:
    with jan.Chat(model="offline:echo") as chat:
        chat.send("first")
        answer = chat.send("alone", no_history=True, literal=True, system="at {{current_date}}")
        assert [each["text"] for each in answer.sent["messages"]] == ["alone"]
        assert "{{current_date}}" in str(answer.sent["system"])
        assert "no_history" not in str(answer.sent)
        assert list(chat.messages().text) == ["first", "first"]


@pytest.mark.parametrize("name", OF_CELLS)
def test_a_flag_that_only_a_cell_has_is_refused(name: str) -> None:
    with jan.Chat(model="offline:echo") as chat:
        on: dict[str, Any] = {name: "x"}
        off: dict[str, Any] = {name: None}
        with pytest.raises(SettingError, match=f"^{name} is a flag") as caught:
            chat.send("hello", **on)
        assert caught.value.next_step
        with pytest.raises(SettingError, match=f"^{name} is a flag"):
            chat.stream("hello", **on)
        assert name not in str(chat.send("hello", **off).sent["options"])


@pytest.mark.parametrize("name", NO_PARAMETERS)
def test_what_no_parameter_can_be_is_refused(name: str) -> None:
    with jan.Chat(model="offline:echo") as chat:
        on: dict[str, Any] = {name: []}
        off: dict[str, Any] = {name: False}
        with pytest.raises(SettingError, match=f"^{name} is no parameter of a model") as caught:
            chat.send("hello", **on)
        assert caught.value.next_step
        with pytest.raises(SettingError, match=f"^{name} is no parameter of a model"):
            chat.use(**on)
        assert name not in str(chat.send("hello", **off).sent["options"])


@pytest.mark.parametrize("name", OF_ONE_TURN)
def test_what_is_about_one_turn_does_not_stick(name: str) -> None:
    with jan.Chat(model="offline:echo") as chat, pytest.raises(SettingError, match="cannot stick"):
        chat.use(**{name: True})
