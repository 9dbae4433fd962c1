"""Which file system a path is on."""

from pathlib import Path

import pytest

from jan_magics.storage.mounts import kind_in, network_of

TABLE = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw,nosuid shared:2 - proc proc rw
40 22 0:50 / /shares rw shared:3 - nfs4 server:/shares rw,vers=4.2
41 40 0:51 / /shares/me/my\040disk rw - fuse.sshfs me@host: rw
42 22 254:1 / /data rw - xfs /dev/vdb rw
43 22 0:52 / /data rw - cifs //server/data rw
a line that is torn
"""
KINDS = [
    ("/srv/x", "ext4"),
    ("/shares/me/jan", "nfs4"),
    ("/sharesomething", "ext4"),
    ("/shares/me/my disk/a", "fuse.sshfs"),
    ("/data", "cifs"),
]


@pytest.mark.parametrize(("path", "kind"), KINDS)
def test_the_nearest_mount_counts(path: str, kind: str) -> None:
    assert kind_in(TABLE, Path(path)) == kind


def test_an_empty_table_says_nothing() -> None:
    assert kind_in("", Path("/srv")) == ""


def test_the_tests_run_on_a_local_disk(tmp_path: Path) -> None:
    assert network_of(tmp_path / "not there yet" / "x") is None
