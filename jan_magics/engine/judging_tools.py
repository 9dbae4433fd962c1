"""Who says which of many tools a question is about: vectors, or the model that is asked."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from jan_magics.domain.errors import EmbedderError, NotRecorded, ProviderError
from jan_magics.domain.messages import Message, TextPart, text_of
from jan_magics.domain.models import ChatOptions, ChatRequest, ModelRef
from jan_magics.domain.protocols import Embedder, Vectors
from jan_magics.engine.asks import Ask
from jan_magics.engine.engine import Engine
from jan_magics.engine.narrowing import Objections
from jan_magics.engine.reply import Progress, Reply
from jan_magics.engine.tools import Tool
from jan_magics.engine.turn import Show

LINE: Final = 160
"""Characters of a description that the model is shown."""
LONGEST_LIST: Final = 0.5
"""The share of the input that the list of all tools may take, where the model is asked."""
MOST_TOKENS: Final = 400
"""Tokens of the model's answer: a dozen names."""
_PROMPT: Final = (
    "Below are tools and a message. Name the tools that may be needed to answer the message: only "
    "their names, one a line, the most useful first, at most {most}. If none is needed, write none."
    "\n\n<tools>\n{tools}\n</tools>\n\n<message>\n{text}\n</message>"
)
_NAME: Final = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Judged:
    """A score for each tool, the higher the better, 0 = not about it; None: nobody could say.

    `by` is what is told of it, `note` why nobody could.
    """

    scores: Sequence[float] | None
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Router:
    """How tools are chosen: `how` is the setting.

    `embedder` loads the one that is installed; `vectors` are kept for as long as the kernel lives.
    `looking`: nothing may be sent.
    """

    engine: Engine
    how: str | None = None
    embedder: Callable[[], Embedder | None] = lambda: None
    vectors: dict[str, dict[str, Vectors]] = field(default_factory=dict, repr=False)
    looking: bool = False
    show: Show = lambda _: None


Words: TypeAlias = Sequence[float]
"""What each tool has in common with the question by its words."""


def near(router: Router, tools: Sequence[Tool], text: str, words: Words) -> Judged:
    """Judge by words and vectors together; tools in another script cannot be compared."""
    from jan_magics.rag.comparing import cosines, scripts_of

    texts = [f"{tool.name.replace('_', ' ')}: {tool.spec.description}" for tool in tools]
    asked = scripts_of(text)
    # Names are mostly Latin, whatever the description is written in.
    scripts = [scripts_of(tool.spec.description) or scripts_of(tool.name) for tool in tools]
    comparable = [bool(asked & each) for each in scripts]
    if not any(comparable):
        return Judged(None)
    try:
        embedder = router.embedder()
        if embedder is None:
            return Judged(None, note="no embedder is installed that could choose tools")
        deck = router.engine.deck
        # Beside a cassette each row is asked for, so that it is recorded.
        known = None if deck.playing or deck.recording else router.vectors.setdefault(
            str(embedder.fingerprint), {}
        )  # fmt: skip
        found = cosines(embedder, texts, text, known)
    except EmbedderError as fault:
        return Judged(None, note=f"the embedder could not choose tools: {fault.message}")
    most = max(words, default=0.0) or 1.0
    pairs = zip(words, found, comparable, strict=True)
    scores = [word / most + max(0.0, cosine) * can for word, cosine, can in pairs]
    return Judged(scores, "by words and vectors of the prompt")


async def asked(router: Router, ask: Ask, tools: Sequence[Tool], text: str, most: int) -> Judged:
    """Let the model choose that will answer, by a request of its own. Raises NotRecorded."""
    model = ask.model
    request = _request(router.engine, model, tools, text, most)
    if hindered := _hindered(router, ask, request):
        return Judged(None, note=hindered)
    router.show(Progress(note=f"choosing among {len(tools)} tools"))
    reply = Reply(lambda _: None, lambda: None)
    reply.objections = Objections(router.engine.learned, ask.fit.profile)
    try:
        await reply.receive(router.engine.provider(model), request)
    except NotRecorded:
        raise
    except ProviderError as fault:
        return Judged(None, note=f"{model} could not choose tools: {fault.message}")
    known = {tool.name: n for n, tool in enumerate(tools)}
    named = [each for each in _NAME.findall(reply.folding.text()) if each in known]
    if not named:
        return Judged(None, note=f"{model} named no tool")
    scores = [0.0] * len(tools)
    for place, name in enumerate(dict.fromkeys(named)):
        scores[known[name]] = 1.0 / (1 + place)
    used = reply.usage()
    spent = f" ({used.input} → {used.output} tokens)" if used.input and used.output else ""
    return Judged(scores, f"as {model} chose{spent}")


def _hindered(router: Router, ask: Ask, request: ChatRequest) -> str:
    """Return why a model is not asked, "" where it is."""
    if router.looking:
        return f"{ask.model} chooses the tools; a look asks nobody"
    if ask.model.provider == "offline":
        return f"{ask.model} cannot choose tools"
    if ask.fit.tokenizer.count(text_of(request.messages[0])) > LONGEST_LIST * ask.fit.budget.input:
        return f"the list of tools is too long for {ask.model} to choose from"
    return ""


def _request(
    engine: Engine, model: ModelRef, tools: Sequence[Tool], text: str, most: int
) -> ChatRequest:
    lines = (f"{tool.name}: {' '.join(tool.spec.description.split())[:LINE]}" for tool in tools)
    told = _PROMPT.format(most=most, tools="\n".join(lines), text=text)
    message = Message(engine.new_id(), "", "user", (TextPart(told),), engine.now(), None)
    options = ChatOptions(max_tokens=MOST_TOKENS, think=False)
    return ChatRequest(model, (message,), options=options)
