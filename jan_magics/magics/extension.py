"""`%load_ext jan_magics` and its undoing: silent, writes nothing, opens no connection."""

import sys
from functools import partial
from typing import Any

from traitlets import Enum, TraitError, Unicode

from jan_magics.magics.chat import JanMagics, fault_of_setting
from jan_magics.magics.completion import match_chat
from jan_magics.magics.rag import RagMagics
from jan_magics.magics.transform import allow_blank_cells, keep_question_marks
from jan_magics.notebook.buttons import PAGE, buttons_of

ALIAS = "jan"
NAME = "chat"
RETRIEVAL = "rag"
TRANSFORMERS = (keep_question_marks, allow_blank_cells)


def load(shell: Any) -> None:
    """Register the magics, the completer and the input transformer; twice is as once."""
    unload(shell)
    _drop_refused(shell)
    magics = JanMagics(shell)
    if others := _owner(shell, NAME):
        sys.stdout.write(f"{others}: this extension answers to %%jan and %jan\n")
        for kind in magics.magics.values():
            kind.pop(NAME, None)
    shell.register_magics(magics)
    if others := _owner(shell, RETRIEVAL):
        sys.stdout.write(f"{others}: jan.chunks and jan.Collection do the same\n")
    else:
        shell.register_magics(RagMagics(shell))
    shell.input_transformers_cleanup.extend(TRANSFORMERS)
    shell.Completer.custom_matchers.append(match_chat)
    shell.events.register("post_run_cell", magics.remember_failure)
    if buttons_of(shell) is not None:
        shell.kernel.comm_manager.register_target(PAGE, partial(_welcome, shell))


def _welcome(shell: Any, comm: Any, _: object) -> None:
    """Take the line of a page; what that needs is loaded by the first."""
    from jan_magics.api.lab import welcome

    welcome(shell, comm)


def unload(shell: Any) -> None:
    """Take back everything that `load` registered; threads stay as they are."""
    for kind in ("line", "cell"):
        registered = shell.magics_manager.magics[kind]
        for name in (NAME, ALIAS, RETRIEVAL):
            if _is_ours(registered.get(name)):
                del registered[name]
    for registered in (shell.input_transformers_cleanup, shell.Completer.custom_matchers):
        # By module: after a reload the functions are other objects.
        registered[:] = [each for each in registered if not _is_ours(each)]
    for each in list(shell.events.callbacks["post_run_cell"]):
        if _is_ours(each):
            shell.events.unregister("post_run_cell", each)
    for ours in (JanMagics, RagMagics):
        magics = shell.magics_manager.registry.pop(ours.__name__, None)
        if magics in shell.configurables:
            shell.configurables.remove(magics)


def _drop_refused(shell: Any) -> None:
    """Leave out what `%config` or a config file set and no setting can be, with one line each.

    A refused `%config` stays in the shell's configuration, and would be refused at every load.
    """
    given = shell.config.get(JanMagics.__name__, {})
    for name, trait in JanMagics.class_traits(config=True).items():
        if name not in given or not isinstance(trait, Enum | Unicode):
            continue
        try:
            usable = not fault_of_setting(name, trait.validate(None, given[name]))
        except TraitError:
            usable = False
        if not usable:
            value = given.pop(name)
            sys.stdout.write(f"JanMagics.{name} cannot be {value!r}, and is as if it was not set\n")


def _owner(shell: Any, name: str) -> str:
    """Return a line that names who registered a magic before us, "" where nobody did."""
    for kind, mark in (("cell", "%%"), ("line", "%")):
        function = shell.magics_manager.magics[kind].get(name)
        if function is not None and not _is_ours(function):
            module = getattr(function, "__module__", None) or "another extension"
            return f"{mark}{name} belongs to {module}"
    return ""


def _is_ours(function: object) -> bool:
    return getattr(function, "__module__", "").startswith("jan_magics.")
