"""The form and the tools that a turn was asked with, so that it is asked so again.

It is kept with the question, as there may be no answer, and with each answer, as a question may be
asked in several ways. Instructions and parameters are of one turn: often they are why it is asked
again; and so is a yes to tools, or to sending a key.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from jan_magics.domain.messages import Json, Message
from jan_magics.domain.models import AnswerSchema
from jan_magics.engine.asking import Asking
from jan_magics.engine.ids import full_id
from jan_magics.engine.records import KEY, ours
from jan_magics.engine.views import View

WITH: Final = "with"


def told_with(asking: Asking, schema: AnswerSchema | None) -> dict[str, Json]:
    """Return as JSON what an asking says itself; what `use` made stick may change."""
    told: dict[str, Json] = {}
    if asking.tools is not None:
        told["tools"] = [str(getattr(each, "__name__", each)) for each in asking.tools]
    if schema is not None:
        body, wrapped = dict(schema.body), schema.wrapped
        told["schema"] = {"name": schema.name, "body": body, "wrapped": wrapped}
    return told


def asked_again(asking: Asking, view: View) -> Asking:
    """Return an asking about a turn that is over, with what that was asked with filled in.

    Raises MessageNotFound for an `at` that cannot be.
    """
    known = _known(asking, view)
    tools, schema = known.get("tools"), known.get("schema")
    if asking.tools is None and isinstance(tools, list):
        asking = replace(asking, tools=tuple(map(str, tools)))
    if asking.schema is None and isinstance(schema, dict):
        asking = replace(asking, schema=AnswerSchema(**schema))
    return asking


def with_told(message: Message, told: Mapping[str, Json]) -> Message:
    """Return a question that says what it was asked with; nothing takes the place of something."""
    if not told and WITH not in ours(message):
        return message
    return replace(message, metadata={**message.metadata, KEY: {**ours(message), WITH: {**told}}})


def _known(asking: Asking, view: View) -> Mapping[str, Any]:
    index = view.index
    if asking.at:
        last = index[full_id(index, asking.at)]
    elif (head := index.head()) is not None:
        last = head
    else:
        return {}
    question = index.nearest_user(last.id)
    shown = {message.id for message in index.path()}
    answers = [last] if last.role == "assistant" else []
    if question and not answers:
        answers = [each for each in index.children(question.id) if each.id in shown]
    for message in (*answers, *([question] if question else [])):
        if isinstance(found := ours(message).get(WITH), dict):
            return cast("Mapping[str, Any]", found)
    return {}
