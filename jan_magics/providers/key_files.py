"""Where keys are kept: a file of the user's own, and the system's keyring. Shows none of them."""

import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from jan_magics.domain.errors import KeyRefused, SettingError

FILE_NAME: Final = "keys.toml"
SERVICE: Final = "jan-magics"

Held: TypeAlias = Mapping[str, tuple[str, ...]]
"""Keys by the provider or origin that they are for, in the order in which they are tried."""


def read_keys(folder: Path) -> Held:
    """Return the keys of a folder's file, none where there is none.

    Raises:
        KeyRefused: when it is readable by others.
        SettingError: when it cannot be read.
    """
    path = folder / FILE_NAME
    try:
        with path.open("rb") as file:
            # Asked of the open file, so that nobody can put another one in its place in between.
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise KeyRefused(
                    f"{path} can be read by other users of this machine",
                    f'Type: !chmod 600 "{path}"   (and renew its keys, if others had access)',
                )
            table = tomllib.load(file).get("keys", {})
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(
            f"{path} cannot be read", 'Mend it: under [keys], lines like openai = "…"'
        ) from error
    if not isinstance(table, dict):
        return {}
    return {name: found for name, value in table.items() if (found := _several(value))}


def write_keys(folder: Path, entries: Held) -> Path:
    """Write the file of a folder anew, readable by its owner only; returns where it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)} = {_written(keys)}" for name, keys in sorted(entries.items())]
    path = folder / FILE_NAME
    # mkstemp makes the file with mode 0600, so that the key is never readable, not even briefly.
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".keys-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("\n".join(("[keys]", *lines, "")))
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def ask_keyring(name: str) -> str | None:
    """Return the key that the system's keyring has under a name."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(SERVICE, name)
    except (KeyringError, RuntimeError, OSError, ValueError):
        # A locked or broken keyring is the same as none: the file comes next.
        return None


def _several(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(each for each in listed if isinstance(each, str) and each.strip())


def _written(keys: tuple[str, ...]) -> str:
    return json.dumps(keys[0] if len(keys) == 1 else list(keys))
