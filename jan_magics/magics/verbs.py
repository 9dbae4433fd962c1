"""The verbs of `%chat`: each is a few lines over what Python can call too."""

import difflib
import getpass
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from IPython.core.error import UsageError

from jan_magics import __version__
from jan_magics.api.asking import plain_options
from jan_magics.api.opening import current, current_host
from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ChatOptions
from jan_magics.engine.assemble import keep_key
from jan_magics.engine.threads import existing_thread, shown_title
from jan_magics.magics.arguments import VERBS, Parser, Verb, make_parser, parse, parse_with_text
from jan_magics.magics.asking import ask, asking_of
from jan_magics.magics.failing import prompt_about
from jan_magics.magics.topics import help_text

if TYPE_CHECKING:
    from jan_magics.magics.chat import JanMagics

Run: TypeAlias = "Callable[[JanMagics, Any, str], object]"


class Line(str):
    """A line for people: a cell that ends with it shows it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def run_verb(magics: "JanMagics", line: str) -> object:
    """Run the verb at the beginning of a line.

    Raises:
        UsageError: for an unknown verb, with the nearest one.
        HelpAsked: when help was asked for.
    """
    name, _, rest = line.strip().partition(" ")
    if name in ("-h", "--help"):
        return Line(help_text(""))
    if name.endswith("?"):
        return Line(help_text(name.rstrip("?")))
    if not name:
        return status()
    verb = next((each for each in VERBS if each.name == name), None)
    if verb is None:
        nearest = difflib.get_close_matches(name, [each.name for each in VERBS], 1)
        hint = f", closest: {nearest[0]}" if nearest else ""
        raise UsageError(f"%chat: no verb {name!r}{hint}. A prompt is: %chat ask {line.strip()}")
    parser = verb_parser(verb)
    if verb.text:
        parsed, text = parse_with_text(parser, rest)
        return RUN[name](magics, parsed, text)
    return RUN[name](magics, parse(parser, rest), "")


def verb_parser(verb: Verb) -> Parser:
    """Return the parser of a verb's flags and words."""
    return make_parser(f"%chat {verb.name}", verb.summary, verb.flags, verb.words)


def status() -> Line:
    """Say in at most six lines who answers, where, and with what."""
    host = current_host()
    session = host.session()
    choice = host.bridge.call(session.choice)
    thread = session.current()
    where = "a new thread at the next prompt"
    if thread:
        where = f"{shown_title(thread)}, {len(session.engine.tree(thread).path())} messages"
    lines = [
        f"model    {choice.model} ({choice.why})",
        f"thread   {where}",
        f"folder   {session.engine.folder}",
    ]
    sticky = session.sticky
    if options := plain_options(sticky.options):
        lines.append("options  " + ", ".join(f"{k}={v}" for k, v in options.items()))
    if sticky.system:
        lines.append(f"system   {sticky.system[:70]}")
    return Line("\n".join((*lines, "help     %chat help")))


def _ask(magics: "JanMagics", parsed: Any, text: str) -> object:
    if not text:
        raise UsageError("%chat ask: write the prompt behind it: %chat ask why is the sky blue?")
    return ask(magics.shell, parsed, text)


def _fix(magics: "JanMagics", parsed: Any, _: str) -> object:
    if magics.failure is None:
        raise SettingError("no cell has failed here yet", "Run the failing cell, then %chat fix.")
    parsed.literal = True  # code has braces of its own
    return ask(magics.shell, parsed, prompt_about(*magics.failure))


def _use(magics: "JanMagics", parsed: Any, _: str) -> Line:
    session = current_host().session()
    wanted = asking_of(magics.shell, parsed)
    thread = session.merged(replace(wanted, options=ChatOptions())).thread
    if wanted.thread and session.threads.named(wanted.thread) is None:
        thread = session.threads.create(wanted.thread).id
    if wanted.model:
        session.check(wanted.model)
    session.sticky = replace(session.merged(wanted), thread=thread)
    return status()


def _stop(magics: "JanMagics", parsed: Any, _: str) -> Line:
    stopped = current_host().bridge.stop()
    return Line(
        f"stopped {stopped} turn{'s' * (stopped != 1)}" if stopped else "nothing is being answered"
    )


def _help(magics: "JanMagics", parsed: Any, _: str) -> Line:
    return Line(help_text(parsed.topic or ""))


def _version(magics: "JanMagics", parsed: Any, _: str) -> Line:
    return Line(f"jan_magics {__version__}, Python {sys.version.split()[0]}")


def _threads(magics: "JanMagics", parsed: Any, _: str) -> object:
    from jan_magics.api.lists import threads

    return threads()


def _new(magics: "JanMagics", parsed: Any, _: str) -> Line:
    current().new(parsed.name)
    return Line(f"a new thread: {parsed.name or 'unnamed'}")


def _rename(magics: "JanMagics", parsed: Any, _: str) -> Line:
    session = current_host().session()
    store = session.engine.store
    thread = existing_thread(store, parsed.old) if parsed.old else session.current()
    if thread is None:
        raise SettingError("there is no thread to rename yet", "Ask something first.")
    renamed = session.threads.rename(thread, parsed.new)
    if session.sticky.thread == thread.title:
        session.sticky = replace(session.sticky, thread=renamed.id)
    return Line(f"{shown_title(thread)} is now {renamed.title}")


def _delete(magics: "JanMagics", parsed: Any, _: str) -> Line:
    session = current_host().session()
    thread = session.threads.delete(parsed.thread)
    if session.sticky.thread in (thread.id, thread.title):
        session.sticky = replace(session.sticky, thread=None)
    return Line(f"{shown_title(thread)} is in the bin")


def _find(magics: "JanMagics", parsed: Any, text: str) -> object:
    from jan_magics.api.lists import find

    return find(text, thread=parsed.thread)


def _show(magics: "JanMagics", parsed: Any, _: str) -> object:
    return current().show(parsed.id)


def _models(magics: "JanMagics", parsed: Any, _: str) -> object:
    from jan_magics.api.lists import models

    return models()


def _config(magics: "JanMagics", parsed: Any, _: str) -> object:
    from jan_magics.api.lists import config

    return config()


def _key(magics: "JanMagics", parsed: Any, _: str) -> Line:
    value = getpass.getpass(f"key of {parsed.provider} (not shown): ")
    where = keep_key(parsed.provider, value)
    current_host().reopen()  # an open connection has no key, or the old one
    return Line(f"the key of {parsed.provider} is kept in {where}")


def _store(magics: "JanMagics", parsed: Any, _: str) -> Line:
    host = current_host()
    if parsed.init:
        host.init_folder()
    return Line(f"threads are kept in {host.session().engine.folder}")


def _doctor(magics: "JanMagics", parsed: Any, _: str) -> object:
    from jan_magics.api.lists import doctor

    return doctor()


RUN: Final[Mapping[str, Run]] = MappingProxyType({
    "ask": _ask, "fix": _fix, "use": _use, "stop": _stop, "help": _help, "version": _version,
    "threads": _threads, "new": _new, "rename": _rename, "delete": _delete, "find": _find,
    "show": _show,
    "models": _models, "config": _config, "key": _key, "store": _store, "doctor": _doctor,
})  # fmt: skip
