"""Which ids a thread may have: each is a folder name on every system, and never a path."""

import re
from typing import Final

from jan_magics.domain.errors import StoreError

_ID: Final = re.compile(r"(?!.*\.$)[A-Za-z0-9_.-]{1,128}")
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def is_thread_id(text: str) -> bool:
    """Tell whether a text can be the id of a thread.

    Windows drops a dot at the end and opens a device for names such as `con` and `aux.txt`.
    """
    return bool(_ID.fullmatch(text)) and not _DEVICE.fullmatch(text)


def check_thread_id(text: str) -> None:
    """Refuse what cannot be the id of a thread.

    Raises:
        StoreError: for a path, a device name, or other characters than letters, digits, `_.-`.
    """
    if not is_thread_id(text):
        raise StoreError(
            f"{text!r} cannot be the id of a thread",
            "Use 1 to 128 letters, digits, dots, dashes or underscores; any title is fine",
        )
