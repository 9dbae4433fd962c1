"""Exact counts from a live llama.cpp server: its own tokens, its own template, its own window.

Everything is asked before it is counted: `fill` for texts, `open_tokenizer` for the template. Other
servers have no such questions, and no tokenizer.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.errors import ProviderError
from jan_magics.domain.messages import FilePart, Json, Role
from jan_magics.providers.abilities import Abilities, in_properties
from jan_magics.providers.failures import Asked, unreadable
from jan_magics.providers.http import BODY_LIMIT, Line, body_of

REMEMBERED: Final = 20_000  # texts
_BATCH: Final = 100_000  # characters of one question
_TOGETHER: Final = 8  # questions at a time, where each text needs one of its own
_PATIENCE: Final = 30.0  # seconds; a busy server answers these between two batches of its prompt
_KNOCK: Final = 3.0  # seconds to say what it is, which every first answer waits for
# Text that a server could take for a mark of its template, or for one of its special tokens.
_MARKED: Final = re.compile(r"<[|｜]|[|｜]>|</?\w+>|\[/?\w+\]|\ufffc")
# Words to find again in a rendered template, whatever it says around them.
_SYSTEM, _FIRST, _SECOND, _THIRD = "qzsystem", "qzfirst", "qzsecond", "qzthird"


@dataclass(frozen=True, slots=True)
class Frame:
    """Tokens that the template adds: around a message of each role, and around a request."""

    user: int
    assistant: int
    system: int
    opening: int
    opening_with_system: int


@dataclass(frozen=True, slots=True)
class Properties:
    """What a server tells of itself: its window in tokens, and what its model can."""

    window: int
    abilities: Abilities


class LlamaTokenizer:
    """A tokenizer that has asked its server. Fill it before counting; it never guesses."""

    def __init__(
        self,
        questions: "_Questions",
        frame: Frame,
        properties: "Properties",
        image: Callable[[FilePart], int],
    ) -> None:
        self.window = properties.window
        """Tokens of the context, as the server was started."""
        self.lacks = frozenset(properties.abilities.lacks)
        """What the server says that its model cannot."""
        self._questions = questions
        self._frame = frame
        self._image = image
        self._counts: dict[str, int] = {}

    @property
    def name(self) -> str:
        """Return who counts, and for which model."""
        return f"llama.cpp {self._questions.asked.model}"

    @property
    def exact(self) -> bool:
        """Return True: what was not asked raises, and is not guessed."""
        return True

    async def fill(self, texts: Iterable[str]) -> None:
        """Ask for the texts that are not known yet. Raises ProviderError."""
        wanted = dict.fromkeys(text for text in texts if text)
        unknown = [text for text in wanted if text not in self._counts]
        self._counts |= await self._questions.count_all(unknown)
        spare = len(self._counts) - max(REMEMBERED, len(wanted))
        for text in [text for text in self._counts if text not in wanted][: max(0, spare)]:
            del self._counts[text]

    def count(self, text: str) -> int:
        """Return the tokens of a text.

        Raises:
            LookupError: when `fill` was not asked for it.
        """
        if not text:
            return 0
        try:
            return self._counts[text]
        except KeyError:
            raise LookupError(f"not filled: {text[:40]!r}; await fill([text]) first") from None

    def overhead(self, role: Role) -> int:
        """Return the marks of the server's template around a message."""
        return {
            "user": self._frame.user,
            "assistant": self._frame.assistant,
            "system": self._frame.system,
        }[role]

    def opening(self, *, system: bool) -> int:
        """Return the template's start, its opened answer, and its own system text without one."""
        return self._frame.opening_with_system if system else self._frame.opening

    def image(self, part: FilePart) -> int:
        """Return an estimate by size: a server does not tell what an image costs."""
        return self._image(part)


async def open_tokenizer(
    line: Line, asked: Asked, image: Callable[[FilePart], int]
) -> LlamaTokenizer | None:
    """Return the tokenizer of a llama.cpp server, None where the server is another one.

    `image` estimates images, which no server counts beforehand.
    """
    try:
        async with asyncio.timeout(_KNOCK):
            properties = _read(await line.get("/props", asked), asked)
        window = _window(properties)
        if window is None:
            return None
        questions = await _questions(line, asked, properties.get("eos_token"))
        told = Properties(window, in_properties(properties))
        return LlamaTokenizer(questions, await _frame(questions), told, image)
    except (ProviderError, TimeoutError):
        # Its absence, its silence, an older version, a key that is refused: all mean that nothing
        # is counted here. The request itself will say what is wrong.
        return None


def _window(properties: Mapping[str, Json]) -> int | None:
    settings = properties.get("default_generation_settings")
    window = settings.get("n_ctx") if isinstance(settings, dict) else None
    return window if isinstance(window, int) and window > 0 else None


@dataclass(frozen=True, slots=True)
class _Questions:
    """What the server is asked. `mark` is a special token that stands between texts of a batch."""

    line: Line
    asked: Asked
    mark: str = ""
    mark_id: int = -1

    async def count_all(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the tokens of each text, many of them in one question."""
        counts = dict[str, int]()
        plain = [text for text in texts if self.mark and not _MARKED.search(text)]
        for batch in _batches(plain):
            tokens = await self.tokens(self.mark.join(batch), special=True)
            pieces = list(_split(tokens, self.mark_id))
            # Another number of pieces: a text held a special token that does not look like one.
            if len(pieces) == len(batch):
                counts |= zip(batch, pieces, strict=True)
        alone = [text for text in texts if text not in counts]
        for start in range(0, len(alone), _TOGETHER):
            several = alone[start : start + _TOGETHER]
            found = await asyncio.gather(*(self.tokens(text, special=False) for text in several))
            counts |= zip(several, map(len, found), strict=True)
        return counts

    async def tokens(self, text: str, *, special: bool, start: bool = False) -> list[Json]:
        """Return token ids; `special` reads special tokens in it, `start` adds the start mark."""
        question: dict[str, Json] = {
            "content": text.encode("utf-8", "replace").decode("utf-8"),
            "parse_special": special,
            "add_special": start,
        }
        found = (await self._ask("/tokenize", question)).get("tokens")
        if not isinstance(found, list):
            raise unreadable(self.asked, "there are no tokens in it")
        return found

    async def prompt(self, *said: tuple[str, str]) -> str:
        """Return a request as the template renders it, the answer opened."""
        messages: list[Json] = [{"role": role, "content": text} for role, text in said]
        found = (await self._ask("/apply-template", {"messages": messages})).get("prompt")
        if not isinstance(found, str) or not all(text in found for _, text in said):
            raise unreadable(self.asked, "the template leaves messages out")
        return found

    async def _ask(self, path: str, question: Mapping[str, Json]) -> Mapping[str, Json]:
        async with self.line.post(path, question, self.asked, _PATIENCE) as response:
            return _read(await body_of(response, BODY_LIMIT), self.asked)


def _read(body: bytes, asked: Asked) -> Mapping[str, Json]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable(asked, "it is no JSON") from error
    if not isinstance(found, dict):
        raise unreadable(asked, "it is no object")
    return found


async def _questions(line: Line, asked: Asked, mark: Json) -> _Questions:
    plain = _Questions(line, asked)
    if not isinstance(mark, str) or not mark:
        return plain
    match await plain.tokens(mark, special=True):
        case [int(number)]:
            return _Questions(line, asked, mark, number)
        case _:
            return plain


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch, size = list[str](), 0
    for text in texts:
        if batch and size + len(text) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _split(tokens: Sequence[Json], mark: int) -> Iterator[int]:
    """Yield the number of tokens between two marks, and before the first and after the last."""
    count = 0
    for token in tokens:
        if token == mark:
            yield count
            count = 0
        else:
            count += 1
    yield count


async def _frame(ask: _Questions) -> Frame:
    words = await ask.count_all([_SYSTEM, _FIRST, _SECOND, _THIRD])
    one = await ask.prompt(("user", _FIRST))
    three = await ask.prompt(("user", _FIRST), ("assistant", _SECOND), ("user", _THIRD))
    short, long = [len(await ask.tokens(each, special=True, start=True)) for each in (one, three)]
    user = await _between(ask, three, _FIRST, _SECOND)
    both = long - short - words[_SECOND] - words[_THIRD]
    opening = short - words[_FIRST] - user
    try:
        told = await ask.prompt(("system", _SYSTEM), ("user", _FIRST))
    except ProviderError:  # a template without a system role
        return Frame(user, both - user, user, opening, opening)
    system = await _between(ask, told, _SYSTEM, _FIRST)
    whole = len(await ask.tokens(told, special=True, start=True))
    inside = words[_SYSTEM] + system + words[_FIRST] + user
    return Frame(user, both - user, system, opening, whole - inside)


async def _between(ask: _Questions, prompt: str, left: str, right: str) -> int:
    start, end = prompt.index(left) + len(left), prompt.rindex(right)
    return len(await ask.tokens(prompt[start:end], special=True)) if start < end else 0
