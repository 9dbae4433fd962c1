"""A finished turn with what its footer says beside it; nothing is told twice."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from jan_magics.domain.counting import counted as number
from jan_magics.domain.messages import Message, ReasoningPart, Thread, text_of
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.asks import Ask, Turn
from jan_magics.engine.choose import FLAG, REMEMBERED, USE, Choice
from jan_magics.engine.records import model_of
from jan_magics.engine.sight import sight_lines
from jan_magics.engine.spots import Spot, later_messages

Counted: TypeAlias = Literal["answer", "question"]

BUSY: Final = (
    "the question before is being answered in another kernel, and this one stands beside it"
    " · back: %chat undo"
)
_OF_THREAD: Final = re.compile(r"%chat (?=(?:resume|retry|undo|compact|clear|budget|plan|tree)\b)")
TWICE: Final = (
    "the question is being answered in another kernel too, and this answer stands beside that one"
    " · back: %chat undo"
)
ANSWER: Final[Literal["answer"]] = "answer"
SILENT: Final = frozenset({"error", "stopped", "tools", "max_steps"})
"""How an answer ends that need not say anything."""
_NAMED: Final = 5
"""Numbers that a line names; more are not read."""
_OBVIOUS: Final = (FLAG, USE, REMEMBERED)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished turn, and what its footer says beside it.

    `version` of `versions` is the answer's, or where it has no other the question's: `counted`
    says which. `state` is "new" or "continued" at the first turn of this kernel in that thread.
    """

    turn: Turn
    version: int
    versions: int
    state: Literal["new", "continued"] | None
    messages: int
    flags: tuple[str, ...]
    lines: tuple[str, ...]
    counted: Counted = "answer"


@dataclass(slots=True)
class Telling:
    """What this kernel has told already: lines, and by thread who answered last.

    `news` give lines that the next footer tells, "" where there is nothing to tell any more.
    """

    answered_by: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    news: list[Callable[[], str]] = field(default_factory=list)

    def outcome(
        self, turn: Turn, ask: Ask, choice: Choice, *, new: bool, notes: Sequence[str],
        elsewhere: bool,
    ) -> Outcome:  # fmt: skip
        """Return a turn with its footer's facts; `elsewhere`: the next cell goes not there."""
        before = self.answered_by.get(turn.thread.id)
        beside = ask.spot.where == "beside"
        length = len(ask.index.path_to(ask.spot.message) if beside else ask.index.path()) - beside
        rooted = ask.spot.where == "root"
        state: Literal["new", "continued"] | None = None
        if before is None:
            # A new branch at the root sees nothing of what the thread holds.
            state = "new" if new or not length or rooted else "continued"
        news = filter(None, [tell() for tell in self.news])
        lines = [*news, *(n for n in (*notes, *ask.notes) if n not in self.told)]
        shown = bool(turn.answer.parts) or turn.finish not in ("error", "stopped")
        if shown:  # a failure without a word has no footer that could tell it
            self.news.clear()
            self.told.update(lines)
        if before != str(choice.model) and choice.why not in _OBVIOUS:
            lines.append(f"why {choice.model}: {choice.why}")
        own = list(
            () if turn.stored else (*_left_behind(ask), *_nothing_said(turn), *_unfinished(turn))
        )
        own.extend(_naming_nothing(turn))
        own.extend(ask.attached.notes if ask.attached and not turn.stored else ())
        own.extend(_still_missing(ask, lines))
        own.extend(line for key, line in sight_lines(turn) if self._is_new(key))
        lines.extend(named_in(line, turn.thread) if elsewhere else line for line in own)
        if shown:
            self.answered_by[turn.thread.id] = str(choice.model)
        version, versions, counted = (1, 1, ANSWER) if rooted else version_of(turn)
        told = _flags(turn, ask), tuple(lines)
        return Outcome(turn, version, versions, state, length, *told, counted)

    def _is_new(self, key: str) -> bool:
        """Tell whether something was not told yet, and note that it is now."""
        new = key not in self.told
        self.told.add(key)
        return new


def named_in(text: str, thread: Thread) -> str:
    """Let the commands of a text that act on the thread in use first go to another one."""
    name = thread.title or thread.id[:8]
    shown = name if re.fullmatch(r"[\w.-]+", name) else repr(name)
    return _OF_THREAD.sub(f"%chat use -t {shown}   then: %chat ", text, count=1)


def version_of(turn: Turn) -> tuple[int, int, Counted]:
    """Return which version an answer is and of how many, else the question's with a new wording."""
    index = turn.index
    if turn.answer.id not in index:
        return 1, 1, ANSWER
    version, versions = index.version(turn.answer.id)
    if versions > 1 or turn.question.id not in index:
        return version, versions, ANSWER
    version, versions = index.version(turn.question.id)
    return version, versions, ANSWER if versions == 1 else "question"


def _still_missing(ask: Ask, lines: Sequence[str]) -> list[str]:
    """Name shortly what is not offered at this turn either, where no line says why."""
    told = [name for name in ask.bench.missing if not any(name in line for line in lines)]
    return [f"not offered: {', '.join(told)} · why: %chat tools"] if told else []


def _nothing_said(turn: Turn) -> list[str]:
    """Say that an answer has no text: an empty place would look like a fault of the display."""
    if turn.finish in SILENT or text_of(turn.answer).strip():
        return []
    what = "the model only thought" if _thought(turn) else "the model said nothing"
    return [f"{what}: the answer has no text · once more: %chat retry"]


def _naming_nothing(turn: Turn) -> list[str]:
    """Say which numbers of an answer name none of the sources that were sent for it."""
    if turn.given is None:
        return []
    from jan_magics.rag.citations import cite  # only a turn with sources loads it

    hits = turn.given.hits
    unknown = list(dict.fromkeys(mark.n for mark in cite(text_of(turn.answer), hits).unknown))
    if not unknown:
        return []
    named = ", ".join(f"[{n}]" for n in unknown[:_NAMED]) + (", …" if unknown[_NAMED:] else "")
    does, were = "names" if len(unknown) == 1 else "name", "was" if len(hits) == 1 else "were"
    return [f"{named} {does} no source: {number(len(hits), 'source')} {were} sent"]


def _unfinished(turn: Turn) -> list[str]:
    """Say that the model wanted to go on, and how it may."""
    if turn.finish != "max_steps":
        return []
    return [f"ended after {number(turn.steps, 'step')}, as --max-steps says · go on: %chat resume"]


def _thought(turn: Turn) -> bool:
    return any(isinstance(part, ReasoningPart) for part in turn.answer.parts)


def _left_behind(ask: Ask) -> list[str]:
    """Say how many later messages stay on the branch that a run leaves."""
    if ask.spot.busy:
        return [TWICE if ask.spot.where == "again" else BUSY]
    if ask.spot.where == "beside":
        return ["the question before got no answer and is not sent · back: %chat undo"]
    count = later_messages(ask.index, ask.spot)
    if not count:
        return []
    messages = "message stays" if count == 1 else "messages stay"
    place = _left_version(ask.index, ask.spot)
    return [f"{count} later {messages} on {place} · back: %chat undo"]


def _left_version(index: TreeIndex, spot: Spot) -> str:
    """Name the version that the path took where the turn turns off."""
    trail = index.path_to(spot.message)
    kept = {message.id for message in (trail[:-1] if spot.where == "edit" else trail)}
    left = next(message for message in index.path() if message.id not in kept)
    return f"{'question' if left.role == 'user' else 'answer'} {index.version(left.id)[0]}"


def _flags(turn: Turn, ask: Ask) -> tuple[str, ...]:
    before = [model for message in _before(ask) if (model := model_of(message))]
    flags = {
        "error": turn.finish == "error",
        "stopped": turn.finish == "stopped",
        "replayed": turn.replayed,
        "cut at the token limit": turn.finish == "length",
        "cut by a filter": turn.finish == "filter",
        "no final answer": turn.finish in ("tools", "max_steps"),
        "offline (no model)": turn.request.model.provider == "offline",
        "stored answer": turn.stored,
        "model changed": bool(before) and before[-1] != str(turn.request.model),
        "not in the thread": ask.side,
    }
    return tuple(flag for flag, holds in flags.items() if holds)


def _before(ask: Ask) -> Sequence[Message]:
    """Return the messages that a turn comes after: on another branch nothing of before is told."""
    match ask.spot.where:
        case "root":
            return ()
        case "after":
            return ask.index.path_to(ask.spot.message)
        case _:
            return ask.index.path()
