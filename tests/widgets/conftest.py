"""A kernel that believes it runs behind a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kernel import Kernel, homes, running_kernel


@contextmanager
def watched_kernel(folder: Path) -> Iterator[Kernel]:
    """Start a kernel as a Jupyter server does, its data in a folder of its own."""
    notebook = str(folder / "n.ipynb")
    with running_kernel(folder, **homes(folder), JPY_SESSION_NAME=notebook) as running:
        running.ok("%load_ext jan_magics")
        yield running


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    """A kernel of the test's own."""
    with watched_kernel(tmp_path) as running:
        yield running
