"""Keywords become an asking: the flags of `%%chat` by their names, else the model's parameters."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from jan_magics.api.attaching import attachments_of
from jan_magics.api.flags import OF_ONE_TURN, without_flags
from jan_magics.context.budget import Overflow
from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.looking import checked_cosine, checked_rows
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.parameters import checked_options, names_a_key
from jan_magics.engine.asking import Asking
from jan_magics.engine.setting_list import BY_NAME
from jan_magics.engine.templates import escaped

FLAGS: Final = ("thread", "model", "system", "assistant")
BUDGET: Final = ("window", "overflow")
CALLING: Final = ("tools", "max_steps", "yes")
LOOKING: Final = ("collection", "k", "threshold", "query")
OPTIONS: Final = ("temperature", "max_tokens", "seed", "timeout")


def asking_of(
    text: str, params: Mapping[str, Any], *, at: str = "head", history: bool = True
) -> Asking:
    """Make an asking of a text and keywords. Raises SettingError, KeyRefused.

    "head" is where a call from Python goes by itself: in a run without cell ids, its own branch.
    """
    others = {name: value for name, value in params.items() if name not in OF_ONE_TURN}
    if params.get("dry_run"):
        raise SettingError("here a dry run cannot be shown", "Write: chat.send(text, dry_run=True)")
    rerun = "reuse" if params.get("reuse") else None
    history = history and not params.get("no_history")
    asked = laid_on(Asking(at=None if at == "head" else at, history=history, rerun=rerun), others)
    if params.get("literal") and asked.system:
        asked = replace(asked, system=escaped(asked.system))
    attached = attachments_of(params.get("attach"))
    schema = params.get("schema")
    asked = replace(asked, send_anyway=bool(params.get("send_anyway")))
    said = checked_text(text, blank=bool(attached))
    return replace(asked, text=said, attach=attached, schema=schema)


def merged(asking: Asking, settings: Mapping[str, Any]) -> Asking:
    """Return an asking with keywords laid over it that stick.

    Raises:
        SettingError: for a value that nothing can take, and for what is about one turn.
        KeyRefused: for a key among the parameters.
    """
    return laid_on(asking, without_flags(settings, sticks=True))


def laid_on(asking: Asking, params: Mapping[str, Any]) -> Asking:
    """Return an asking with keywords laid over it; None takes a value back.

    Raises:
        SettingError: for a value that nothing can take.
        KeyRefused: for a key among the parameters.
    """
    params = without_flags(params)
    flags: dict[str, Any] = {
        name: text_or_none(name, value) for name, value in params.items() if name in FLAGS
    }
    flags |= {name: _of_budget(name, value) for name, value in params.items() if name in BUDGET}
    options = {name: value for name, value in params.items() if name in OPTIONS}
    flags |= {name: _of_tools(name, value) for name, value in params.items() if name in CALLING}
    flags |= {name: _of_looking(name, value) for name, value in params.items() if name in LOOKING}
    named = (*FLAGS, *BUDGET, *CALLING, *LOOKING, *OPTIONS)
    others = {name: value for name, value in params.items() if name not in named}
    for name in others:
        if names_a_key(name):
            raise KeyRefused(
                f"{name} is no parameter of a model", "Give it to jan.Chat(api_key=…)."
            )
    refuse_settings(others)
    parameters = {**asking.options.parameters, **others}
    kept = {name: value for name, value in parameters.items() if value is not None}
    together = replace(asking.options, **options, parameters=kept)
    checked_options(together)
    return replace(asking, **flags, options=together)


def refuse_settings(names: Iterable[str]) -> None:
    """Refuse our own settings as parameters of a model: they would be sent and do nothing."""
    for name in names:
        if name in BY_NAME:
            raise SettingError(
                f"{name} is a setting, not a parameter of a model",
                f"Set it for this kernel: %config JanMagics.{name} = …",
            )


def checked_text(text: object, *, blank: bool = False) -> str:
    """Return a prompt; `blank`: it may say nothing, files do. Raises SettingError for any other."""
    if not isinstance(text, str):
        raise SettingError(f"a prompt is text, not {type(text).__name__}", "Give str(value).")
    if not text.strip() and not blank:
        raise SettingError("the prompt is empty", "Write what you want to ask.")
    return text


def plain_options(options: ChatOptions) -> dict[str, Any]:
    """Return the options that are set, by name."""
    named = {name: getattr(options, name) for name in OPTIONS}
    return {name: value for name, value in named.items() if value is not None} | dict(
        options.parameters
    )


def _of_budget(name: str, value: object) -> Any:
    """Return a window in tokens, or what is done when it overflows."""
    if value is None:
        return None
    if name == "overflow":
        if value not in get_args(Overflow):
            raise SettingError(
                f"overflow is {value!r}", f"It can be: {', '.join(get_args(Overflow))}"
            )
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SettingError(f"window is {value!r}", "It is a number of tokens; 0: no limit.")
    return value


def _of_looking(name: str, value: object) -> Any:
    """Return a collection or a query as text, a number of chunks, or a cosine."""
    if value is None:
        return None
    if name in ("collection", "query"):
        return text_or_none(name, value)
    return checked_rows(value) if name == "k" else checked_cosine(value)


def _of_tools(name: str, value: object) -> Any:
    """Return functions or names of some, a number of steps, or whether all may run unasked."""
    if name == "yes" or value is None:
        return bool(value) if name == "yes" else None
    if name == "tools":
        return _functions(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SettingError(f"max_steps is {value!r}", "It is a number of steps from 1.")
    return value


def _functions(value: object) -> tuple[object, ...]:
    if isinstance(value, str):
        return () if value == "none" else tuple(each.strip() for each in value.split(","))
    if callable(value):
        return (value,)
    if not isinstance(value, list | tuple):
        raise SettingError(f"tools is {value!r}", "Give functions: tools=[get_weather].")
    return tuple(value)


def text_or_none(name: str, value: object) -> str | None:
    """Return a value that is text or None. Raises SettingError for any other."""
    if value is None or isinstance(value, str):
        return value
    raise SettingError(f"{name} is text, not {value!r}", f"Write {name}='…'.")
