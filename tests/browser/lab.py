"""One JupyterLab server in an environment of its own, started and stopped."""

import contextlib
import json
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.browser import other_kernel
from tests.conftest import isolated_environment

START_TIMEOUT = 60
# Parts of JupyterLab that no test looks at; they take a third of the time in which a page loads.
LEFT_OUT = (
    *(f"@jupyterlab/{name}-extension" for name in (
        "audio", "celltags", "csvviewer", "debugger", "extensionmanager", "help", "htmlviewer",
        "hub", "imageviewer", "logconsole", "lsp", "metadataform", "pluginmanager", "terminal",
        "tooltip", "video",
    )),
    "@jupyterlab/notebook-extension:export",  # asks the server for every format of nbconvert
)  # fmt: skip


@dataclass(frozen=True)
class Lab:
    """A running server: where its notebooks lie, and the address and token to reach it."""

    root: Path
    url: str
    token: str

    @property
    def data(self) -> Path:
        """Return where the server keeps its data, such as which notebooks are trusted."""
        return self.root.parent / "data"

    def say_in(self, language: str) -> None:
        """Let pages that are opened from now on speak a language: "default", "zh_CN"."""
        _write_settings(self.root.parent, "translation-extension", "plugin", {"locale": language})

    def link(self, notebook: str) -> str:
        """Give the address that opens a notebook in a fresh workspace."""
        return f"{self.url}/lab/tree/{notebook}?token={self.token}&reset"

    def link_beside(self, notebook: str) -> str:
        """Give the same in a workspace of its own: two pages in one would be loaded twice."""
        return f"{self.url}/lab/workspaces/beside/tree/{notebook}?token={self.token}&reset"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _environment(folder: Path, token: str) -> dict[str, str]:
    """Keep the server away from the user's settings, kernels, workspaces and history."""
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {name: str(folder / place) for name, place in places.items()}
    return isolated_environment(folder / "jan") | own | {"JUPYTER_TOKEN": token}


def _write_settings(folder: Path, extension: str, name: str, values: dict[str, object]) -> None:
    file = folder / "settings" / "@jupyterlab" / extension / f"{name}.jupyterlab-settings"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), encoding="utf-8")


def _leave_out(folder: Path) -> None:
    config = folder / "config" / "labconfig" / "page_config.json"
    config.parent.mkdir(parents=True)
    left_out = dict.fromkeys(LEFT_OUT, True)
    config.write_text(json.dumps({"disabledExtensions": left_out, "buildCheck": False}))


def _command(root: Path, port: int) -> list[str]:
    never = "jupyterlab.handlers.announcements.NeverCheckForUpdate"
    return [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--ServerApp.root_dir={root}", "--ServerApp.allow_root=True"),
        "--JupyterNotebookApp.expose_app_in_browser=True",  # Notebook 7, where it is installed
        *("--LabApp.news_url=None", f"--LabApp.check_for_updates_class={never}"),
    ]


def _wait_until_up(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{lab.url}/api/status", params={"token": lab.token}).is_success:
                return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")


@contextlib.contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    """Run JupyterLab on a free port, with its notebooks and everything else under a folder."""
    root, log = folder / "notebooks", folder / "lab.log"
    root.mkdir()
    other_kernel.install(folder / "data")
    _leave_out(folder)
    # Without this a pop-up about news covers the page, whatever news_url says.
    _write_settings(folder, "apputils-extension", "notification", {"fetchNews": "false"})
    port, token = _free_port(), secrets.token_hex(16)
    lab = Lab(root, f"http://127.0.0.1:{port}", token)
    with log.open("wb") as output:
        server = subprocess.Popen(
            _command(root, port), env=_environment(folder, token), stdout=output, stderr=output
        )
    try:
        _wait_until_up(lab, server, log)
        yield lab
    finally:
        server.terminate()  # on SIGTERM it ends its kernels too
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
