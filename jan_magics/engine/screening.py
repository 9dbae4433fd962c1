"""A turn is looked through for keys before anything of it is written or sent."""

from collections.abc import Iterator
from typing import Any, Final

from jan_magics.domain.models import ChatRequest
from jan_magics.domain.secrets import scrubbed
from jan_magics.engine.asks import Ask
from jan_magics.engine.engine import Engine
from jan_magics.engine.leaks import Placed
from jan_magics.sanitize.attachments import INLINE_KEY

SENT: Final = "sent to "
"""How a line begins that tells what went to another machine."""


def screen(engine: Engine, ask: Ask) -> str:
    """Look through what a turn says; returns the host that it goes to, "" for none.

    While a cassette plays nothing is sent. Raises LeakFound.
    """
    host = "" if engine.deck.playing else engine.guard.away(ask.model)
    if host and not ask.anyway:
        engine.guard.refuse(host, told_texts(ask))
    return host


def screened(engine: Engine, ask: Ask, request: ChatRequest) -> tuple[str, ...]:
    """Look through a turn and all that is sent with it; returns what is to be told of the turn.

    What was said before was told of when it was new. Raises LeakFound.
    """
    # By the names that the user knows first: in the request all of it is one question.
    host, found = screen(engine, ask), engine.guard.found
    if not host:
        return ()
    engine.guard.check(request)
    said = [
        f"{x.kind} {x.sample} in {where}" for where, text in told_texts(ask) for x in found(text)
    ]
    if not said:
        return ()
    first, *others = dict.fromkeys(said)
    more = f" and {len(others)} more" if others else ""
    return (f"{SENT}{host} with what looks like {first}{more}",)


def told_texts(ask: Ask) -> Iterator[Placed]:
    """Yield what a turn says that was not said before, by its name for the user."""
    yield "the prompt", ask.text
    for row in _rows(ask.attached.metadata.get(INLINE_KEY) if ask.attached else None):
        yield f"the attached {scrubbed(str(row.get('name')))}", str(row.get("content", ""))
    if ask.given:
        yield "what was retrieved", ask.given.text
    yield "the instructions", f"{ask.system}\n{ask.aside}"


def _rows(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
