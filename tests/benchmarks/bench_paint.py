"""A long answer as a browser paints it: frames, work of the page's main thread, bytes on the wire.

    python -m tests.benchmarks.bench_paint

The same stream of tokens is shown as a turn, and beside it as what people write by hand: a display
of Markdown that is updated with every token. Both run in one JupyterLab, one after the other; the
figures to read are the ratios. `REQUIRED` is what the project promises of bytes.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, WebSocket, sync_playwright

from tests.benchmarks.bench_first_chat import server
from tests.browser import notebook as notebooks
from tests.browser.conftest import FLAGS, SIZE
from tests.browser.lab import Lab, running_lab
from tests.browser.notebook import OpenNotebook

TOKENS = 2000
PAUSE = 0.004
"""Seconds between two tokens."""
ROUNDS = 3
REQUIRED = {"bytes": 270_000}
FRAME_MS = 1000 / 60
TIMES = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
LOAD = "%load_ext jan_magics"
BY_HAND = """
import json
import httpx
from IPython.display import Markdown, display
body = {{"model": "fixed", "stream": True, "messages": [{{"role": "user", "content": "hi"}}]}}
shown, text = display(Markdown(""), display_id=True), ""
with httpx.stream("POST", "{address}/chat/completions", json=body, timeout=60) as response:
    for line in response.iter_lines():
        if line.startswith("data: {{"):
            choices = json.loads(line[6:])["choices"]
            text += choices[0]["delta"].get("content") or ""
            shown.update(Markdown(text))
"""
FRAMES = """() => {
  window.frames_seen = [];
  const next = now => { window.frames_seen.push(now); requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
PAINTED = """wanted => (document.querySelector('.jp-Cell[data-windowed-list-index="0"]')
  .querySelector('.jp-OutputArea')?.innerText.match(/token/g) ?? []).length >= wanted"""


@dataclass(frozen=True)
class Measured:
    """What one answer cost: seconds of the main thread, frames that were missing, bytes."""

    seconds: Mapping[str, float]
    dropped: int
    frames: int
    received: int

    @property
    def line(self) -> str:
        """Return the numbers as they are printed."""
        times = " · ".join(f"{name[:-8]} {self.seconds[name]:.2f} s" for name in TIMES)
        share = self.dropped / max(1, self.dropped + self.frames)
        return f"{times} · dropped {self.dropped} ({share:.0%}) · {self.received / 1000:,.0f} kB"


def metrics(session: CDPSession) -> dict[str, float]:
    """Return the counters of the page's main thread."""
    found = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in found}


def measure(page: Page, lab: Lab, name: str, cell: str) -> Measured:
    """Run a cell in a fresh page, and see what its answer costs that page."""
    received: list[int] = []

    def follow(socket: WebSocket) -> None:
        socket.on("framereceived", lambda payload: received.append(len(payload)))

    page.on("websocket", follow)
    notebooks.write(lab.root / name, [cell, LOAD])
    opened = OpenNotebook.open(page, lab, name)
    opened.run(1)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.evaluate(FRAMES)
    received.clear()
    before = metrics(session)
    opened.run(0)
    page.wait_for_function(PAINTED, arg=TOKENS)
    after = metrics(session)
    seen: list[float] = page.evaluate("window.frames_seen")
    gaps = [two - one for one, two in pairwise(seen)]
    dropped = sum(max(0, round(gap / FRAME_MS) - 1) for gap in gaps)
    opened.close_kernel()
    seconds = {each: after[each] - before[each] for each in TIMES}
    return Measured(seconds, dropped, len(seen), sum(received))


def rounds(browser: Browser, lab: Lab, address: str) -> dict[str, list[Measured]]:
    """Measure both, interleaved."""
    cells = {
        "turn": f"%%chat -m {address}#fixed --max-tokens 4000\nGo on.",
        "by hand": BY_HAND.format(address=address),
    }
    found: dict[str, list[Measured]] = {name: [] for name in cells}
    for n in range(ROUNDS):
        for name, cell in cells.items():
            context = browser.new_context(viewport=SIZE)
            page = context.new_page()
            page.set_default_timeout(180_000)
            measured = measure(page, lab, f"{name.replace(' ', '-')}-{n}.ipynb", cell)
            print(f"{name:8} {measured.line}")
            found[name].append(measured)
            context.close()
    return found


def main() -> None:
    """Print the figures of every round, and the ratios of the best."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_lab(Path(folder)) as lab,
        server(PAUSE, TOKENS) as address,
        sync_playwright() as playwright,
    ):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        found = rounds(browser, lab, address)
        browser.close()
    best = {
        name: {
            "main thread": min(each.seconds["TaskDuration"] for each in rows),
            "dropped": min(each.dropped for each in rows),
            "bytes": min(each.received for each in rows),
        }
        for name, rows in found.items()
    }
    ratios = {
        name: best["turn"][name] / best["by hand"][name] if best["by hand"][name] else None
        for name in best["turn"]
    }
    kept = best["turn"]["bytes"] <= REQUIRED["bytes"]
    print(json.dumps({"best": best, "turn / by hand": ratios, "bytes kept": kept}, indent=1))


if __name__ == "__main__":
    main()
