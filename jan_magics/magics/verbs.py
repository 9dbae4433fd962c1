"""The verbs of `%chat`: each is a few lines over what Python can call too."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from IPython.core.error import UsageError

from jan_magics.api.asking import merged, plain_options
from jan_magics.api.background import stop_all
from jan_magics.api.current import current
from jan_magics.api.host import Host
from jan_magics.api.opening import back_up, current_host, empty_bin, init_folder
from jan_magics.api.replaying import how_kept, kept_in
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import JanError, SettingError
from jan_magics.domain.models import ChatOptions
from jan_magics.domain.version import VERSION
from jan_magics.engine.branches import begins_branch
from jan_magics.engine.naming import shown_title
from jan_magics.engine.session import Session
from jan_magics.engine.stuck import assistant_here
from jan_magics.engine.toolbox import tool_name
from jan_magics.engine.undoing import delete_thread, rename_thread
from jan_magics.magics.arguments import HelpAsked, Parser, make_parser, parse, parse_with_text
from jan_magics.magics.asking import ask, asking_of
from jan_magics.magics.branching import RUN as BRANCHES
from jan_magics.magics.caller import Caller
from jan_magics.magics.commands import VERBS, Verb
from jan_magics.magics.editing import list_assistants
from jan_magics.magics.empty import told_if_empty
from jan_magics.magics.failing import prompt_about
from jan_magics.magics.fitting import RUN as CONTEXT
from jan_magics.magics.keying import ask_for_key
from jan_magics.magics.leaking import RUN as LEAKS
from jan_magics.magics.line import Line
from jan_magics.magics.reading import literal_key, looks_like_a_key
from jan_magics.magics.taping import RUN as CASSETTES
from jan_magics.magics.tooling import RUN as TOOLS
from jan_magics.magics.topics import help_text
from jan_magics.magics.words import nearest
from jan_magics.notebook.columns import clip

Run: TypeAlias = Callable[[Caller, Any, str], object]


def run_verb(magics: Caller, line: str) -> object:
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
    if name.startswith("-"):
        raise UsageError(
            f"%chat: {name} stands where a verb belongs\n"
            f"To make it stick: %chat use {line.strip()}   to ask with it: %%chat {line.strip()}"
        )
    verb = next((each for each in VERBS if each.name == name), None)
    if verb is None:
        meant = nearest(name, [each.name for each in VERBS])
        hint = f", closest: {meant}" if meant else ""
        raise UsageError(
            f"%chat: no verb {name!r}{hint}. A prompt is: %chat ask {line.strip()}\nSee: %chat help"
        )
    if name == "key" and (" " in rest.strip() or looks_like_a_key(rest.strip())):
        raise literal_key()
    parser = verb_parser(verb)
    try:
        parsed, text = parse_with_text(parser, rest) if verb.text else (parse(parser, rest), "")
    except HelpAsked:
        raise HelpAsked(help_text(name)) from None  # all of it, as %chat help shows it
    return told_if_empty(name, RUN[name](magics, parsed, text))


def verb_parser(verb: Verb) -> Parser:
    """Return the parser of a verb's flags and words."""
    return make_parser(f"%chat {verb.name}", verb.summary, verb.flags, verb.words)


def status() -> Line:
    """Say in at most six lines who answers, where, and with what."""
    host = current_host()
    try:
        session = host.session()
    except SettingError as fault:
        return Line(f"settings {_fault(fault)}\nhelp     %chat doctor")
    lines = [
        f"model    {_who(host)}",
        f"thread   {_where(session)}",
        f"folder   {kept_in(host)}",
    ]
    lines += [f"settings {_fault(fault)}" for fault in session.settings().damage()]
    sticky = session.sticky
    if options := plain_options(sticky.options):
        lines.append("options  " + ", ".join(f"{k}={v}" for k, v in options.items()))
    if sticky.tools:
        lines.append(f"tools    {', '.join(map(tool_name, sticky.tools))}")
    with suppress(JanError):  # who cannot be read is told when they are asked
        whom = assistant_here(session)
        lines += [f"as       {whom.value} ({whom.source})"] if whom.value else []
    if sticky.system:
        lines.append(f"system   {sticky.system[:70]}")
    return Line("\n".join((*lines, "help     %chat help")))


def _who(host: Host) -> str:
    """Say who answers, or why nobody can yet."""
    try:
        choice = host.bridge.call(host.session().choice)
    except SettingError as fault:
        return _fault(fault)
    return f"{choice.model} ({choice.why})"


def _fault(fault: SettingError) -> str:
    return f"{fault.message} · {fault.next_step}"


def _where(session: Session) -> str:
    """Say where the next turn goes."""
    try:
        view = session.view()
    except SettingError as fault:
        return _fault(fault)
    if view.thread is None:
        return "a new thread at the next prompt"
    place = f"{shown_title(view.thread)}, {counted(len(view.path()), 'message')}"
    if not begins_branch(session, view):
        return place
    other = "%chat undo" if view.pending else "%%chat --at head"
    return f"{place}; the next turn begins a new branch · to go on instead: {other}"


def _ask(magics: Caller, parsed: Any, text: str) -> object:
    if not text and not parsed.attach:
        raise UsageError("%chat ask: write the prompt behind it: %chat ask why is the sky blue?")
    return ask(magics.shell, parsed, text)


def _fix(magics: Caller, parsed: Any, _: str) -> object:
    if magics.failure is None:
        raise SettingError("no cell has failed here yet", "Run the failing cell, then %chat fix.")
    parsed.literal = True  # code has braces of its own
    return ask(magics.shell, parsed, prompt_about(*magics.failure))


def _use(magics: Caller, parsed: Any, _: str) -> Line:
    session = current_host().session()
    wanted = asking_of(magics.shell, parsed)
    back = {name: None for name, value in parsed.P or () if value is None}
    if parsed.system == "":
        back["system"] = None
    together = merged(session.merged(wanted), back)
    if together.model and (wanted.model or wanted.options != ChatOptions()):
        session.check(together.model, together.options)
    session.toolbox.offered(wanted.tools)
    if wanted.assistant:
        session.assistants.named(wanted.assistant)
    # Last, so that nothing is left behind where a word before it cannot be used.
    if wanted.thread:
        # By its id: the name may be another's tomorrow.
        together = replace(together, thread=session.threads.obtain(wanted.thread).id)
    before, session.sticky = session.sticky, together
    try:
        return status()
    except JanError:
        session.sticky = before
        raise


def _stop(magics: Caller, parsed: Any, _: str) -> Line:
    stopped, dropped = stop_all(current_host())
    if not stopped and not dropped:
        return Line("nothing is being answered")
    lines = [f"stopped {counted(stopped, 'turn')}"] if stopped else []
    if dropped:
        lines.append(f"{counted(len(dropped), 'turn')} that waited: not sent · run the cell again")
    return Line("\n".join((*lines, *(f"  «{clip(prompt, 60)}»" for prompt in dropped))))


def _help(magics: Caller, parsed: Any, _: str) -> Line:
    return Line(help_text(parsed.topic or ""))


def _version(magics: Caller, parsed: Any, _: str) -> Line:
    return Line(f"jan_magics {VERSION}, Python {sys.version.split()[0]}")


def _threads(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.lists import threads

    return threads()


def _rename(magics: Caller, parsed: Any, _: str) -> Line:
    before, after = rename_thread(current_host().session(), parsed.old, parsed.new)
    return Line(f"{shown_title(before)} is now {after.title}")


def _delete(magics: Caller, parsed: Any, _: str) -> Line:
    thread = delete_thread(current_host().session(), parsed.thread)
    return Line(f"{shown_title(thread)} is in the bin · back: %chat undo")


def _find(magics: Caller, parsed: Any, text: str) -> object:
    from jan_magics.api.lists import find

    found = find(text, thread=parsed.thread)
    if found.empty:
        several = len(text.split()) > 1
        hint = "a message must have all these words: leave some out" if several else "no such word"
        print(f"nothing found: {hint}")
    return found


def _export(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.moving import Exported

    return Exported(current().export(parsed.file), current_host().opening.folder())


def _import(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.moving import import_threads

    return import_threads(parsed.path)


def _models(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.lists import models

    return models()


def _assistants(magics: Caller, parsed: Any, _: str) -> object:
    return list_assistants(magics.shell, parsed.new, parsed.edit)


def _config(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.lists import config

    return config()


def _key(magics: Caller, parsed: Any, _: str) -> Line:
    return Line(ask_for_key(current_host(), parsed.provider))


def _store(magics: Caller, parsed: Any, _: str) -> Line:
    host = current_host()
    if parsed.init:
        before = host.session().engine.folder
        after = init_folder(host)
        stay = f"; those so far stay in {before}" if after != before else ""
        return Line(f"threads are kept in {after} from now on{stay}")
    if parsed.convert:
        from jan_magics.api.moving import convert_store, converted_text

        return Line(converted_text(parsed.convert, convert_store(parsed.convert)))
    if parsed.backup:
        return Line(f"everything is copied to {back_up(host, parsed.backup)}")
    if parsed.vacuum:
        threads, others = empty_bin(host)
        also = f", {counted(others, 'collection')}" if others else ""
        return Line(f"the bin is empty: {counted(threads, 'thread')}{also} gone for good")
    return Line(f"threads are kept in {how_kept(host)}")


def _doctor(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.lists import doctor

    return doctor(fix=parsed.fix)


RUN: Final[Mapping[str, Run]] = MappingProxyType({
    "ask": _ask, "fix": _fix, "use": _use, "stop": _stop, "help": _help, "version": _version,
    "threads": _threads, "rename": _rename, "delete": _delete, "find": _find,
    "export": _export, "import": _import, "models": _models, "assistants": _assistants,
    "config": _config, "key": _key, "store": _store, "doctor": _doctor, **BRANCHES, **CONTEXT,
    **CASSETTES, **TOOLS, **LEAKS,
})  # fmt: skip
