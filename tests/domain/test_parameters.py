"""Common parameters: their types and ranges, and what no JSON can hold."""

import math

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.parameters import checked_options, fault_of

INFINITY = float("inf")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0),
        ("temperature", 2.0),
        ("max_tokens", 0),  # no limit
        ("top_p", 1),
        ("top_k", -1),
        ("seed", -(10**400)),
        ("presence_penalty", -2),
        ("timeout", 0.5),
        ("temperature", None),
        ("unheard_of", "文"),
    ],
)
def test_what_a_server_may_take(name: str, value: object) -> None:
    assert fault_of(name, value) == ""


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("temperature", 9, "a number from 0 to 2, not 9"),
        ("temperature", "warm", "a number from 0 to 2, not 'warm'"),
        ("temperature", math.nan, "not nan"),
        ("temperature", True, "not True"),
        ("max_tokens", -1, "a whole number from 0, not -1"),
        ("max_tokens", 1.5, "not 1.5"),
        ("max_output_tokens", -1, "not -1"),
        ("top_p", 3, "a number from 0 to 1, not 3"),
        ("seed", 0.5, "a whole number, not 0.5"),
        ("frequency_penalty", INFINITY, "not inf"),
        ("timeout", INFINITY, "not inf"),
    ],
)
def test_what_no_server_takes(name: str, value: object, said: str) -> None:
    assert said in fault_of(name, value)
    with pytest.raises(SettingError, match=name) as caught:
        checked_options(ChatOptions(parameters={name: value}))  # type: ignore[dict-item]
    assert caught.value.next_step


@pytest.mark.parametrize("value", [INFINITY, math.nan, [math.nan], {1, 2}, object()])
def test_what_cannot_be_written_is_refused(value: object) -> None:
    with pytest.raises(SettingError, match="anything cannot be sent"):
        checked_options(ChatOptions(parameters={"anything": value}))  # type: ignore[dict-item]
