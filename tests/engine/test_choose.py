"""Which model answers: the first that is named, else what is here; and never another one."""

import asyncio
from pathlib import Path

import pytest

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.choose import OFFLINE, Choice, Finder, choose, guard_foreign
from jan_magics.engine.settings import Settings, Source, read_settings
from tests.engine.threads import Kernel

OLLAMA = ModelInfo(ModelRef("ollama", "llama3"))
LOCAL = ModelRef("local", "SmolLM2")


class Machine:
    """What runs on a machine, counting how often it was asked."""

    def __init__(self, *running: ModelInfo, startable: ModelRef | None = None) -> None:
        self.running = running
        self.asked = 0
        self.finder = Finder(self.discover, lambda: startable)

    async def discover(self) -> tuple[ModelInfo, ...]:
        self.asked += 1
        return self.running


def settings(folder: Path, **values: str) -> Settings:
    return read_settings(folder, folder, {}, above=(Source("a setting", dict(values)),))


def chosen(
    machine: Machine,
    settings: Settings,
    *,
    flag: str | None = None,
    used: str | None = None,
    remembered: str | None = None,
) -> Choice:
    named = {"the -m flag": flag, "%chat use": used}
    return asyncio.run(choose(named, remembered, settings, machine.finder))


def test_the_first_that_is_named_answers(tmp_path: Path) -> None:
    machine, set_model = Machine(OLLAMA), settings(tmp_path, model="a:setting")
    everything = {"flag": "a:flag", "used": "a:used", "remembered": "a:thread"}
    order = []
    while everything:
        order.append(str(chosen(machine, set_model, **everything).model))
        everything.pop(next(iter(everything)))
    order.append(str(chosen(machine, set_model).model))
    assert order == ["a:flag", "a:used", "a:thread", "a:setting"]
    assert machine.asked == 0  # whoever names a model causes no probe


def test_what_runs_here_is_asked_once(tmp_path: Path) -> None:
    machine = Machine(OLLAMA, startable=LOCAL)
    for _ in range(3):
        assert chosen(machine, settings(tmp_path)).model == OLLAMA.ref
    assert machine.asked == 1


def test_else_a_model_that_can_be_started_else_none(tmp_path: Path) -> None:
    assert chosen(Machine(startable=LOCAL), settings(tmp_path)).model == LOCAL
    choice = chosen(Machine(), settings(tmp_path))
    assert choice.model == OFFLINE
    assert "none runs here" in choice.why


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({}, "offline:quote"),  # a stand-in makes way for what can answer now
        ({"model": "offline:echo"}, "offline:echo"),  # named for this thread: it stays
    ],
)
def test_a_thread_keeps_an_offline_model_only_where_it_was_named(
    kernel: Kernel, asked: dict[str, str], kept: str
) -> None:
    kernel.ask("one", **asked)
    kernel.settings["model"] = "offline:quote"
    kernel.open()
    assert str(kernel.ask("two").turn.request.model) == kept
    kernel.ask("three", model="offline:quote")
    assert str(kernel.ask("four").turn.request.model) == "offline:quote"


@pytest.mark.parametrize("name", ["llama3", "a:", ":b", "https://host/v1"])
def test_a_name_that_is_none_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingError):
        chosen(Machine(), settings(tmp_path), flag=name)


def test_a_folder_from_elsewhere_names_no_address(tmp_path: Path) -> None:
    choice = chosen(Machine(), settings(tmp_path), remembered="https://evil.example/v1#m")
    guard_foreign(choice, foreign_folder=False, settings=settings(tmp_path))
    with pytest.raises(KeyRefused, match=r"evil\.example"):
        guard_foreign(choice, foreign_folder=True, settings=settings(tmp_path))
    named = chosen(Machine(), settings(tmp_path), used="https://evil.example/v1#m")
    guard_foreign(named, foreign_folder=True, settings=settings(tmp_path))
