"""What a grid and a compaction refuse before anybody is asked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jan_magics as jan
from jan_magics.domain.errors import SettingError, ThreadError
from tests.api.answering import Said, answering


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[jan.Chat]:
    with jan.Chat("t", model="offline:echo", data_folder=str(tmp_path)) as opened:
        yield opened


GRIDS: dict[str, tuple[dict[str, Any], str]] = {
    "a thread": ({"thread": ["zz"]}, "thread is the same for a whole grid"),
    "a slip": ({"windw": [300]}, "no key 'windw'"),
    "one letter": ({"m": ["offline:echo"]}, "no key 'm'"),
}


@pytest.mark.parametrize("given", GRIDS)
def test_a_grid_refuses_what_it_cannot_try(chat: jan.Chat, given: str) -> None:
    chat.send("hello", show=False)
    lists, why = GRIDS[given]
    with pytest.raises(SettingError, match=re.escape(why)):
        chat.grid("x", **lists)
    assert len(chat.messages()) == 2
    # What no list of ours can know is a parameter of the model.
    assert len(chat.grid("x", top_p=[0.5, 0.9])) == 2


def test_a_grid_names_itself_where_a_value_cannot_be_and_counts_what_was_sent(
    chat: jan.Chat,
) -> None:
    with pytest.raises(SettingError, match="compact_at from the grid is 2") as caught:
        chat.grid("x", compact_at=[2])
    assert "%config" not in caught.value.next_step
    table = chat.grid("word " * 300, window=[200, 4000])
    assert table.sent_tokens.isna().tolist() == [True, False]


def test_a_compaction_is_not_taken_back_and_tried_at_once(chat: jan.Chat) -> None:
    for n in range(6):
        chat.send(f"{n} " + "word " * 30, show=False)
    with pytest.raises(SettingError, match="no use for a dry run"):
        chat.compact(dry_run=True, off=True)
    with pytest.raises(SettingError, match="no use for a number of turns"):
        chat.compact(keep=1, off=True)
    with pytest.raises(ThreadError, match="less than 20%") as caught:
        chat.compact(keep=5)
    assert "--keep 0" in caught.value.next_step


def test_keeping_none_is_not_advised_to_who_keeps_none(chat: jan.Chat) -> None:
    chat.send("hi", show=False)
    with pytest.raises(ThreadError, match="less than 20%") as caught:
        chat.compact(keep=0)
    assert caught.value.next_step == "Nothing was changed. Begin anew: %chat clear"


def test_a_grid_says_why_a_combination_did_not_do_what_it_was_to(tmp_path: Path) -> None:
    with answering(lambda prompt: Said("" if "word" in prompt else "yes")) as server:
        model = f"{server.address}#m"
        with jan.Chat("t", model="offline:echo", data_folder=str(tmp_path)) as chat:
            for n in range(12):
                chat.send(f"{n} " + "word " * 30, show=False)
            table = chat.grid("x", model=[model], window=[700], overflow=["trim", "compact"])
    assert table.summarised.tolist() == [0, 0]
    (line,) = table.attrs["jan"]["said"]
    assert "overflow=compact: compacting failed" in line
