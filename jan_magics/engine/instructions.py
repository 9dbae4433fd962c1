"""As whom a turn is answered: the assistant that is meant, its instructions filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from jan_magics.domain.messages import Json, Thread
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.asking import Asking
from jan_magics.engine.assistants import Assistant, Assistants
from jan_magics.engine.settings import Settings
from jan_magics.engine.templates import Facts, nearest, render

_FIELDS: Final = (
    ("temperature", "temperature"), ("max_tokens", "max_tokens"), ("seed", "seed"),
    ("max_output_tokens", "max_tokens"), ("timeout", "timeout"),
)  # fmt: skip
"""Parameters of a file, and the options that they are."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What an assistant brings to a turn; `aside` is sent, unstored, before the newest prompt."""

    assistant: Assistant
    system: str
    aside: str
    options: ChatOptions
    notes: tuple[str, ...] = ()


def find_assistant(
    assistants: Assistants, asking: Asking, thread: Thread | None, settings: Settings
) -> Assistant:
    """Return who is meant: the flag, the thread's own, the setting, else the default.

    Raises:
        AssistantNotFound: with the nearest names.
    """
    if asking.assistant:
        return assistants.named(asking.assistant).assistant
    if thread and (own := assistants.of_thread(thread)):
        return own
    setting = settings.get("assistant").value
    return assistants.named(setting).assistant if setting else assistants.default()


def instruct(assistant: Assistant, asking: Asking, facts: Facts) -> Instructions:
    """Fill the instructions in; those of a flag follow the assistant's, its parameters win."""
    texts = (each for each in (assistant.instructions, asking.system or "") if each.strip())
    rendered = render("\n\n".join(texts), facts)
    system = rendered.stable if rendered.stable.strip() else ""
    options = _under(assistant.parameters, asking.options)
    return Instructions(assistant, system, rendered.volatile, options, _told(rendered.unknown))


def _under(parameters: Mapping[str, Json], options: ChatOptions) -> ChatOptions:
    """Return options with an assistant's parameters below them."""
    rest = dict(parameters)
    given: dict[str, Any] = {}
    for name, option in _FIELDS:
        value = rest.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            del rest[name]
            if getattr(options, option) is None:
                whole = option in ("max_tokens", "seed")
                given.setdefault(option, int(value) if whole else value)
    return replace(options, **given, parameters={**rest, **options.parameters})


def _told(unknown: tuple[str, ...]) -> tuple[str, ...]:
    if not unknown:
        return ()
    first = unknown[0]
    closest = nearest(first)
    hint = f", closest: {{{{{closest}}}}}" if closest else ""
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    return (f"{{{{{first}}}}} in the instructions is no template and was sent as text{hint}{more}",)
