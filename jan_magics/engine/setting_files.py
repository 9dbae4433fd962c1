"""The files of settings as they are on disk: TOML, or what cannot be read as such."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from jan_magics.domain.errors import SettingError
from jan_magics.engine.setting_list import SETTINGS


class Unread(Exception):
    """Carry a file that is no TOML, and its text as far as it can be read."""

    def __init__(self, path: Path, fault: Exception, text: str) -> None:
        super().__init__(path.name)
        self.path = path
        self.fault = SettingError(
            f"{path.name} cannot be read: {fault}", f"Mend or remove the file {str(path)!r}"
        )
        # What cannot be read at all may hold any setting.
        self.text = text or " ".join(each.name for each in SETTINGS)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a file says; its tables are shared. Raises Unread when it is not TOML."""
    text = ""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8", "replace")
        return _parsed(content)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise Unread(path, fault, text) from fault


@lru_cache(maxsize=8)  # the same file is read before every request
def _parsed(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.decode())
