"""The limits of a search: the same at every door, because they have one home."""

import argparse
from collections.abc import Callable

import pytest

from jan_magics.api.asking import laid_on
from jan_magics.domain.errors import SettingError
from jan_magics.domain.looking import checked_cosine, checked_rows
from jan_magics.engine.asking import Asking
from jan_magics.magics.reading import cosine, rows
from jan_magics.rag.options import Options, check

ODD = (0, -3, True, 2.5, float("nan"), "fünf", "五", None, [5])
FAR = (1.01, -2, True, float("nan"), float("inf"), "nah", "近", [0.3])


@pytest.mark.parametrize("k", ODD, ids=repr)
def test_what_is_no_number_of_rows_is_refused_and_quoted(k: object) -> None:
    with pytest.raises(SettingError, match="is no number of rows\nAsk for one or more") as refused:
        checked_rows(k)
    assert repr(k) in refused.value.message


@pytest.mark.parametrize("threshold", FAR, ids=repr)
def test_what_is_no_cosine_is_refused_and_quoted(threshold: object) -> None:
    with pytest.raises(SettingError, match="is no cosine\nName one from -1 to 1") as refused:
        checked_cosine(threshold)
    assert repr(threshold) in refused.value.message


def test_what_can_be_is_let_through() -> None:
    assert [checked_rows(k) for k in (1, 5000)] == [1, 5000]
    assert [checked_cosine(x) for x in (-1, 0, 0.3, 1)] == [-1, 0, 0.3, 1]


DOORS: dict[str, Callable[[object], object]] = {
    "a search": lambda k: check(Options(k=k)),  # type: ignore[arg-type]
    "a turn": lambda k: laid_on(Asking(), {"k": k}),
    "a line": lambda k: rows(str(k)),
}
NEAR_DOORS: dict[str, Callable[[object], object]] = {
    "a search": lambda x: check(Options(threshold=x)),  # type: ignore[arg-type]
    "a turn": lambda x: laid_on(Asking(), {"threshold": x}),
    "a line": lambda x: cosine(str(x)),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_no_rows(door: str) -> None:
    with pytest.raises((SettingError, argparse.ArgumentTypeError), match="0 is no number of rows"):
        DOORS[door](0)


@pytest.mark.parametrize("door", NEAR_DOORS)
def test_every_door_refuses_what_is_no_cosine(door: str) -> None:
    for x in (7.5, float("nan")):
        with pytest.raises((SettingError, argparse.ArgumentTypeError), match="is no cosine"):
            NEAR_DOORS[door](x)
