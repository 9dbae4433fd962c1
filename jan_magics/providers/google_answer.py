"""The Google generateContent wire, inward: frames of an answer become events. Pure."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import ProviderError, RequestRejected, ServerFailed
from jan_magics.domain.events import (
    Finish,
    ReasoningDelta,
    Remark,
    Seal,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
)
from jan_magics.domain.messages import FinishReason, Json, ProviderData
from jan_magics.domain.models import Usage
from jan_magics.providers.failures import Asked, empty_answer, unreadable
from jan_magics.providers.frames import json_of, refusal_in
from jan_magics.providers.openai_usage import count
from jan_magics.providers.surrogates import Surrogates, encodable

_FILTERS: Final = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
     "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"}
)  # fmt: skip
_SIMPLER: Final = (
    "Run the cell again; when it stays, describe the tools more simply, or ask another "
    "model: %chat use MODEL"
)
_BROKEN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({
    "MALFORMED_FUNCTION_CALL": ("wrote a tool call that cannot be read", _SIMPLER),
    "UNEXPECTED_TOOL_CALL": (
        "called a tool where it was offered none", "Offer some (--tools NAME), or ask once more."
    ),
    "TOO_MANY_TOOL_CALLS": ("called too many tools one after the other", _SIMPLER),
    "MISSING_THOUGHT_SIGNATURE": (
        "misses a signature of its earlier thoughts",
        "Ask without them: --no-history   or start anew: %chat new",
    ),
    "MALFORMED_RESPONSE": ("wrote an answer that cannot be read", _SIMPLER),
})  # fmt: skip
"""How an answer broke, and what to do then."""


class GoogleDecoder:
    """One piece of the answer after the other; a call comes whole, in one of them."""

    __slots__ = (
        "_asked", "_broke", "_calls", "_earlier", "_ended", "_halves", "_reason", "_said", "_usage",
        "done",
    )  # fmt: skip

    def __init__(self, asked: Asked, *, calls: int = 0) -> None:
        self.done = False
        self._asked = asked
        self._earlier = calls
        self._calls = 0
        self._said = False
        self._reason: FinishReason | None = None
        self._ended = ""
        self._broke: tuple[str, str] | None = None
        self._usage: Mapping[str, Json] = {}
        self._halves = (Surrogates(), Surrogates())

    @property
    def begun(self) -> bool:
        """Tell whether the answer said anything, or at least why it says nothing."""
        return self._said or self._reason is not None

    def feed(self, payload: bytes, events: list[StreamEvent]) -> None:
        """Append the events of one frame. Raises ProviderError."""
        if not payload.strip():
            return
        found = json_of(payload, self._asked)
        # Without `alt=sse`, as behind some proxies, all pieces come in one list.
        for piece in found if isinstance(found, list) else [found]:
            if not isinstance(piece, dict):
                raise unreadable(self._asked, "a piece of it is no object")
            self._piece(piece, events)

    def close(self) -> list[StreamEvent]:
        """Return the Finish.

        Raises:
            StreamBroken: when nothing was said at all.
            ServerFailed: when nothing was said, because the model's words could not be used.
        """
        if not self.begun:
            raise empty_answer(self._asked)
        told = list[StreamEvent]()
        if self._broke:
            how, step = self._broke
            if not self._said:
                raise ServerFailed(
                    f"{self._asked.who} could not use what the model wrote, which {how}:"
                    f" {self._ended[:200]}",
                    step,
                    model=self._asked.model,
                )
            told = [Remark(f"{self._asked.model} {how} ({self._ended[:200]}) · {step}")]
        called = self._calls and self._reason == "stop"
        return [*told, Finish("tools" if called else self._reason, self._tokens())]

    def _piece(self, piece: Mapping[str, Json], events: list[StreamEvent]) -> None:
        if "error" in piece:
            raise refusal_in(piece["error"], self._asked)
        feedback = piece.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            raise self._blocked(feedback)
        if isinstance(usage := piece.get("usageMetadata"), dict):
            self._usage = {**self._usage, **usage}
        candidates = piece.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(first, dict):
            return
        before = len(events)
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                self._part(part, events)
        self._said = self._said or len(events) > before
        reason = first.get("finishReason")
        if isinstance(reason, str) and reason != "FINISH_REASON_UNSPECIFIED":
            self._reason = _reason(reason)
            told = first.get("finishMessage")
            self._ended = encodable(f"{reason}: {told}" if isinstance(told, str) else reason)
            self._broke = _BROKEN.get(reason)

    def _part(self, part: Mapping[str, Json], events: list[StreamEvent]) -> None:
        signature = part.get("thoughtSignature")
        kept: dict[str, Json] = {"thoughtSignature": signature} if signature else {}
        if isinstance(call := part.get("functionCall"), dict):
            self._call(call, kept, events)
            return
        text = part.get("text")
        if isinstance(text, str):
            thought = part.get("thought") is True
            if said := self._halves[thought].mend(text):
                events.append(ReasoningDelta(said) if thought else TextDelta(said))
        if kept:
            events.append(Seal(self._mine(kept)))

    def _call(
        self, call: Mapping[str, Json], kept: dict[str, Json], events: list[StreamEvent]
    ) -> None:
        index, self._calls = self._calls, self._calls + 1
        own = call.get("id")
        if isinstance(own, str) and own:
            kept = {**kept, "id": own}
        call_id = encodable(str(kept.get("id") or f"call_{self._earlier + index}"))
        name = call.get("name")
        arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
        named = encodable(name) if isinstance(name, str) else ""
        events.append(ToolCallDelta(index, call_id, named, encodable(arguments)))
        if kept:
            events.append(Seal(self._mine(kept), index=index))

    def _mine(self, data: Json) -> ProviderData:
        return ProviderData(self._asked.provider, self._asked.model, data)

    def _blocked(self, feedback: Mapping[str, Json]) -> ProviderError:
        words = encodable(str(feedback.get("blockReasonMessage") or feedback["blockReason"]))
        return RequestRejected(
            f"{self._asked.who} does not answer this prompt: {words[:200]}",
            "Word it differently, or ask another model: %chat use MODEL",
            model=self._asked.model,
        )

    def _tokens(self) -> Usage | None:
        names = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount",
                 "thoughtsTokenCount", "cachedContentTokenCount")  # fmt: skip
        prompt, tools, said, thought, cached = (count(self._usage.get(name)) for name in names)
        read = None if prompt is None else prompt + (tools or 0)
        # What was thought is paid for as output, and is not in the candidates' tokens.
        output = None if said is None and thought is None else (said or 0) + (thought or 0)
        found = Usage(read, output, cached, thought)
        return None if found == Usage() else found


def _reason(reason: str) -> FinishReason:
    if reason == "MAX_TOKENS":
        return "length"
    if reason in _FILTERS:
        return "filter"
    return "error" if reason in _BROKEN else "stop"
