"""The session that the engine's tests ask, on both stores."""

from pathlib import Path

import pytest

from tests.engine.threads import Kernel


@pytest.fixture(params=["sqlite", "jsonl"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Kernel:
    return Kernel(tmp_path, request.param)
