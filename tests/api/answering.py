"""A real HTTP server on loopback that answers by what it is asked, several requests at a time."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Said:
    """An answer; with another status than 200 its text is an error's. `seconds` pass before."""

    text: str = "yes"
    status: int = 200
    seconds: float = 0.0
    after: float | None = None
    usage: tuple[int, int] | None = None


@dataclass
class Answering:
    """What was asked: the last prompt and the time of each request, and how many at a time."""

    say: Callable[[str], Said]
    address: str = ""
    prompts: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, body: dict[str, Any]) -> Said:
        prompt = body["messages"][-1]["content"]
        with self._lock:
            self.prompts.append(prompt)
            self.bodies.append(body)
            self.times.append(time.perf_counter())
            self._now += 1
            self.most = max(self.most, self._now)
            said = self.say(prompt)
        time.sleep(said.seconds)
        with self._lock:
            self._now -= 1
        return said


class _Asked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: Answering

    def do_GET(self) -> None:
        self._send(404, b"{}", "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = self.told.ask(body)
        if said.status != 200:
            error = json.dumps({"error": {"message": said.text}}).encode()
            self._send(said.status, error, "application/json", said.after)
            return
        delta = {"choices": [{"delta": {"content": said.text}, "finish_reason": "stop"}]}
        lines = [f"data: {json.dumps(delta)}\n\n"]
        if said.usage:
            read, written = said.usage
            usage = {"prompt_tokens": read, "completion_tokens": written}
            lines.append(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n")
        self._send(200, "".join((*lines, "data: [DONE]\n\n")).encode(), "text/event-stream")

    def _send(self, status: int, body: bytes, kind: str, after: float | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if after is not None:
            self.send_header("retry-after", str(after))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def answering(say: Callable[[str], Said] | Said | None = None) -> Iterator[Answering]:
    """Serve what `say` makes of each prompt."""
    told = Answering(say if callable(say) else lambda _: say or Said())
    made = type("_Made", (_Asked,), {"told": told})
    server = ThreadingHTTPServer(("127.0.0.1", 0), made)
    server.daemon_threads = True
    told.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
