"""Old texts of assistants become new ones, step by step; what a user edited is never touched."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.domain.errors import StoreError
from jan_magics.domain.messages import Json
from jan_magics.engine.assistants import VERSION_FILE, Assistants
from jan_magics.storage.files import replace_file, translated


@dataclass(frozen=True, slots=True)
class Migration:
    """A step to `version`: instructions that are exactly `old` become `new`.

    `parameters` are set where the assistant has none of that name.
    """

    version: int
    old: str
    new: str
    parameters: Mapping[str, Json] = field(default_factory=dict)


MIGRATIONS: Final[tuple[Migration, ...]] = ()
"""The texts that we have shipped and changed since: none so far, the default has no text."""


def migrate(assistants: Assistants, table: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring a folder's assistants to the newest version, and return the version they have.

    A version from the future is left alone. The version is written when a step's files are.

    Raises:
        StoreError: when a file cannot be written; that step is done again the next time.
    """
    version = version_of(assistants)
    if not assistants.folder.is_dir():
        return version
    for step in sorted(table, key=lambda each: each.version):
        if step.version <= version:
            continue
        for row in assistants.rows():
            assistant = row.assistant
            # Exactly the old text: one more word is the user's, and the text stays theirs.
            if row.path and not row.fault and assistant.instructions == step.old:
                parameters = {**step.parameters, **assistant.parameters}
                changed = replace(assistant, instructions=step.new, parameters=parameters)
                assistants.save(changed, row.path)
        version = step.version
        path = assistants.folder / VERSION_FILE
        with translated(path):
            replace_file(path, f"{version}".encode())
    return version


def bring_up_to_date(assistants: Assistants) -> None:
    """Migrate what can be written; a folder that cannot be is still good to read."""
    with suppress(StoreError):
        migrate(assistants)


def version_of(assistants: Assistants) -> int:
    """Return the version of a folder: the number that its file begins with, else 0."""
    path = assistants.folder / VERSION_FILE
    with translated(path):
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
    number = re.match(r"\s*[+-]?\d+", text)
    return int(number[0]) if number else 0
