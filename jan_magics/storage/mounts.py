"""Which kind of file system a folder is on: WAL needs shared memory, which a network has not."""

import os
import re
from pathlib import Path
from typing import Final

_TABLE: Final = Path("/proc/self/mountinfo")
_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "virtiofs", "glusterfs", "lustre",
     "fuse.sshfs", "fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.davfs",
     "davfs", "fuse.vmhgfs-fuse", "vboxsf", "prl_fs", "beegfs", "gpfs"}
)  # fmt: skip


def network_of(path: Path) -> str | None:
    """Return the kind of network file system that a path is on, None for a local one.

    Linux says so in a table; on Windows a path that begins with two backslashes is a share.
    Elsewhere nothing tells without starting a program, and the answer is None.
    """
    full = Path(os.path.abspath(path))  # noqa: PTH100 (a path that may not exist yet)
    if str(full).startswith("\\\\"):
        return "smb"
    try:
        table = _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    kind = kind_in(table, full.resolve())
    return kind if kind in _NETWORK else None


def kind_in(table: str, path: Path) -> str:
    """Find the file system of a path in a table of mounts, as Linux writes it."""
    best, kind = -1, ""
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields, types = left.split(), right.split()
        if len(fields) < 5 or not types:
            continue
        # Spaces in names are written as octal numbers.
        point = Path(re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), fields[4]))
        # Of two mounts at one place the later hides the earlier.
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), types[0]
    return kind
