"""Settings: who wins, what a project may not say, and what is said about mistakes."""

from pathlib import Path

import pytest

from jan_magics.domain.errors import SettingError
from jan_magics.engine.places import data_folder
from jan_magics.engine.settings import Settings, Source, read_settings


def read(folder: Path, environment: dict[str, str] | None = None, *above: Source) -> Settings:
    return read_settings(folder, folder / "config", environment or {}, above=above)


def project(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.jan_magics]\n{text}\n", encoding="utf-8")


def user(folder: Path, text: str) -> None:
    (folder / "config").mkdir()
    (folder / "config" / "config.toml").write_text(text, encoding="utf-8")


def test_the_order_is_config_environment_project_user_default(tmp_path: Path) -> None:
    assert read(tmp_path).get("model").source == "default"
    user(tmp_path, 'model = "a:user"')
    assert read(tmp_path).get("model").value == "a:user"
    project(tmp_path, 'model = "a:project"')
    assert read(tmp_path).get("model").source == "pyproject.toml"
    environment = {"JAN_MODEL": "a:environment"}
    assert read(tmp_path, environment).get("model").value == "a:environment"
    above = Source("%config JanMagics", {"model": "a:config"})
    assert read(tmp_path, environment, above).get("model").source == "%config JanMagics"


def test_an_empty_value_is_no_value(tmp_path: Path) -> None:
    above = Source("%config JanMagics", {"model": ""})
    assert read(tmp_path, {"JAN_MODEL": "a:b"}, above).get("model").value == "a:b"


def test_the_nearest_project_is_found_above(tmp_path: Path) -> None:
    project(tmp_path, 'model = "a:above"')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert read_settings(below, tmp_path / "config", {}).get("model").value == "a:above"


@pytest.mark.parametrize(
    "line",
    [
        'data_folder = "/elsewhere"',
        'gguf = "evil.gguf"',
        'model = "https://evil.example/v1#m"',
        'notebook = "other.ipynb"',
        'embedder = "https://evil.example/v1#m"',
    ],
)
def test_a_project_may_not_say_where_things_go(tmp_path: Path, line: str) -> None:
    project(tmp_path, line)
    settings = read(tmp_path)
    name = line.split(" ", maxsplit=1)[0]
    assert settings.get(name).source == "default"
    assert settings.notes == (f"pyproject.toml: {name} is ignored, a project may not set it",)


def test_an_unknown_setting_is_told_with_the_nearest(tmp_path: Path) -> None:
    project(tmp_path, 'modle = "a:b"')
    assert read(tmp_path).notes == ("pyproject.toml: no setting 'modle', closest: 'model'",)


def test_the_users_config_names_hosts(tmp_path: Path) -> None:
    user(tmp_path, '[providers.lab]\naddress = "http://lab:8000/v1/"')
    settings = read(tmp_path)
    assert {name: host.address for name, host in settings.hosts.items()} == {
        "lab": "http://lab:8000/v1"
    }
    assert settings.notes == ()


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("display", "twice", "stream, once"),
        ("store", "paper", "sqlite, jsonl"),
        ("model", "llama3", "provider:name"),
    ],
)
def test_a_bad_value_names_its_source(tmp_path: Path, name: str, value: str, hint: str) -> None:
    with pytest.raises(SettingError) as caught:
        read(tmp_path, {f"JAN_{name.upper()}": value}).get(name)
    assert value in str(caught.value)
    assert hint in str(caught.value)


def test_a_file_that_is_not_toml_is_an_error_with_its_name(tmp_path: Path) -> None:
    project(tmp_path, "model = ")
    settings = read(tmp_path, {"JAN_WINDOW": "100"})
    with pytest.raises(SettingError, match=r"pyproject\.toml cannot be read") as caught:
        settings.get("model")
    assert str(tmp_path / "pyproject.toml") in caught.value.next_step
    assert settings.get("window").value == "100"  # what goes before the file is not held up
    assert len(settings.faults()) == 1


def test_one_wrong_setting_is_told_beside_the_others(tmp_path: Path) -> None:
    project(tmp_path, 'window = "lots"')
    settings = read(tmp_path, {"JAN_MODEL": "bogus"})
    told = {value.setting.name: value for value in settings.table()}
    assert "JAN_MODEL" in told["model"].source
    assert "'lots'" in told["window"].source
    assert told["overflow"].source == "default"
    model, window = settings.faults()
    assert "JAN_MODEL" in model.message
    assert "%chat use -m" in model.next_step
    assert "--window" in window.next_step


def test_the_data_folder_is_the_projects_own_when_it_has_one(tmp_path: Path) -> None:
    (tmp_path / ".jan").mkdir()
    below = tmp_path / "deep" / "er"
    below.mkdir(parents=True)
    found = data_folder(read(below), below)
    assert found.value == str(tmp_path / ".jan")
    assert "project" in found.source


def test_a_setting_of_the_data_folder_wins(tmp_path: Path) -> None:
    (tmp_path / ".jan").mkdir()
    settings = read(tmp_path, {"JAN_DATA_FOLDER": "mine"})
    assert data_folder(settings, tmp_path).value == str(tmp_path / "mine")


def test_a_table_and_a_line_below_spell_a_setting_with_a_dot(tmp_path: Path) -> None:
    user(tmp_path, "[rag]\nenabled = false\nmax_file_mb = 50")
    settings = read(tmp_path, {"JAN_RAG_MAX_FILE_MB": "20"})
    found = settings.get("rag.max_file_mb")
    assert (found.value, found.source) == ("20", "environment JAN_RAG_MAX_FILE_MB")
    assert settings.get("rag.enabled").value == "off"
    assert settings.notes == ()
    project(tmp_path, "[tool.jan_magics.rag]\nthreshold = 0.5\nthreshhold = 1")
    told = read(tmp_path)
    assert told.get("rag.threshold").value == "0.5"
    assert "closest: 'rag.threshold'" in told.notes[0]
    with pytest.raises(SettingError, match=r"rag.enabled from environment JAN_RAG_ENABLED is 'x'"):
        read(tmp_path, {"JAN_RAG_ENABLED": "x"}).get("rag.enabled")
