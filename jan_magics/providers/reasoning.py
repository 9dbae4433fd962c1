"""Reasoning inside the text: what stands between tags at the start of an answer. Pure."""

import re
from typing import Final, Literal, TypeAlias

from jan_magics.domain.events import ReasoningDelta, TextDelta, Thought

Kind: TypeAlias = Literal["text", "reasoning", "thought"]
"""What a piece is; a thought has no text of its own: it says that all text before it was one."""
Piece: TypeAlias = tuple[Kind, str]

_PAIRS: Final = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"), ("<seed:think>", "</seed:think>"), ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"), ("<|begin_of_thought|>", "<|end_of_thought|>"),
)  # fmt: skip
# Harmony: each message is `<|channel|>NAME<|message|>TEXT`, with marks of its end between two.
_CHANNEL: Final = "<|channel|>"
_OPENINGS: Final = (*(opening for opening, _ in _PAIRS), _CHANNEL, "<|start|>assistant<|channel|>")
_HEAD: Final = re.compile(r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>([^<]{0,200})<\|message\|>")
_MARKS: Final = ("<|end|>", "<|start|>", "<|channel|>", "<|return|>", "<|call|>")
_MARK: Final = re.compile("|".join(map(re.escape, _MARKS)))
_LONGEST_HEAD: Final = 260
_END: Final = "</think>"
_QUOTES: Final = tuple(" `\"'(“‘«")


class Thoughts:
    """Part text into reasoning and answer, however it is cut into pieces.

    Only what the answer begins with counts: later, and in code, a tag is text like any other. But
    some templates open the thoughts themselves: then only their end is in the answer.
    """

    __slots__ = ("_begun", "_closing", "_held", "_seen", "_state")

    def __init__(self) -> None:
        self._state: Literal["start", "inside", "after", "channel", "open", "plain"] = "start"
        self._seen: list[str] = []
        self._held = ""
        self._closing = ""
        self._begun = False  # something stood between the tags, or in a channel

    @property
    def settled(self) -> bool:
        """Tell whether all that follows is text."""
        return self._state == "plain" and not self._held

    def feed(self, text: str) -> list[Piece]:
        """Take text in and return what is certain of it."""
        self._held += text
        pieces: list[Piece] = []
        while self._step(pieces):
            pass
        return [piece for piece in pieces if piece[1] or piece[0] == "thought"]

    def close(self) -> list[Piece]:
        """Return what was held back; tags that were never closed have held reasoning."""
        held, self._held = self._held, ""
        if not held or self._state == "after":
            return []
        if self._state == "channel" and self._closing:
            return [(self._kind, held)]
        if self._state == "channel" and self._begun:
            return []  # the head of a message that never came
        return [("reasoning" if self._state == "inside" else "text", held)]

    def give_up(self) -> list[Piece]:
        """Take everything as text from here on: the server parts it itself."""
        pieces = self.close()
        self._state = "plain"
        return pieces

    @property
    def _kind(self) -> Kind:
        return "text" if self._closing == "final" else "reasoning"

    def _step(self, pieces: list[Piece]) -> bool:
        """Move on by one state; False when more text is needed."""
        if self._state == "start":
            return self._begin()
        if self._state == "after":
            self._held = self._held.lstrip()
            self._state = "plain" if self._held else "after"
            return bool(self._held)
        if self._state == "plain":
            pieces.append(("text", self._held))
            self._held = ""
            return False
        states = {"inside": self._inside, "channel": self._channel, "open": self._open}
        return states[self._state](pieces)

    def _begin(self) -> bool:
        start = self._held.lstrip()
        if not start:
            return False
        for opening, closing in _PAIRS:
            if start.startswith(opening):
                self._state, self._closing = "inside", closing
                self._held = start[len(opening) :]
                return True
        if start.startswith(_OPENINGS[-2:]):
            self._state, self._closing, self._held = "channel", "", start
            return True
        if any(opening.startswith(start) for opening in _OPENINGS):
            return False
        self._state = "open"
        return True

    def _open(self, pieces: list[Piece]) -> bool:
        """Give text out until thoughts end that never began."""
        text, found, rest = self._held.partition(_END)
        kept = len(text) if found else _before_partial(text, _END)
        self._seen.append(text[:kept])
        if not found:
            pieces.append(("text", text[:kept]))
            self._held = text[kept:]
            return False
        if _ends_thoughts("".join(self._seen)):
            pieces += [("text", text), ("thought", "")]
            self._state, self._held = "after", rest
        else:
            pieces.append(("text", text + _END))
            self._state, self._held = "plain", rest
        self._seen.clear()
        return True

    def _inside(self, pieces: list[Piece]) -> bool:
        if not self._begun:
            self._held = self._held.lstrip("\n")
            self._begun = bool(self._held)
        thought, found, rest = self._held.partition(self._closing)
        if found:
            pieces.append(("reasoning", thought.rstrip("\n")))
            self._state, self._held = "after", rest
            return True
        # Line ends may be the last before the closing tag, which they are dropped with.
        kept = len(thought.rstrip("\n")) if thought.endswith("\n") else len(thought)
        kept = min(kept, _before_partial(thought, self._closing))
        kept = len(thought[:kept].rstrip("\n"))
        pieces.append(("reasoning", thought[:kept]))
        self._held = thought[kept:]
        return False

    def _channel(self, pieces: list[Piece]) -> bool:
        """Read a message's head, or the words of the message until the next mark."""
        if not self._closing:
            return self._head()
        kind = self._kind
        mark = _MARK.search(self._held)
        if mark is None:
            kept = min(_before_partial(self._held, each) for each in _MARKS)
            pieces.append((kind, self._held[:kept]))
            self._held = self._held[kept:]
            return False
        pieces.append((kind, self._held[: mark.start()]))
        ended = mark[0] not in {"<|start|>", _CHANNEL}
        self._held = self._held[mark.end() :].lstrip() if ended else self._held[mark.start() :]
        self._closing = ""
        return bool(self._held)

    def _head(self) -> bool:
        if head := _HEAD.match(self._held):
            self._begun = True
            self._closing = "final" if head[1].strip().startswith("final") else "thought"
            self._held = self._held[head.end() :]
            return True
        if len(self._held) > _LONGEST_HEAD:  # no head of a message after all
            self._state = "plain"
            return True
        return False


def event_of(piece: Piece) -> TextDelta | ReasoningDelta | Thought:
    """Return a piece as the event that tells of it."""
    kind, text = piece
    if kind == "thought":
        return Thought()
    return TextDelta(text) if kind == "text" else ReasoningDelta(text)


def _ends_thoughts(before: str) -> bool:
    """Tell whether a closing tag behind a text ends it, and is not only spoken of."""
    quoted = before[-1:] in _QUOTES or before.count("```") % 2 == 1
    return "<think>" not in before and not quoted


def _before_partial(text: str, mark: str) -> int:
    """Return where a beginning of the mark begins at the end of a text, else its length."""
    for size in range(min(len(mark) - 1, len(text)), 0, -1):
        if mark.startswith(text[-size:]):
            return len(text) - size
    return len(text)
