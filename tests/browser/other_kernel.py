"""A kernel of another language: it repeats what it is told, and knows nothing of chats."""

import json
import sys
from pathlib import Path
from typing import Any

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

NAME = "parrot"


class Parrot(Kernel):
    """Says everything once more."""

    implementation = NAME
    implementation_version = "1"
    banner = NAME
    language_info = {"name": NAME, "mimetype": "text/plain", "file_extension": ".txt"}  # noqa: RUF012

    async def do_execute(self, code: str, silent: bool, *_: Any, **__: Any) -> dict[str, Any]:
        """Repeat a cell."""
        if not silent:
            said = {"name": "stdout", "text": code}
            self.send_response(self.iopub_socket, "stream", said)  # type: ignore[no-untyped-call]  # ipykernel's own
        return {"status": "ok", "execution_count": self.execution_count, "payload": []}


def install(data: Path) -> None:
    """Let a Jupyter server find it in its data folder."""
    folder = data / "kernels" / NAME
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(Path(__file__)), "-f", "{connection_file}"]
    about = {"argv": command, "display_name": "Parrot", "language": NAME}
    (folder / "kernel.json").write_text(json.dumps(about), encoding="utf-8")


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=Parrot)
