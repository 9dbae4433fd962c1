"""A request without what its model refuses: images and tools go, other things are said in words.

A refusal in words that are not known, of a request that has images, may mean them: then one try
goes out without, and what was supposed is remembered once that was taken.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import Refused, RequestRejected
from jan_magics.domain.events import LeftOut, Remark
from jan_magics.domain.messages import TextPart
from jan_magics.domain.models import AnswerSchema, ChatRequest, ModelRef, Profile, ToolSpec
from jan_magics.providers.learned import Learned
from jan_magics.providers.refusals import is_in, may_refuse_images
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.profiles import TEMPLATE

SAID: Final[Mapping[Refused, str]] = MappingProxyType({
    "images": "takes no images: they were left out",
    "tools": "takes no tools: none were offered",
    "system": "takes no system text: it was sent with the first question",
    "schema": "holds no answer to a schema: it was told the form in words",
    "calls": "takes no earlier tool calls without tools: they were told as text",
})  # fmt: skip
"""What a footer says of a model that has refused a request."""
FORM: Final = "Answer with JSON and nothing else. It must be valid under this JSON schema:"


@dataclass(slots=True)
class Objections:
    """What a model refuses, and what is told of it.

    `learned` is known of all models, `profile` what requests were cleaned for. `left_out` are the
    parameters that the newest request had no more, `remarks` other lines, each once.
    """

    learned: Learned = field(default_factory=Learned)
    profile: Profile = TEMPLATE
    left_out: list[LeftOut] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    _supposed: ModelRef | None = None

    def begin(self, request: ChatRequest) -> ChatRequest:
        """Return the request of a new step, without what its model has refused before."""
        self.left_out.clear()
        return narrowed(request, self.learned.lacks(request.model), self.profile)

    def less(self, request: ChatRequest, refusal: RequestRejected) -> ChatRequest:
        """Return a request without what was refused of it, and note that; else raise the refusal.

        Raises:
            RequestRejected: where it was something else, or may not go out again.
        """
        what = refusal.refuses
        supposed = what is None and may_refuse_images(refusal)
        what = "images" if supposed else what
        if what is None or not refusal.sends or not is_in(what, request):
            raise refusal
        if supposed:
            self._supposed = request.model
        else:
            self.learned.note(request.model, what)
        self.take(Remark(f"{request.model} {SAID[what]}"))
        return replace(narrowed(request, {what}, self.profile), sends=refusal.sends)

    def taken(self) -> None:
        """Remember what was supposed, now that a request without it was taken."""
        if self._supposed:
            self.learned.note(self._supposed, "images")
            self._supposed = None

    def take(self, event: LeftOut | Remark) -> None:
        """Take in what is to be told."""
        if isinstance(event, LeftOut):
            self.left_out.append(event)
        elif event.text not in self.remarks:
            self.remarks.append(event.text)

    def told(self) -> tuple[str, ...]:
        """Return a line for each parameter that was not sent, and what else is to be told."""
        left = (f"{left.name} was left out: {left.why}" for left in self.left_out)
        return (*left, *self.remarks)


def narrowed(request: ChatRequest, refused: Collection[Refused], profile: Profile) -> ChatRequest:
    """Return a request that its model may take; `profile` is what it was cleaned for."""
    if not refused:
        return request
    tools = () if "tools" in refused else request.tools
    messages = Cleaner(offering(narrower(profile, refused), tools))(request.messages)
    request = replace(request, messages=messages, tools=tools)
    if "schema" in refused and request.schema:
        request = in_words(request, request.schema)
    return told_first(request) if "system" in refused else request


def narrower(profile: Profile, refused: Collection[Refused]) -> Profile:
    """Return what a model takes that has refused something."""
    return replace(
        profile,
        images=False if "images" in refused else profile.images,
        tools=False if "tools" in refused else profile.tools,
        system="none" if "system" in refused else profile.system,
        schemas="never" if "schema" in refused else profile.schemas,
        calls_alone=False if "calls" in refused else profile.calls_alone,
    )


def in_words(request: ChatRequest, schema: AnswerSchema) -> ChatRequest:
    """Return a request whose last question says which form the answer must have."""
    asked = [n for n, message in enumerate(request.messages) if message.role == "user"]
    if not asked:
        return replace(request, schema=None)
    last, messages = asked[-1], [*request.messages]
    told = TextPart(form_of(schema))
    messages[last] = replace(messages[last], parts=(told, *messages[last].parts))
    return replace(request, messages=tuple(messages), schema=None)


def form_of(schema: AnswerSchema) -> str:
    """Return what a model is told that cannot be held to a schema."""
    return f"{FORM}\n{json.dumps(dict(schema.body), ensure_ascii=False)}"


def offering(profile: Profile, tools: Sequence[ToolSpec]) -> Profile:
    """Return what a model takes of a history beside these tools.

    Where none are offered some servers refuse earlier calls; then they are told as text.
    """
    alone = not tools and not profile.calls_alone
    return replace(profile, tools=False) if alone else profile


def told_first(request: ChatRequest) -> ChatRequest:
    """Return a request whose system text stands before the words of the first question."""
    text, messages = request.system, request.messages
    if not text.strip():
        return request
    first = next((n for n, message in enumerate(messages) if message.role == "user"), 0)
    asked = (replace(each, parts=(TextPart(text), *each.parts)) for each in messages[first:][:1])
    told = (*messages[:first], *asked, *messages[first + 1 :])
    return replace(request, system="", messages=told)
