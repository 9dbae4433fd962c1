"""What is compacted, what a summariser is shown, and what is made of its answer. Pure.

The originals stay; a summary is a record that stands for them on the paths that see it. The next
one takes the old summary and the new messages, never a summary alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from unicodedata import category

from jan_magics.context.counting import count_message
from jan_magics.context.segments import Seen, whole_turns
from jan_magics.context.summary import summary_text
from jan_magics.context.units import units_of
from jan_magics.domain.errors import ThreadError
from jan_magics.domain.messages import FilePart, Message, TextPart, ToolCallPart, ToolResultPart
from jan_magics.domain.overlays import Summary
from jan_magics.domain.protocols import Tokenizer

WORTHWHILE: Final = 0.2
"""The least share of the history's tokens that a compaction has to free."""
LEDGER_SHARE: Final = 0.15
"""The largest share of the window that the ledger may take."""
BETWEEN: Final = 4
"""Tokens between two texts that are joined."""
MARKS: Final = re.compile(
    r"<\|im_start\|>\w{0,20}|<\|[^<>|\n]{1,40}\|>|\[/?INST\]|<(?:start|end)_of_turn>"
)
"""What a template divides turns with: no words, where a model says it."""
ODD: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
"""The categories of characters that are in no text: control codes, and those of no script."""
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

    `tail` turns at the end stay as they are, and so do system messages and what is pinned or kept.
    A message that is marked "summarise" goes in wherever it stands, but for the last turn.
    """
    starts = [n for n, message in enumerate(path) if message.role == "user"]
    end = starts[-tail] if 0 < tail <= len(starts) else (0 if tail else len(path))
    marked = {each for each, action in seen.marks.items() if action == "summarise"}
    kept = {each for each, action in seen.marks.items() if action == "keep"}
    staying = seen.pinned | whole_turns(path, kept)
    active = [m for m in path if m.id not in seen.statuses and m.role != "system"]
    place = {message.id: n for n, message in enumerate(path)}
    last = starts[-1] if tail and starts else len(path)
    chosen = tuple(
        message
        for message in active
        if message.id not in staying
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


def readable(messages: Sequence[Message]) -> list[str]:
    """Write messages unit by unit: a tool call stays with its results, wherever texts are cut."""
    return [excerpt(unit) for unit in units_of(messages)]


def packed(texts: Sequence[str], count: Callable[[str], int], limit: int) -> list[str]:
    """Join texts into as few as hold at most `limit` tokens each; no text is divided."""
    runs: list[list[str]] = [[]]
    size = 0
    for text in texts:
        cost = count(text) + BETWEEN
        if runs[-1] and size + cost > limit:
            runs.append([])
            size = 0
        runs[-1].append(text)
        size += cost
    return ["\n\n".join(run) for run in runs if run]


def made_of(stretch: Stretch, text: str, change: str, tokenizer: Tokenizer, window: int) -> Summary:
    """Make a summary of a model's answer, with the ledger beside it.

    The ledger takes a share of the window at most. What is new to it must not use up what the
    summary frees; what was in it before stays.

    Raises:
        ThreadError: when the answer is no summary.
    """
    # Its patterns take longer to compile than a chat without a summary should wait.
    from jan_magics.context.ledger import ledger_of, ledger_tokens, merged

    told = MARKS.sub("", text).strip()
    if is_garbage(told):
        raise useless(text)
    old = stretch.old.ledger if stretch.old else {}
    summary = Summary(stretch.upto, told, {}, stretch.covers, change)
    spare = int(stretch.tokens - WORTHWHILE * stretch.history)
    spare -= tokenizer.count(summary_text(summary))
    had = _ledger_size(stretch.old, tokenizer) if stretch.old else 0
    limit = min(int(LEDGER_SHARE * window), max(had, spare))
    new = ledger_of(stretch.messages)
    made = replace(summary, ledger=merged(old, new, tokenizer.count, limit))
    took = _ledger_size(made, tokenizer)
    if took <= limit:
        return made
    # What its headings cost depends on the tokenizer.
    limit -= took - ledger_tokens(made.ledger, tokenizer.count)
    return replace(summary, ledger=merged(old, new, tokenizer.count, limit))


def is_worth(stretch: Stretch, after: int) -> bool:
    """Tell whether a summary of `after` tokens frees a fifth of the history."""
    return stretch.tokens - after >= WORTHWHILE * stretch.history


def too_little(stretch: Stretch, after: int) -> str:
    """Say why a summary of `after` tokens is not worth its loss."""
    freed = max(0, stretch.tokens - after)
    return (
        f"compacting {len(stretch.messages)} messages would free {freed} of"
        f" {stretch.history} tokens, less than {WORTHWHILE:.0%}"
    )


def _ledger_size(summary: Summary, tokenizer: Tokenizer) -> int:
    """Return what the ledger adds to the text that is sent for a summary."""
    alone = replace(summary, ledger={})
    return tokenizer.count(summary_text(summary)) - tokenizer.count(summary_text(alone))


def useless(text: str) -> ThreadError:
    """Return what is raised for an answer that is no summary."""
    shown = text.strip()[:60]
    return ThreadError(f"the summary is of no use: {shown!r}", "Nothing was changed.")


def is_garbage(text: str) -> bool:
    """Tell whether a text says nothing.

    That is: no letter in it but those of a template's marks, characters that nobody writes, or
    the same over and over.
    """
    plain = MARKS.sub("", text)
    odd = sum(each == "\ufffd" or category(each) in ODD for each in plain if not each.isspace())
    return (
        not any(map(str.isalnum, plain))
        or odd * 10 > len(plain)
        or _repeats(plain.split())
        or _repeats([plain[n : n + 3] for n in range(len(plain) - 2)], least=60)
    )


def _repeats(pieces: Sequence[str], least: int = 20) -> bool:
    return len(pieces) > least and len(set(pieces)) * 10 < len(pieces)


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
        elif isinstance(part, FilePart):
            pieces.append(f"[file {part.name or part.media_type}]")
    return "\n".join(pieces)
