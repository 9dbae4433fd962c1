"""Run a server for as long as the process that started this one lives. Standard library only.

A process that is killed cannot clean up, so this one does it: its standard input is a pipe from
that process, and the end of the pipe is the end of the server. It is started as a file, in a
process group of its own, so that neither Ctrl-C nor a kill of the kernel's group reaches it.
With `--talking` the pipe is the server's own standard input, and the end of that process alone
counts.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence

_GRACE = 2.0  # seconds between asking the server to end and killing it
_TALKING = "--talking"


def main(command: Sequence[str]) -> int:
    """Run the command until it ends or the pipe does; return its status as a shell would."""
    parent = os.getppid()
    talking = command[0] == _TALKING
    given, command = (None, command[1:]) if talking else (subprocess.DEVNULL, command)
    server = subprocess.Popen(command, stdin=given)  # noqa: S603 - the kernel's own
    ended = threading.Event()
    if not talking:
        threading.Thread(target=_watch, args=(ended,), daemon=True).start()
    while server.poll() is None:
        # A process that the kernel forked may hold the pipe open after the kernel's death.
        if ended.wait(0.05) or os.getppid() != parent:
            _end(server)
    status = server.returncode
    return 128 - status if status < 0 else status


def _watch(ended: threading.Event) -> None:
    while os.read(0, 1024):
        continue
    ended.set()


def _end(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(_GRACE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
