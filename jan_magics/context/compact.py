"""What is compacted, what a summariser is shown, and what is made of its answer. Pure.

The originals stay; a summary is a record that stands for them on the paths that see it. The next
one takes the old summary and the new messages, never a summary alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from jan_magics.context.counting import count_message
from jan_magics.context.ledger import ledger_of, merged
from jan_magics.context.segments import Seen
from jan_magics.context.summary import summary_text
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import Message, TextPart, ToolCallPart, ToolResultPart
from jan_magics.domain.overlays import Summary
from jan_magics.domain.protocols import Tokenizer

WORTHWHILE: Final = 0.2
"""The least share of the history's tokens that a compaction has to free."""
LEDGER_SHARE: Final = 0.15
"""The largest share of the window that the ledger may take."""
RESULT: Final = 600
"""Characters of a tool's result that a summariser is shown."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages to be compacted, oldest first, with the summary that stands before them.

    `upto` is the last message of the path that the new summary stands for. `tokens` are what they
    and the old summary take now, `history` what all of the history takes.
    """

    messages: tuple[Message, ...]
    upto: str
    old: Summary | None
    tokens: int
    history: int

    @property
    def covers(self) -> tuple[str, ...]:
        """Return the ids that the new summary stands for."""
        before = self.old.covers if self.old else ()
        return (*before, *(message.id for message in self.messages))


def stretch_of(
    path: Sequence[Message], seen: Seen, tokenizer: Tokenizer, tail: int
) -> Stretch | None:
    """Return what can be compacted of a path; None when nothing can.

    `tail` turns at the end stay as they are, and so do system messages and what is pinned.
    A message that is marked "summarise" goes in wherever it stands, but for the last turn.
    """
    starts = [n for n, message in enumerate(path) if message.role == "user"]
    end = starts[-tail] if 0 < tail <= len(starts) else (0 if tail else len(path))
    marked = {each for each, action in seen.marks.items() if action == "summarise"}
    active = [m for m in path if m.id not in seen.statuses and m.role != "system"]
    place = {message.id: n for n, message in enumerate(path)}
    last = starts[-1] if tail and starts else len(path)
    chosen = tuple(
        message
        for message in active
        if message.id not in seen.pinned
        and (place[message.id] < end or (message.id in marked and place[message.id] < last))
    )
    if not chosen:
        return None
    before = tokenizer.count(summary_text(seen.summary)) if seen.summary else 0
    sizes = {message.id: count_message(message, tokenizer) for message in active}
    taken = sum(sizes[message.id] for message in chosen) + before
    old = seen.summary
    upto = max((chosen[-1].id, *([old.upto] if old else ())), key=lambda each: place[each])
    return Stretch(chosen, upto, old, taken, sum(sizes.values()) + before)


def tail_of(
    path: Sequence[Message], seen: Seen, tokenizer: Tokenizer, *, target: int, protect: int
) -> int:
    """Return how many turns a compaction that begins by itself leaves as they are.

    The fewest that hold `protect` messages before the prompt, then as many as fit into `target`
    tokens; the prompt's own turn is one of them.
    """
    turns = 1
    place = max((n for n, m in enumerate(path) if m.role == "user"), default=0)
    messages = tokens = 0
    for message in reversed(path[:place]):
        if message.id not in seen.statuses:
            messages += 1
            tokens += count_message(message, tokenizer)
        if tokens > target and messages > protect:
            break
        turns += message.role == "user"
    return turns


def excerpt(messages: Iterable[Message]) -> str:
    """Write messages for a summariser: who said what, with tool calls and shortened results."""
    return "\n\n".join(f"{message.role}: {_said(message)}" for message in messages)


def split(
    messages: Sequence[Message], tokenizer: Tokenizer, limit: int
) -> list[tuple[Message, ...]]:
    """Divide messages into runs that a summariser can read at once; no message is divided."""
    runs: list[list[Message]] = [[]]
    size = 0
    for message in messages:
        cost = tokenizer.count(excerpt([message])) + 4
        if runs[-1] and size + cost > limit:
            runs.append([])
            size = 0
        runs[-1].append(message)
        size += cost
    return [tuple(run) for run in runs if run]


def made_of(stretch: Stretch, text: str, change: str, tokenizer: Tokenizer, window: int) -> Summary:
    """Make a summary of a model's answer.

    Raises:
        ThreadError: when the answer is no summary, or frees too little to be worth its loss.
    """
    told = text.strip()
    if is_garbage(told):
        raise ThreadError(f"the summary is of no use: {told[:60]!r}", "Nothing was changed.")
    old = stretch.old.ledger if stretch.old else {}
    limit = int(LEDGER_SHARE * window)
    ledger = merged(old, ledger_of(stretch.messages), tokenizer, limit)
    summary = Summary(stretch.upto, told, ledger, stretch.covers, change)
    check_worth(stretch, tokenizer.count(summary_text(summary)))
    return summary


def is_worth(stretch: Stretch, after: int) -> bool:
    """Tell whether a summary of `after` tokens frees a fifth of the history."""
    return stretch.tokens - after >= WORTHWHILE * stretch.history


def check_worth(stretch: Stretch, after: int) -> None:
    """Raise ThreadError unless a summary of `after` tokens frees a fifth of the history."""
    if not is_worth(stretch, after):
        freed = max(0, stretch.tokens - after)
        raise ThreadError(
            f"compacting {len(stretch.messages)} messages would free {freed} of"
            f" {stretch.history} tokens, less than {WORTHWHILE:.0%}",
            "Nothing was changed. Keep fewer turns: %chat compact --keep 0, or begin anew:"
            " %chat clear",
        )


def is_garbage(text: str) -> bool:
    """Tell whether a text says nothing: blank, or one word over and over."""
    words = text.split()
    return not words or (len(words) > 20 and len(set(words)) * 10 < len(words))


def _said(message: Message) -> str:
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            pieces.append(part.text)
        elif isinstance(part, ToolCallPart):
            pieces.append(f"[calls {part.name}({part.arguments})]")
        elif isinstance(part, ToolResultPart):
            output = str(part.output)
            cut = f"{output[:RESULT]}…" if len(output) > RESULT else output
            pieces.append(f"[{part.name} returns {cut}]")
    return "\n".join(pieces)
