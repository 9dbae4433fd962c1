"""A program that behaves like llama-server as far as starting and ending it goes.

The weights file says how, behind its first word, which is GGUF: {"mode": MODE, "pid": PATH}. Every
start adds a line to PATH.starts.

MODE is ok, die (at its start), silent, illegal, slow, crash (at a request), wordless (500 without a
body), or the last two with "once": only the first one started does so.
"""

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BORN = time.monotonic()
WORDS = b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\n'


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loading = 0.3
    mode = "ok"

    def do_GET(self) -> None:
        ready = time.monotonic() - BORN > self.loading
        body = b'{"status":"ok"}' if ready else b'{"error":{"message":"Loading model"}}'
        self._say(200 if ready else 503, "application/json", body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.mode == "crash":
            os._exit(134)
        if self.mode == "wordless":
            self._say(500, "text/plain", b"")
            return
        if self.headers["authorization"] != f"Bearer {os.environ['LLAMA_API_KEY']}":
            self._say(401, "application/json", b'{"error":{"message":"Invalid API Key"}}')
        else:
            self._say(200, "text/event-stream", WORDS)

    def _say(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    flags = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
    orders = json.loads(Path(flags["-m"]).read_text().removeprefix("GGUF"))
    pid = Path(orders["pid"])
    pid.with_suffix(".new").write_text(str(os.getpid()))
    pid.with_suffix(".new").rename(pid)  # whoever waits for the file finds the number in it
    starts = pid.with_suffix(".starts")
    with starts.open("a") as log:
        log.write(f"{os.getpid()}\n")
    mode, once, _ = orders["mode"].partition(" once")
    Answers.mode = "ok" if once and len(starts.read_text().split()) > 1 else mode
    if orders["mode"] == "die":
        sys.stderr.write(f"error: unknown model architecture (key {os.environ['LLAMA_API_KEY']})\n")
        sys.exit(3)
    if orders["mode"] == "silent":
        sys.exit(3)
    if orders["mode"] == "illegal":
        os.kill(os.getpid(), signal.SIGILL)
    Answers.loading = 600.0 if orders["mode"] == "slow" else 0.3
    ThreadingHTTPServer(("127.0.0.1", int(flags["--port"])), Answers).serve_forever()


if __name__ == "__main__":
    main()
