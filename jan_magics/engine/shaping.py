"""An answer of the form that was asked for: held to it by the server or by words, and looked at.

One that is not of that form is asked for once more, with what is wrong; then it is an error.
"""

from dataclasses import replace
from typing import Final

from jan_magics.domain.errors import ProviderError, SchemaUnmet
from jan_magics.domain.messages import FinishReason, Message, TextPart
from jan_magics.domain.models import SENDS, AnswerSchema, ChatRequest
from jan_magics.domain.protocols import Provider
from jan_magics.engine.asks import Ask
from jan_magics.engine.continuing import UNSTORED
from jan_magics.engine.forms import Misshapen, is_held, read
from jan_magics.engine.narrowing import form_of
from jan_magics.engine.reply import Progress
from jan_magics.engine.stepping import Steps

MEND: Final = (
    "That is not of the form that was asked for: {fault}\n"
    "Answer once more, with the corrected JSON and nothing else."
)
CUT: Final = "it was cut off at the limit of its tokens"
MENDED: Final = "the first answer was not of the form that was asked for, so it was asked once more"
_WHOLE: Final = ("stop", "length")
"""How an answer ends that is meant to have its form."""


def formed(ask: Ask, schema: AnswerSchema | None) -> Ask:
    """Return a turn whose answer is held to a schema, by its server or else in words."""
    if schema is None:
        return ask
    held = is_held(schema, ask.fit.profile, (spec.name for spec in ask.bench.specs()))
    aside = ask.aside if held else "\n\n".join(filter(None, (ask.aside, form_of(schema))))
    return replace(ask, schema=schema, held=held, aside=aside)


async def shaped(ask: Ask, steps: Steps, provider: Provider, finish: FinishReason) -> FinishReason:
    """Look at an answer, and ask once more where it is not of its form.

    Raises:
        SchemaUnmet: when it is not of that form then either; the answer is kept.
    """
    schema, reply = ask.schema, steps.reply
    if schema is None or finish not in _WHOLE:
        return finish
    if not (fault := fault_in(reply.text(), schema)):
        return finish
    if finish == "stop" and not ask.partial and reply.sent:
        reply.show(Progress(reply.text(), f"asking once more: {fault}"))
        finish = await _mended(steps, provider, mending(reply.sent, reply.folding.text(), fault))
        steps.notes.append(MENDED)
        fault = fault_in(reply.text(), schema)
    if fault:
        why = f"{CUT}; {fault}" if finish == "length" else fault
        raise SchemaUnmet(
            f"the answer of {ask.model} is not of the form that was asked for: {why}",
            "It is kept, and its data is None. Ask for less in the schema, or ask once more.",
            model=str(ask.model),
        )
    return finish


def fault_in(text: str, schema: AnswerSchema) -> str:
    """Return what is wrong with an answer, "" where it is of its form."""
    try:
        read(text, schema)
    except Misshapen as fault:
        return str(fault)
    return ""


def mending(sent: ChatRequest, text: str, fault: str) -> ChatRequest:
    """Return the request that asks once more, with the answer and what is wrong with it."""
    last = sent.messages[-1]
    said = Message(UNSTORED, last.thread_id, "assistant", (TextPart(text),), last.created_at)
    asked = replace(said, role="user", parts=(TextPart(MEND.format(fault=fault)),))
    further = (said, asked) if text.strip() else (asked,)
    return replace(sent, messages=(*sent.messages, *further), sends=SENDS)


async def _mended(steps: Steps, provider: Provider, request: ChatRequest) -> FinishReason:
    reply = steps.reply
    before = reply.spend()
    try:
        await reply.receive(provider, request)
    except ProviderError:
        if reply.folding.parts():
            raise
        # Nobody has said anything better: what the first answer lacks is told.
    finally:
        if not reply.folding.parts():
            reply.folding = before
    return reply.finish()
