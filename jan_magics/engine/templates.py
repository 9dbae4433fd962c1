r"""`{{current_date}}` and its like in instructions, filled in at every send. Pure.

`\{{` is a pair of braces that stays as it is; a name that is no template stays as text.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

NAMES: Final = ("current_date", "current_time", "timezone", "notebook", "model")
VOLATILE: Final = frozenset({"current_time"})
"""What differs from one turn to the next; the others keep the beginning of a prompt the same."""
_NAME: Final = re.compile(r"\\\{\{|\{\{\s*([A-Za-z_]\w*)\s*\}\}")
"""Escaped braces, or a name in braces."""
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Facts:
    """What the names stand for; `now` is in the zone of the user."""

    now: datetime
    notebook: str
    model: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """Filled instructions: `stable` goes first, the lines of `volatile` before the newest prompt.

    `unknown` are names in braces that stand for nothing, as they were written.
    """

    stable: str
    volatile: str = ""
    unknown: tuple[str, ...] = ()


def render(text: str, facts: Facts) -> Rendered:
    """Fill a text in; whole lines with a volatile name are taken out of it."""
    values = values_of(facts)
    unknown = dict.fromkeys(
        found[1] for found in _NAME.finditer(text) if found[1] and not is_template(found[1])
    )
    stable, volatile = _parted(text)
    return Rendered(_filled(stable, values), _filled(volatile, values), tuple(unknown))


def values_of(facts: Facts) -> Mapping[str, str]:
    """Return the text of every name."""
    now = facts.now
    return {
        "current_date": f"{_MONTHS[now.month - 1]} {now.day}, {now.year}",
        "current_time": f"{now:%H:%M}",
        "timezone": _zone(now),
        "notebook": facts.notebook,
        "model": facts.model,
    }


def escaped(text: str) -> str:
    """Return a text that renders as itself."""
    return text.replace("{{", r"\{{")


def is_template(name: str) -> bool:
    """Tell whether a name between braces is one of ours, in any case."""
    return name.strip().lower() in NAMES


def nearest(name: str) -> str | None:
    """Return the template name that was most likely meant."""
    return next(iter(difflib.get_close_matches(name.lower(), NAMES, 1)), None)


def _parted(text: str) -> tuple[str, str]:
    """Take the lines with a volatile name out; a name may itself span lines."""
    kept, taken, at = list[str](), list[str](), 0
    for found in _NAME.finditer(text):
        if (found[1] or "").lower() not in VOLATILE or found.start() < at:
            continue
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        kept.append(text[at:start])
        taken.append(text[start:end])
        at = min(end + 1, len(text))
    if not taken:
        return text, ""
    return "".join((*kept, text[at:])).rstrip("\n"), "\n".join(taken)


def _filled(text: str, values: Mapping[str, str]) -> str:
    def fill(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][1:]
        return values.get(found[1].lower(), found[0])

    return _NAME.sub(fill, text)


def _zone(now: datetime) -> str:
    """Return the name of a zone: Europe/Berlin, or what the system calls it with its offset."""
    if isinstance(now.tzinfo, ZoneInfo) and now.tzinfo.key:
        return now.tzinfo.key
    offset = f"{now:%z}"
    return f"{now.tzname()} (UTC{offset[:3]}:{offset[3:5]})"
