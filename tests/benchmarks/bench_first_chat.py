"""The first chat, measured in one run: loading, streaming, a whole cell, bytes, interrupting.

    python -m tests.benchmarks.bench_first_chat

Streaming is measured beside one warmed `httpx.Client` with `json.loads`, interleaved; the figures
to read are the ratios. `REQUIRED` are the bounds that the project promises.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.models import ChatRequest, ModelRef
from jan_magics.engine.assemble import new_id, now
from jan_magics.engine.reply import Reply
from jan_magics.notebook.bridge import Bridge
from jan_magics.providers.openai import OpenAIProvider
from tests.benchmarks.claims import RATIO, claimed, quick
from tests.benchmarks.rounds import interleaved, judged
from tests.kernel import Kernel, homes, running_kernel

TOKENS = 2000
ROUNDS, QUICK_ROUNDS = 9, 25
REQUIRED = {"stream": 1.5, "cell": 2.5, "bytes": 500_000, "interrupt": 0.05, "load": 0.1}
UNITS = {"stream": RATIO, "cell": RATIO, "bytes": "B", "updates": ""}
NAMES = {
    "load": "%load_ext in a fresh process", "raw_s": "2,000 tokens, bare httpx",
    "stream": "2,000 tokens by the engine, of bare httpx", "cell": "the whole cell, of bare httpx",
    "paced_s": "2,000 tokens at 100 a second", "bytes": "bytes to the front end for them",
    "updates": "updates of what is shown", "interrupt": "interrupt to idle",
    "interrupt_slow": "interrupt to idle, a slow server",
}  # fmt: skip
LOAD = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import ipykernel.zmqshell
start = time.perf_counter()
shell.run_line_magic("load_ext", "jan_magics")
print(time.perf_counter() - start)
"""


@contextmanager
def server(pause: float, tokens: int = TOKENS) -> Iterator[str]:
    """Run the loopback server; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.sse_server",
        str(port),
        str(tokens),
        str(pause),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def load_seconds() -> float:
    """Load the extension in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", LOAD], check=True, capture_output=True, text=True,
            env=os.environ | {"IPYTHONDIR": folder},
        )  # fmt: skip
    return float(done.stdout.split()[-1])


def rival(client: httpx.Client, address: str) -> int:
    """Read a stream with httpx and json alone; return the characters."""
    body = {"model": "fixed", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    said = 0
    with client.stream("POST", f"{address}/chat/completions", json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                said += len(json.loads(line[6:])["choices"][0]["delta"].get("content") or "")
    return said


def ours(bridge: Bridge, provider: OpenAIProvider) -> int:
    """Read the same stream with the engine, from another thread; return the characters."""
    message = Message(new_id(), "thread", "user", (TextPart("hi"),), now())
    request = ChatRequest(ModelRef("custom", "fixed"), (message,))

    async def read() -> int:
        reply = Reply(lambda _: None, lambda: None)
        await reply.receive(provider, request)
        return len(reply.folding.text())

    return bridge.call(read)


def streaming(report: dict[str, list[float]], folder: Path) -> None:
    """Measure the engine and a whole cell beside the rival, one after the other in each round."""
    with server(0) as address, httpx.Client() as client, kernel(folder, address) as running:
        bridge, provider = Bridge(), OpenAIProvider("custom", address, None)
        assert rival(client, address) == ours(bridge, provider) == 6 * TOKENS
        assert len(running.ok("%%chat\nhi").turn["text"]) == 6 * TOKENS
        ways = {
            "raw": lambda: rival(client, address),
            "engine": lambda: ours(bridge, provider),
            "cell": lambda: running.ok("%%chat\nhi"),
        }
        times = interleaved(ways, QUICK_ROUNDS if quick() else ROUNDS)
        bridge.call(provider.close)
        bridge.close()
    report["raw_s"] = times["raw"]
    report["stream"] = judged(times["engine"], times["raw"])
    report["cell"] = judged(times["cell"], times["raw"])


@contextmanager
def kernel(folder: Path, address: str) -> Iterator[Kernel]:
    """Run a kernel whose model is the loopback server."""
    with running_kernel(folder, JAN_MODEL=f"{address}#fixed", **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        yield running


def pacing(report: dict[str, list[float]], folder: Path) -> None:
    """Count the bytes that a front end gets for tokens at 100 a second."""
    with server(0.01) as address, kernel(folder, address) as running:
        ran = running.ok("%%chat\nhi")
    report["paced_s"] = [ran.seconds]
    report["bytes"] = [sum(len(json.dumps(update)) for update in ran.updates)]
    report["updates"] = [len(ran.updates)]


def interrupting(report: dict[str, list[float]], folder: Path) -> None:
    """Interrupt an answer, with tokens close together and far apart."""
    for name, pause in (("interrupt", 0.02), ("interrupt_slow", 5.0)):
        with server(pause, 400) as address, kernel(folder, address) as running:
            seconds = [running.run("%%chat\nhi", interrupt=1.0).interrupted_after for _ in range(5)]
        report[name] = [each for each in seconds if each is not None]


def main() -> int:
    """Measure everything and print it; of what can be judged at once, streaming alone."""
    report: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        streaming(report, Path(folder))
        if not quick():
            report["load"] = [load_seconds() for _ in range(ROUNDS)]
            pacing(report, Path(folder))
            interrupting(report, Path(folder))
    kept = [
        claimed(NAMES[name], values, UNITS.get(name, "s"), most=REQUIRED.get(name))
        for name, values in report.items()
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
