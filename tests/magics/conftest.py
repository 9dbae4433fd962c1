"""A kernel that the tests of a file share, with the offline model and folders of its own."""

from collections.abc import Iterator

import pytest

from tests.kernel import Kernel, homes, running_kernel


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = tmp_path_factory.mktemp("kernel")
    with running_kernel(folder, JAN_MODEL="offline:echo", **homes(folder)) as running:
        running.ok("%load_ext jan_magics")
        yield running


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """Begin a thread."""
    shared.ok("%chat new")
    return shared
