"""From parsed flags and a prompt to an answer: interpolation, the turn, where the answer goes."""

import argparse
import builtins
from dataclasses import replace
from functools import partial
from typing import Any

from IPython.core.error import UsageError

from jan_magics.api.asking import refuse_settings
from jan_magics.api.attaching import attachment_named
from jan_magics.api.background import Running, settled
from jan_magics.api.context import grid, say
from jan_magics.api.host import Host, Showing, language_of
from jan_magics.api.opening import current_host
from jan_magics.api.preview import preview
from jan_magics.domain.errors import SchemaUnmet
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.asking import Asking
from jan_magics.engine.attached import Attachment
from jan_magics.engine.templates import escaped, is_template
from jan_magics.magics.keeping import keep, variable
from jan_magics.magics.mapping import map_cell, refuse_beside_a_map
from jan_magics.magics.reading import axes, parameter_value
from jan_magics.magics.refusing import refuse_given
from jan_magics.notebook.bridge import Stopped
from jan_magics.notebook.interpolate import interpolate


def ask(shell: Any, parsed: argparse.Namespace, prompt: str) -> object:
    """Make a turn as the flags say. Returns an Answer; with `--dry-run` what would be sent."""
    name = variable(parsed.o, "answer")
    _refuse_beside_a_grid(parsed)
    refuse_beside_a_map(parsed)
    host = current_host()
    asked = asking_of(shell, parsed)
    asking = replace(
        asked,
        text=prompt if parsed.map is not None else _filled(shell, parsed, prompt),
        at=parsed.at,
        attach=_attached(shell, parsed),
        rerun="reuse" if parsed.reuse else None,
        send_anyway=parsed.send_anyway,
        cell=host.cell_call(),
        schema=parsed.schema,
    )
    if parsed.map is not None:
        return map_cell(shell, host, parsed, asking, partial(keep, shell, name))
    if parsed.dry_run:
        return preview(host, asking)
    if parsed.grid:
        return keep(shell, name, _tried(host, asking, parsed))
    showing = Showing(not parsed.q, not parsed.no_stream, parsed.f or "markdown")
    if parsed.background:
        return settled(host, keep(shell, name, Running(host, asking, showing)))
    try:
        answer = host.ask(asking, showing)
    except (Stopped, SchemaUnmet) as ended:
        keep(shell, name, ended.answer)
        raise
    if parsed.q:
        answer.hide()
    keep(shell, name, answer)
    if parsed.to_cell:
        shell.set_next_input(answer.code or answer.text, replace=False)
    return answer


def _tried(host: Host, asking: Asking, parsed: argparse.Namespace) -> Any:
    """Return the table of a grid, and print what is to be told of it."""
    table = grid(host, asking, axes(parsed.grid), parsed.needle)
    for line in table.attrs["jan"]["said"]:
        say(line, language_of(host))
    return table


def _refuse_beside_a_grid(parsed: argparse.Namespace) -> None:
    """Refuse what a grid would pass over: it returns a table, and shows no answer."""
    if not parsed.grid:
        if parsed.needle is None:
            return
        raise UsageError(
            "--needle is looked for in the answers of a grid, and there is none\n"
            "Add what to try: --grid temperature=0,1"
        )
    beside = {
        "--dry-run": parsed.dry_run, "--background": parsed.background, "-q": parsed.q,
        "--to-cell": parsed.to_cell, "--reuse": parsed.reuse, "--at": parsed.at,
    }  # fmt: skip
    refuse_given(
        beside,
        "does nothing beside --grid, which asks and returns a table\n"
        "Leave it out; keep the table in a variable: -o NAME",
    )


def asking_of(shell: Any, parsed: argparse.Namespace) -> Asking:
    """Return the flags as an asking; `{{ }}` works in their values as in the prompt."""
    model, thread = target(parsed)
    named = {
        "model": model, "thread": thread, "assistant": parsed.assistant,
        "collection": parsed.collection,
    }  # fmt: skip
    filled: dict[str, Any] = {
        name: value and _filled(shell, parsed, value) for name, value in named.items()
    }
    system = parsed.system and _instructions(shell, parsed, parsed.system)
    parameters = {
        name: _parameter(shell, parsed, name, value)
        if isinstance(value, str) and "{{" in value
        else value
        for name, value in parsed.P or ()
    }
    refuse_settings(name for name, value in parameters.items() if value is not None)
    options = ChatOptions(parsed.temperature, parsed.max_tokens, parameters=parameters)
    history = not getattr(parsed, "no_history", False)
    sizes = {"window": parsed.window, "overflow": parsed.overflow}
    looked = {"k": parsed.k, "threshold": parsed.threshold, "query": getattr(parsed, "query", None)}
    called: dict[str, Any] = {"tools": parsed.tools, "max_steps": parsed.max_steps}
    called["yes"] = getattr(parsed, "yes", False)
    return Asking(
        **filled, **sizes, **called, **looked, system=system, options=options, history=history
    )


def target(parsed: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return model and thread: a word with a colon is a model, one without a thread."""
    word = getattr(parsed, "model_or_thread", None)
    model, thread = parsed.model, parsed.thread
    if word and ":" in word:
        if model:
            raise UsageError(f"two models: {word} and -m {model}\nName one of them.")
        return word, thread
    if word and thread:
        raise UsageError(f"two threads: {word!r} and -t {thread!r}\nName one of them.")
    return model, word or thread


def _filled(shell: Any, parsed: argparse.Namespace, text: str) -> str:
    if getattr(parsed, "literal", False):
        return text
    return interpolate(text, shell.user_ns, vars(builtins)).text


def _attached(shell: Any, parsed: argparse.Namespace) -> tuple[Attachment, ...]:
    words = (_filled(shell, parsed, word) for word in parsed.attach or ())
    return tuple(attachment_named(word, shell.user_ns) for word in words)


def _parameter(shell: Any, parsed: argparse.Namespace, name: str, text: str) -> Any:
    """Fill a value in and read it; with `--literal` it is text."""
    if getattr(parsed, "literal", False):
        return text
    try:
        return parameter_value(name, _filled(shell, parsed, text))
    except argparse.ArgumentTypeError as fault:
        raise UsageError(f"-P {name}: {fault}") from None


def _instructions(shell: Any, parsed: argparse.Namespace, text: str) -> str:
    """Fill instructions in; the names of templates are left for every send."""
    if getattr(parsed, "literal", False):
        return escaped(text)
    return interpolate(text, shell.user_ns, vars(builtins), is_template).text
