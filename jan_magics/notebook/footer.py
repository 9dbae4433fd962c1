"""The line under every answer: who answered, at what cost, and where in which thread."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from jan_magics.domain.counting import counted
from jan_magics.domain.models import Timings, Usage
from jan_magics.notebook.wording import worded

_JOINER: Final = "\u200d"
_JOINERS: Final = frozenset("\u200c\u200d")
_TITLE_LENGTH: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """What is known of a turn; None and empty pieces are left out of the line.

    `thread` is the title; `sources` says what was retrieved; `counted` says whose the versions
    are; `lines` are further lines, each something the user must know.
    """

    model: str
    usage: Usage | None = None
    estimated: bool = False
    timings: Timings | None = None
    thread: str = ""
    thread_state: Literal["new", "continued"] | None = None
    thread_messages: int | None = None
    version: int = 1
    versions: int = 1
    counted: Literal["answer", "question"] = "answer"
    sees: int | None = None
    total: int | None = None
    trimmed: int | None = None
    covered: int = 0
    cleared: int = 0
    calls: int = 0
    sources: str = ""
    flags: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def footer_text(footer: Footer, *, stable: bool, language: str = "") -> str:
    """Write the footer; a stable one has no times and speeds, and is the same in every run.

    What people have named is kept in every language.
    """
    timings = None if stable else footer.timings
    calls = counted(footer.calls, "tool call") if footer.calls else ""
    said = partial(worded, language=language)
    turn = (_tokens(footer), *_speed(timings), calls)
    groups = (
        " · ".join(filter(None, (one_line(footer.model), *map(said, turn)))),
        " · ".join(filter(None, (_thread(footer, said), said(_version(footer))))),
        said(_sight(footer)),
        said(one_line(footer.sources)),
        ", ".join(filter(None, (said(one_line(flag)) for flag in footer.flags))),
    )
    lines = (" │ ".join(filter(None, groups)), *(said(one_line(line)) for line in footer.lines))
    return "\n".join(filter(None, lines))


def short_title(title: str) -> str:
    """Return a title in one line of at most 40 characters, cut between two of them."""
    title = one_line(title)
    letters = clusters(title)
    if len(letters) <= _TITLE_LENGTH:
        return title
    return "".join(letters[: _TITLE_LENGTH - 1]).rstrip() + "…"


def one_line(text: str) -> str:
    """Turn line breaks into spaces and drop what controls a terminal or the reading direction."""
    kept = (
        " " if c.isspace() else c
        for c in text
        if c.isspace() or c in _JOINERS or unicodedata.category(c) not in {"Cc", "Cf", "Cs"}
    )
    return " ".join("".join(kept).split())


def clusters(text: str) -> list[str]:
    """Cut text into what readers take for characters: a letter with its marks, a joined emoji."""
    found = list[str]()
    for c in text:
        if found and _continues(found[-1], c):
            found[-1] += c
        else:
            found.append(c)
    return found


def _continues(cluster: str, c: str) -> bool:
    flag = all(map(_is_regional, (cluster, c))) if len(cluster) == 1 else False
    return (
        flag
        or c in _JOINERS
        or cluster[-1] == _JOINER
        or unicodedata.category(c) in {"Mn", "Mc", "Me"}
        or "\U0001f3fb" <= c <= "\U0001f3ff"  # skin tones
    )


def _is_regional(c: str) -> bool:
    return "\U0001f1e6" <= c <= "\U0001f1ff"


def _tokens(footer: Footer) -> str:
    usage = footer.usage
    if usage is None or (usage.input is None and usage.output is None):
        return ""
    about = "≈" if footer.estimated else ""
    read, made = (
        "?" if count is None else about + _compact(count) for count in (usage.input, usage.output)
    )
    cached = f" (cached {_compact(usage.cached)})" if usage.cached else ""
    return f"{read}→{made} tok{cached}"


def _compact(number: int) -> str:
    if number < 10_000:
        return str(number)
    if number < 999_950:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def _speed(timings: Timings | None) -> tuple[str, ...]:
    if timings is None:
        return ()
    speed, total = timings.tokens_per_second, timings.total
    return (
        "" if speed is None else f"{speed:.{0 if speed >= 10 else 1}f} tok/s",
        "" if total is None else f"{total:.{1 if total >= 0.1 else 2}f} s",
    )


def _thread(footer: Footer, said: Callable[[str], str]) -> str:
    title, state = short_title(footer.thread), footer.thread_state
    if not title or state is None:
        return title
    count = footer.thread_messages
    more = "" if state == "new" or count is None else f", {counted(count, 'message')}"
    return f"{title}{said(f' ({state}{more})')}"


def _version(footer: Footer) -> str:
    if footer.versions < 2:
        return ""
    return f"{footer.counted} ‹{footer.version}/{footer.versions}›"


def _sight(footer: Footer) -> str:
    if footer.sees is None or footer.total is None or footer.sees >= footer.total:
        return ""
    rest = {
        "trimmed": footer.trimmed, "in a summary": footer.covered, "cleared": footer.cleared,
    }  # fmt: skip
    named = ", ".join(f"{count} {what}" for what, count in rest.items() if count)
    why = f" ({named})" if named else ""
    return f"sees {footer.sees} of {counted(footer.total, 'message')}{why}"
