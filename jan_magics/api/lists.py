"""What is here, as tables: threads, models, settings, checks. No chat of one's own is needed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jan_magics.api.asking import text_or_none
from jan_magics.api.context import say
from jan_magics.api.opening import current_host, host_here
from jan_magics.api.tables import (
    assistants_table,
    config_table,
    doctor_table,
    found_table,
    models_table,
    threads_table,
)
from jan_magics.domain.errors import JanError, SettingError
from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.assemble import known_keys
from jan_magics.engine.assistants import usable_parameters
from jan_magics.engine.checks import Check, examine, examine_closed, wrong
from jan_magics.engine.listing import Listed, list_models
from jan_magics.engine.naming import existing_thread
from jan_magics.engine.stuck import in_force

if TYPE_CHECKING:
    import pandas as pd

PATIENCE: Final = 2.0
"""Seconds that a server of config.toml has to list its models."""


def threads(data_folder: str | None = None) -> "pd.DataFrame":
    """Return the threads of a data folder (default: the one in use), the newest first."""
    if data_folder is None:
        return threads_table(current_host().session().engine.store.threads())
    host = host_here({"data_folder": data_folder}, deck=current_host().opening.deck)
    try:
        return threads_table(host.session().engine.store.threads())
    finally:
        host.close()


def find(words: str, *, thread: str | None = None) -> "pd.DataFrame":
    """Return messages of all threads, or of one, that have all these words; the best first.

    The last word may be the beginning of one; words in double quotes stand together. In the
    snippet the words that were found stand in «…». At most 50 messages are returned.

    Raises:
        SettingError: when there is no word to look for.
        ThreadNotFound: when there is no such thread.
    """
    if not (text_or_none("words", words) or "").strip():
        raise SettingError("there is nothing to look for", "Write a word: %chat find overfitting")
    engine = current_host().session().engine
    named = text_or_none("thread", thread)
    found = existing_thread(engine.store, named) if named else None
    return found_table(engine.search.find(words, thread_id=found.id if found else None))


def models() -> "pd.DataFrame":
    """Return the models that can answer here, with the one that would and why.

    Asks the servers on loopback once, and those of config.toml; keys are named by their source.
    """
    host = current_host()
    session = host.session()

    keys = _keys()
    hosts = {name: host.address for name, host in session.settings().hosts.items()}

    async def asked(name: str) -> Sequence[ModelInfo] | None:
        try:
            async with asyncio.timeout(PATIENCE):
                return await session.engine.provider(ModelRef(name, "")).models()
        except (JanError, TimeoutError):
            return None

    async def listed() -> tuple[Listed, ...]:
        try:
            choice = await session.choice()
        except SettingError as fault:
            # The list is where a usable name is looked for.
            say(str(fault))
            choice = None
        return await list_models(
            session.finder,
            keys if isinstance(keys, Mapping) else {},
            choice,
            hosts,
            session.engine.learned,
            None if session.engine.deck.playing else asked,
        )

    return models_table(host.bridge.call(listed))


def _keys() -> Mapping[str, tuple[str, ...]] | Check:
    """Return the sources of keys by provider, else the row that says why they cannot be read."""
    try:
        return known_keys()
    except JanError as fault:
        return wrong("keys", fault)


def assistants() -> "pd.DataFrame":
    """Return the assistants of the data folder in use; a damaged file is a row that says so."""
    return assistants_table(current_host().session().assistants.rows(), {})


def save_assistant(
    name: str, *, instructions: str | None = None, parameters: Mapping[str, Any] | None = None
) -> "pd.DataFrame":
    """Write an assistant of that name, new or not, and return all of them.

    What is not named stays as it is; `parameters` are all of them.

    Raises:
        SettingError: when the name or a parameter cannot be used.
    """
    if text_or_none("name", name) is None:
        raise SettingError("an assistant has a name", "Give it first: jan.save_assistant('poet')")
    text_or_none("instructions", instructions)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise SettingError(
            f"parameters is {parameters!r}", "It is a dict: parameters={'temperature': 0.2}"
        )
    host = current_host()
    known = host.session().assistants
    given = None if parameters is None else usable_parameters(parameters)
    row = known.create(name)
    changed = row.assistant
    if instructions is not None:
        changed = replace(changed, instructions=instructions)
    if given is not None:
        changed = replace(changed, parameters=given)
    saved = known.save(changed, row.path)
    return assistants_table(known.rows(), {changed.id: f"saved in {saved.path}"})


def config() -> "pd.DataFrame":
    """Return every setting with its value and source, and what `use` made stick.

    Keys are told by the name of their source.
    """
    host = current_host()
    try:
        values = in_force(host.session())
    except SettingError:
        values = host.opening.settings().table()
    keys = _keys()
    if isinstance(keys, Check):
        say(f"{keys.detail}\n{keys.fix}")
        keys = {}
    return config_table(values, keys)


def doctor(*, fix: bool = False) -> "pd.DataFrame":
    """Return what was checked, and what to do about what is not well; `fix` mends what it can."""
    host = current_host()
    keys = _keys()
    try:
        session = host.session()
    except JanError as fault:
        return doctor_table(examine_closed(host.opening.settings(), fault, keys))

    async def examined() -> tuple[Check, ...]:
        return await examine(session, keys, fix=fix)

    return doctor_table(host.bridge.call(examined))
