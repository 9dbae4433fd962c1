"""A provider at a server of this machine, and the shortest answer that it takes in."""

from typing import Any, Final

from jan_magics.domain.events import Finish, StreamEvent, TextDelta
from jan_magics.providers.keys import Key, origin_of
from jan_magics.providers.openai import OpenAIProvider
from tests.providers.asking import asking, collect
from tests.providers.loopback import Server

SECRET: Final = "sk-proj-abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - it opens nothing
WORD: Final = b'data: {"choices":[{"delta":{"content":"one"}}]}\n\n'
LAST: Final = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE: Final[list[StreamEvent]] = [TextDelta("one"), Finish("stop")]


def provider(server: Server, *, key: bool = False) -> OpenAIProvider:
    held = Key(SECRET, source="a test", origin=origin_of(server.address)) if key else None
    return OpenAIProvider("test", server.address, held)


async def ask(server: Server, **options: Any) -> list[Any]:
    one = provider(server)
    try:
        return await collect(one, asking("hi", **options))
    finally:
        await one.close()
