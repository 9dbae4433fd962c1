"""What must not leave this machine: a request with a key in it is stopped before it is sent.

An address of a person or a random value only warns. Images and other bytes are not read.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TypeAlias

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import LeakFound
from jan_magics.domain.messages import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from jan_magics.domain.models import ChatRequest, ModelRef
from jan_magics.domain.secrets import Secret, secrets_in

Placed: TypeAlias = tuple[str, str]
"""Where a text stands, and the text."""
REMEMBERED: Final = 512
"""Texts that are not looked through again: history is sent at every step."""
_MESSAGE: Final = re.compile(r"(?:^|, )message (\w+)$")
OUT: Final = "Take it out of the cell"
ANYWAY: Final = "or send it all the same: --send-anyway"
LOCALLY: Final = "or let this machine make the vectors: --embedder static"


@dataclass(slots=True)
class Guard:
    """Looks through what is sent; `away` names the host of a model, "" for this machine."""

    away: Callable[[ModelRef], str] = lambda _: ""
    _known: dict[str, tuple[Secret, ...]] = field(default_factory=dict, repr=False)

    def check(self, request: ChatRequest) -> None:
        """Refuse to send a key to another machine. Raises LeakFound."""
        host = "" if request.anyway else self.away(request.model)
        if host:
            self.refuse(host, texts_of(request))

    def check_texts(self, model: ModelRef, texts: Iterable[str]) -> None:
        """Refuse to let another machine make vectors of a key. Raises LeakFound."""
        if host := self.away(model):
            self.refuse(host, (("a text to be embedded", text) for text in texts), LOCALLY)

    def refuse(self, host: str, texts: Iterable[Placed], otherwise: str = ANYWAY) -> None:
        """Refuse texts that hold a key. Raises LeakFound with the first, masked, and its place."""
        found = [(place, each) for place, text in texts for each in self.found(text) if each.stops]
        if not found:
            return
        place, first = found[0]
        more = f", and {counted(len(found) - 1, 'more key')}" if len(found) > 1 else ""
        raise LeakFound(
            f"nothing was sent to {host}: what looks like {_with_article(first.kind)},"
            f" {first.sample}, stands in {place}{more}",
            f"{_remedy(place)}; {otherwise}",
        )

    def found(self, text: str) -> tuple[Secret, ...]:
        """Return what a text holds; the newest texts are looked through once."""
        if text not in self._known:
            if len(self._known) >= REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[text] = secrets_in(text)
        return self._known[text]


def texts_of(request: ChatRequest) -> Iterator[Placed]:
    """Yield all texts of a request, the newest message first."""
    for message in reversed(request.messages):
        for part in message.parts:
            yield from ((_named(message, part), text) for text in part_texts(part))
    yield "the instructions", request.system
    for tool in request.tools:
        yield from ((f"the tool {tool.name}", text) for text in strings_in(asdict(tool)))


def part_texts(part: Part) -> Iterator[str]:
    """Yield the texts of a part; bytes are none, unless they are said to be text."""
    match part:
        case TextPart() | ReasoningPart():
            yield part.text
        case ToolCallPart():
            yield part.arguments
        case ToolResultPart():
            yield from strings_in(part.output)
        case FilePart():
            yield from (each for each in (part.name, part.url) if each)
            if part.data and part.media_type.startswith("text/"):
                yield part.data.decode("utf-8", "replace")
        case _:
            yield from strings_in(part.raw)


def strings_in(value: Any) -> Iterator[str]:
    """Yield every text in JSON, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from strings_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from strings_in(each)


def _named(message: Message, part: Part) -> str:
    where = f"message {message.id[:8]}"
    return f"the result of {part.name}, {where}" if isinstance(part, ToolResultPart) else where


def _remedy(place: str) -> str:
    if message := _MESSAGE.search(place):
        return f"Hide it: %chat drop {message[1]}"
    return OUT if place == "the prompt" else f"Take it out of {place}"


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
