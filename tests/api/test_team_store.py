"""Threads of a team in PostgreSQL, as a notebook uses them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import SettingError
from tests.conftest import require
from tests.kernel import running_kernel
from tests.storage.servers import missing_for_postgres, postgres


@pytest.fixture(scope="module")
def team() -> Iterator[str]:
    missing = missing_for_postgres()
    require("postgres", not missing, f"not installed: {', '.join(missing)}")
    with postgres() as address:
        yield f"{address}#team 一"


def test_two_people_share_a_thread(team: str) -> None:
    with jan.Chat("共用", store=team, model="offline:echo") as ada:
        ada.send("What is overfitting? 过拟合")
    code = (
        "import jan_magics as jan\n"
        f"with jan.Chat('共用', store={team!r}, model='offline:echo') as bob:\n"
        "    bob.send('And underfitting?')\n"
        "    print(len(bob.messages()), jan.__name__)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split()[0] == "4"
    with jan.Chat("共用", store=team, model="offline:echo") as ada:
        assert [row.text for row in ada.messages().itertuples() if row.role == "user"] == [
            "What is overfitting? 过拟合", "And underfitting?",
        ]  # fmt: skip
        first = ada.messages().id[0]
        ada.edit(first, "What is a branch?")
        assert len(ada.messages(all=True)) == 6
        ada.undo()
        assert len(ada.messages()) == 4


def test_a_notebook_says_where_its_threads_are_and_finds_them(team: str, tmp_path: Path) -> None:
    with running_kernel(tmp_path, JAN_STORE=team) as kernel:
        kernel.ok("%load_ext jan_magics")
        kernel.ok("%%chat -m offline:echo -t 笔记\nWhere is the panda 熊猫?")
        assert f"threads are kept in {team}, all else in " in str(kernel.ok("%chat store"))
        assert "熊猫" in str(kernel.ok("%chat find 熊猫").results)
        assert "ok" in str(kernel.ok("%chat doctor").results)


def test_the_setting_is_checked_and_shown_without_a_secret() -> None:
    with pytest.raises(SettingError, match="password") as caught:
        jan.Chat(store="postgresql://ada:hunter2@db/x").messages()
    assert "hunter2" not in str(caught.value)
    with pytest.raises(SettingError, match="store is"):
        jan.Chat(store="paper")
