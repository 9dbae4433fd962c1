"""The fixtures that every test relies on."""

import os
import socket

import pytest

from tests.conftest import NetworkUsedError, isolated_environment, require


def test_settings_are_the_tests_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert os.environ["JAN_MODEL"] == "offline:quote"
    assert os.environ["JAN_DATA_FOLDER"].startswith(str(tmp_path_factory.getbasetemp()))


def test_keys_and_settings_do_not_reach_a_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    monkeypatch.setenv("JAN_WINDOW", "10")
    environment = isolated_environment(tmp_path_factory.getbasetemp())
    assert not {"OPENAI_API_KEY", "JAN_WINDOW"} & environment.keys()


def test_the_network_is_off() -> None:
    with socket.socket() as outside, pytest.raises(NetworkUsedError):
        outside.connect(("192.0.2.1", 80))


def test_this_machine_is_reachable() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_missing_things_skip_unless_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAN_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no moon"):
        require("moon", None, "no moon")
    monkeypatch.setenv("JAN_TEST_REQUIRE", "sun,moon")
    with pytest.raises(pytest.fail.Exception, match="no moon"):
        require("moon", None, "no moon")
    require("moon", "present", "no moon")
