"""Generated histories, and a tokenizer whose counts can be checked by eye."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from jan_magics.context.budget import Budget
from jan_magics.context.plan import Terms
from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import Profile
from jan_magics.domain.overlays import Hidden, Mark, Overlay, SegmentCut, Summary, TrimCut, Undone
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.profiles import TEMPLATE

EXAMPLES = int(os.environ.get("JAN_SOAK_HISTORIES", "5000"))
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Letters:
    """A token a letter, and two a message."""

    name: str = "letters"
    exact: bool = True

    def count(self, text: str) -> int:
        return len(text)

    def overhead(self, role: Role) -> int:
        return 2

    def image(self, part: FilePart) -> int:
        return 10


def say(identifier: str, role: Role, text: str, *more: Part) -> Message:
    at = START + timedelta(seconds=int(identifier.strip("mqa") or 0))
    return Message(identifier, "t", role, (TextPart(text), *more), at)


def talk(turns: int, size: int = 10) -> tuple[Message, ...]:
    """Return questions q0, q1, … and answers a0, a1, …; the last question has no answer."""
    said = []
    for n in range(turns):
        said += [say(f"q{n}", "user", f"{n:>{size}}"), say(f"a{n}", "assistant", f"{n:>{size}}")]
    return tuple(said[:-1])


def terms(
    window: int | None, *, system: str = "", profile: Profile = TEMPLATE, **fields: object
) -> Terms:
    """Return terms under which a token is a letter; nothing is kept back unless it is said."""
    known = {"reserve_output": 0, "safety": 1.0} | fields
    budget = Budget(window=window, **known)  # type: ignore[arg-type]
    return Terms(budget, Letters(), Cleaner(profile), model="m:m", system=system)


_words = st.sampled_from(["", " ", "a", "must keep 42 kg", "数据在 a.csv 里", "🦊🦊", "x" * 30])


@st.composite
def histories(draw: st.DrawFn) -> tuple[tuple[Message, ...], tuple[Overlay, ...]]:
    """Draw a path that ends in a question, and records of it, also of messages not on it."""
    roles = draw(
        st.lists(st.sampled_from(["user", "assistant", "assistant", "system"]), max_size=12)
    )
    path = [_message(draw, n, role) for n, role in enumerate(roles)]
    path.append(say(f"m{len(path)}", "user", draw(_words)))
    ids = [message.id for message in path] + ["elsewhere"]
    one = st.sampled_from(ids)
    change = st.sampled_from(["c0", "c1", "c2"])
    actions = st.sampled_from(["keep", "drop", "pin", "summarise"])
    records = st.one_of(
        st.builds(Hidden, one, st.booleans()),
        st.builds(SegmentCut, one, change),
        st.builds(Mark, one, actions, one, change),
        st.builds(TrimCut, one, st.just("m:m"), st.sampled_from([60, 120])),
        st.builds(Undone, change),
        st.tuples(st.integers(0, len(path) - 1), change).map(
            lambda each: Summary(
                ids[each[0]], "told", {"paths": ("a.csv",)}, tuple(ids[: each[0] + 1]), each[1]
            )
        ),
    )
    drawn = draw(st.lists(records, max_size=6))
    # The prompt is new: nothing was decided about it yet.
    return tuple(path), tuple(each for each in drawn if not _about(each, path[-1].id))


def _about(record: Overlay, identifier: str) -> bool:
    named = (getattr(record, "id", ""), getattr(record, "upto", ""))
    return identifier in named or identifier in getattr(record, "covers", ())


def _message(draw: st.DrawFn, n: int, role: str) -> Message:
    parts: list[Part] = [TextPart(text) for text in draw(st.lists(_words, max_size=2))]
    if role == "assistant":
        for call in range(draw(st.integers(0, 2))):
            parts.append(ToolCallPart(f"{n}.{call}", "look", '{"at": 1}'))
            if draw(st.booleans()):
                parts.append(ToolResultPart(f"{n}.{call}", "look", draw(_words)))
    extra = {"status": draw(st.sampled_from(["ready", "truncated", "stopped"]))}
    shown = extra if draw(st.integers(0, 9)) == 0 else {}
    return Message(f"m{n}", "t", role, tuple(parts), START + timedelta(seconds=n), extra=shown)  # type: ignore[arg-type]


def prefixes(path: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Return the beginnings of a path that end in a question, the shortest first."""
    ends = [n for n, message in enumerate(path, 1) if message.role == "user"]
    return [tuple(path[:end]) for end in ends]
