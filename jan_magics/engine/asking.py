"""What a cell or a call asks for, before anything is looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from jan_magics.context.budget import Overflow
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.overlays import CellLink
from jan_magics.engine.attached import Attachment

Aim: TypeAlias = Literal["ask", "retry", "edit", "resume"]


@dataclass(frozen=True, slots=True)
class Asking:
    """What a cell or a call asks for; None = as `use` says, else as the thread or settings say.

    `side`: the turn is kept beside the thread, whose head does not move; without history it always
    is. `cell` says which call of which cell asks; its `message` is empty. `at` is "head", or the
    beginning of the id of the message that the aim is about: the turn goes below it, answers it
    again, makes a new version of it, or goes on with it. `rerun` None = as the setting says, and
    so are `window`, in tokens, and `overflow`. `tools` are functions, or names of some, () none;
    `max_steps` are model calls; `yes`: whatever is called is run unasked. `settings` are of the
    budget, and go before all others. What `collection` has of `query`, else of the text, is sent
    with it: at most `k` chunks whose cosine is at least `threshold`; "" names no collection.
    What is in `attach` goes with the question. `schema` is what the answer's form is named by: a
    JSON schema, a class, or the name of a variable. `send_anyway`: also when a key stands in it.
    """

    text: str = ""
    thread: str | None = None
    model: str | None = None
    system: str | None = None
    assistant: str | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True
    side: bool = False
    aim: Aim = "ask"
    at: str | None = None
    rerun: str | None = None
    window: int | None = None
    overflow: Overflow | None = None
    cell: CellLink | None = None
    tools: tuple[object, ...] | None = None
    max_steps: int | None = None
    yes: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    collection: str | None = None
    k: int | None = None
    threshold: float | None = None
    query: str | None = None
    attach: tuple[Attachment, ...] = ()
    schema: object = None
    send_anyway: bool = False

    @property
    def beside(self) -> bool:
        """Tell whether the turn is kept beside the thread."""
        return self.side or not self.history


def laid_over(asking: Asking, sticky: Asking, rerun: str | None) -> Asking:
    """Return an asking with what `use` made stick, and the setting for reruns, filled in."""
    options = replace(
        asking.options,
        temperature=_first(asking.options.temperature, sticky.options.temperature),
        max_tokens=_first(asking.options.max_tokens, sticky.options.max_tokens),
        seed=_first(asking.options.seed, sticky.options.seed),
        timeout=_first(asking.options.timeout, sticky.options.timeout),
        parameters={**sticky.options.parameters, **asking.options.parameters},
    )
    return replace(
        asking,
        thread=_first(asking.thread, sticky.thread),
        model=_first(asking.model, sticky.model),
        system=_first(asking.system, sticky.system),
        assistant=_first(asking.assistant, sticky.assistant),
        options=options,
        rerun=_first(asking.rerun, rerun),
        window=_first(asking.window, sticky.window),
        overflow=_first(asking.overflow, sticky.overflow),
        tools=_first(asking.tools, sticky.tools),
        max_steps=_first(asking.max_steps, sticky.max_steps),
        collection=_first(asking.collection, sticky.collection),
        k=_first(asking.k, sticky.k),
        threshold=_first(asking.threshold, sticky.threshold),
    )


def about_looking(asking: Asking) -> tuple[str, ...]:
    """Return the flags of an asking that say how something is looked up."""
    flags = {"-k": asking.k, "--threshold": asking.threshold, "--query": asking.query}
    return tuple(flag for flag, value in flags.items() if value is not None)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
