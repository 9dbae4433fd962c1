"""What is in force at the next turn: the settings, and over them what `use` made stick."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from jan_magics.domain.errors import JanError, ThreadError
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.asking import Asking
from jan_magics.engine.naming import shown_title
from jan_magics.engine.session import Session
from jan_magics.engine.setting_list import BY_NAME, Setting
from jan_magics.engine.settings import Value
from jan_magics.engine.toolbox import tool_name

USE: Final = "%chat use"
REMEMBERED: Final = "the thread's own"
_SYSTEM: Final = Setting("system", "instructions that go with every turn")
_TOOLS: Final = Setting("tools", "what a model may call at every turn")
_COLLECTION: Final = Setting("collection", "what is looked up with every prompt")
_K: Final = Setting("k", "the most chunks of it that are sent")
_THRESHOLD: Final = Setting("threshold", "the least cosine of those")
_STEPS: Final = Setting("max_steps", "the most model calls in a turn")


def in_force(session: Session) -> tuple[Value, ...]:
    """Return every setting as the next turn has it, then what `use` made stick besides."""
    sticky = session.sticky
    thread = None
    with suppress(ThreadError):  # it was deleted meanwhile, as the next turn says
        thread = session.threads.seen(sticky.thread) if sticky.thread else None
    stuck = {
        "model": sticky.model,
        "thread": shown_title(thread) if thread else sticky.thread,
        "assistant": sticky.assistant,
        "overflow": sticky.overflow,
        "window": None if sticky.window is None else str(sticky.window),
    }
    settings = [
        _late(value, session.opened)
        if (mine := stuck.get(value.setting.name)) is None
        else Value(value.setting, mine, USE)
        for value in session.settings().table()
    ]
    with suppress(JanError):
        whom = assistant_here(session)
        settings = [whom if each.setting == whom.setting else each for each in settings]
    return (*settings, *_besides(sticky.system, sticky.options), *_called(sticky), *_given(sticky))


def _given(sticky: Asking) -> Iterator[Value]:
    if sticky.collection:
        yield Value(_COLLECTION, sticky.collection, USE)
    if sticky.k is not None:
        yield Value(_K, str(sticky.k), USE)
    if sticky.threshold is not None:
        yield Value(_THRESHOLD, f"{sticky.threshold:g}", USE)


def assistant_here(session: Session) -> Value:
    """Return as whom the next turn is answered, and who says so; None for nobody special.

    Raises:
        JanError: when the thread or the setting cannot be read.
    """
    if session.sticky.assistant:
        return Value(BY_NAME["assistant"], session.sticky.assistant, USE)
    thread = session.glance().thread
    whom = session.assistants.of_thread(thread) if thread else None
    if whom:
        return Value(BY_NAME["assistant"], whom.name, REMEMBERED)
    return session.settings().get("assistant")


def _called(sticky: Asking) -> Iterator[Value]:
    if sticky.tools is not None:
        yield Value(_TOOLS, ", ".join(map(tool_name, sticky.tools)) or "none", USE)
    if sticky.max_steps is not None:
        yield Value(_STEPS, str(sticky.max_steps), USE)


def _late(value: Value, opened: Mapping[str, str | None]) -> Value:
    """Say of a setting that was changed too late from when on it counts."""
    name = value.setting.name
    if name not in opened or opened[name] == value.value:
        return value
    return replace(value, source=f"{value.source}; counts from the next kernel on")


def _besides(system: str | None, options: ChatOptions) -> Iterator[Value]:
    if system:
        yield Value(_SYSTEM, system, USE)
    named = {name: getattr(options, name) for name in ("temperature", "max_tokens", "seed")}
    for name, value in {**named, "timeout": options.timeout, **options.parameters}.items():
        if value is not None:
            yield Value(Setting(name, "a parameter of every turn"), str(value), USE)
