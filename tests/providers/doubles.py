"""A program that stands for llama-server and behaves as it is told."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from jan_magics.domain.events import Finish, StreamEvent
from jan_magics.providers.local import LocalServer
from tests.providers import fake_server


def pretending(folder: Path, mode: str) -> tuple[LocalServer, Path]:
    """Return a server of a program that behaves so, and the file that its starts are noted in."""
    program, weights, pid = folder / "llama-server", folder / "tiny.Q4.gguf", folder / "pid"
    program.write_text(f"#!{sys.executable}\n{Path(fake_server.__file__).read_text()}")
    program.chmod(0o700)
    weights.write_text("GGUF" + json.dumps({"mode": mode, "pid": str(pid)}))
    return LocalServer(weights=weights, program=program), pid.with_suffix(".starts")


def untimed(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    """Return events without the times of an answer, which differ from run to run."""
    return [Finish(e.reason, e.usage) if isinstance(e, Finish) else e for e in events]
