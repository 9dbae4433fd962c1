"""A wrong setting holds up nothing that goes before it, and nothing that tells what is wrong."""

import stat
from pathlib import Path

import pytest

from tests.kernel import Kernel, running_kernel


def load(kernel: Kernel) -> None:
    kernel.ok(
        "%load_ext jan_magics\nimport pandas; pandas.set_option('display.max_colwidth', None)"
    )


def test_a_wrong_model_and_window_hold_up_no_flag(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jan_magics]\nwindow = "lots"\n')
    with running_kernel(tmp_path, JAN_MODEL="bogus") as kernel:
        load(kernel)
        ran = kernel.run("%%chat\nhi")
        assert ran.error
        assert "environment JAN_MODEL" in ran.error[1]
        assert "%chat use -m PROVIDER:NAME" in ran.error[1]
        assert "environment JAN_MODEL" in kernel.ok("%chat").result
        assert "environment JAN_MODEL" in kernel.ok("%chat config").result
        assert "environment JAN_MODEL" in kernel.ok("%chat models").out
        assert "environment JAN_MODEL" in kernel.ok("%chat doctor").result
        assert kernel.ok("%%chat -m offline:echo --window 500\n你好").turn["text"] == "你好"
        ran = kernel.run("%%chat -m offline:echo\nhi")
        assert ran.error
        assert "pyproject.toml" in ran.error[1]
        assert "--window" in ran.error[1]
        kernel.ok("%chat use -m offline:echo --window 500")
        assert kernel.ok("%%chat\n😀").turn["text"] == "😀"


def test_a_use_that_fails_does_not_stick(kernel: Kernel) -> None:
    kernel.ok("%chat use offline:echo")
    for wrong in ("-m offline:zork -t zorkish", "-t zorkish -a nobody", "-P fail=zork -t zorkish"):
        assert kernel.run(f"%chat use {wrong}").status == "error"
        assert "offline:echo" in kernel.ok("%chat").result
        assert "zork" not in kernel.ok("%chat").result
    assert "zorkish" not in kernel.ok("rows = %chat threads\nprint(*rows.title)").out


def test_a_broken_config_file_and_loose_keys_are_rows_of_the_doctor(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('model = "offline:echo\nbroken')
    keys = tmp_path / "keys.toml"
    keys.write_text("[keys]\n")
    keys.chmod(0o644)
    assert keys.stat().st_mode & stat.S_IROTH
    with running_kernel(tmp_path, JAN_CONFIG_FOLDER=str(tmp_path)) as kernel:
        load(kernel)
        told = kernel.ok("rows = %chat doctor\nfor row in rows.itertuples(): print(*row)").out
        assert str(tmp_path / "config.toml") in told
        assert f"keys error {keys}" in told
        assert "config.toml" in kernel.ok("%chat").result
        assert str(keys) in kernel.ok("%chat config").out


def test_a_data_folder_that_cannot_be_made_is_not_well(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in ("/proc/nope", str(tmp_path / "file" / "data")):
        with running_kernel(tmp_path, JAN_DATA_FOLDER=folder) as kernel:
            load(kernel)
            told = kernel.ok("rows = %chat doctor\nfor row in rows.itertuples(): print(*row)").out
            assert f"data folder error {folder}" in told


def test_a_data_folder_that_is_set_too_late_says_so(kernel: Kernel, tmp_path: Path) -> None:
    kernel.ok("%%chat -m offline:echo\nhi")
    kernel.ok(f"%config JanMagics.data_folder = {str(tmp_path)!r}")
    told = kernel.ok("rows = %chat config\nfor row in rows.itertuples(): print(*row)").out
    assert "data_folder; counts from the next kernel on" in told


def test_providers_of_the_config_file_are_listed(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[providers.mine]\naddress = "http://127.0.0.1:9/v1"\n')
    with running_kernel(tmp_path, JAN_CONFIG_FOLDER=str(tmp_path)) as kernel:
        load(kernel)
        assert (
            "config.toml: http://127.0.0.1:9/v1"
            in kernel.ok("rows = %chat models\nprint(*rows.source)").out
        )


@pytest.fixture
def kernel(tmp_path: Path):  # type: ignore[no-untyped-def]
    with running_kernel(tmp_path) as running:
        load(running)
        yield running


BROKEN = """window = 500
[providers.lab]
address = "http://127.0.0.1:9/v1"
[providers.openai
"""


def test_a_broken_config_file_holds_up_only_what_it_may_hold(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(BROKEN)
    with running_kernel(tmp_path, JAN_CONFIG_FOLDER=str(tmp_path)) as kernel:
        load(kernel)
        ran = kernel.run("%%chat -m offline:echo\nhi")
        assert ran.error
        assert "config.toml cannot be read" in ran.error[1]
        assert "--window" in ran.error[1]
        ran = kernel.ok("%%chat -m offline:echo --window 600\n你好")
        assert ran.turn["text"] == "你好"
        assert f"Mend or remove the file '{tmp_path}/config.toml'" in ran.displays[-1]["text/plain"]
        ran = kernel.ok("%%chat -m offline:echo --window 600\n😀")
        assert "config.toml" not in ran.displays[-1]["text/plain"]
        for model in ("lab:m", "openai:gpt-4"):  # who knows to which address
            ran = kernel.run(f"%%chat -m {model} --window 600\nhi")
            assert ran.error
            assert "config.toml cannot be read" in ran.error[1]
        assert "config.toml" in kernel.ok("%chat").result


def test_one_wrong_provider_holds_up_no_other_setting(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "window = 777\n[providers.lab]\naddress = 'http://127.0.0.1:9/v1'\napi_type = 'zork'\n"
    )
    with running_kernel(tmp_path, JAN_CONFIG_FOLDER=str(tmp_path)) as kernel:
        load(kernel)
        assert "777" in kernel.ok("_ = %chat budget").out
        ran = kernel.ok("%%chat -m offline:echo\nhi")
        assert "api_type of [providers.lab]" in ran.displays[-1]["text/plain"]
        ran = kernel.run("%%chat -m lab:m\nhi")
        assert ran.error
        assert "api_type of [providers.lab]" in ran.error[1]
        told = kernel.ok("rows = %chat doctor\nfor row in rows.itertuples(): print(*row)").out
        assert "api_type of [providers.lab]" in told
