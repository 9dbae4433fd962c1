"""The session that the engine's tests ask, on both stores."""

from pathlib import Path

import pytest

from tests.engine.compacted import Talk, compacting
from tests.engine.threads import Kernel


@pytest.fixture(params=["sqlite", "jsonl"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Kernel:
    return Kernel(tmp_path, request.param)


@pytest.fixture
def talk(kernel: Kernel) -> Talk:
    return compacting(kernel.folder, kernel.store)
