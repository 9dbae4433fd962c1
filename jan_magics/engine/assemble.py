"""Put an engine together from settings. The one place that reads the clock and makes ids."""

import os
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jan_magics.domain.models import ModelInfo, ModelRef, parse_model
from jan_magics.domain.protocols import Provider
from jan_magics.engine.assistants import Assistants
from jan_magics.engine.cells import Files, Here, Marks
from jan_magics.engine.choose import PLAYED, Finder
from jan_magics.engine.deck import Deck
from jan_magics.engine.engine import Engine
from jan_magics.engine.leaks import Guard
from jan_magics.engine.places import FOLDER, config_folder, data_folder
from jan_magics.engine.playing import Playing
from jan_magics.engine.session import Session
from jan_magics.engine.settings import Settings, Source, away, read_settings
from jan_magics.engine.stores import open_search, open_store
from jan_magics.engine.taped import TapedProvider
from jan_magics.engine.threads import Threads, former_paths
from jan_magics.engine.titling import Titling
from jan_magics.engine.toolbox import Toolbox
from jan_magics.providers.access import Access, Shared
from jan_magics.providers.connect import check_encrypted, connect, reach
from jan_magics.providers.discover import discover
from jan_magics.providers.embeddings import EmbeddingServer
from jan_magics.providers.hosts import Host
from jan_magics.providers.keys import Key, KeyChain, holder_of, host_of, list_keys, store_key
from jan_magics.providers.local import LocalServer

if TYPE_CHECKING:
    from jan_magics.engine.retrieving import Retriever
    from jan_magics.engine.served_vectors import Opened

ONCE: Final = ("data_folder", "store", "gguf", "replay")
"""Settings that are read when the store is opened."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an engine is opened, and what is set there.

    `notebook` finds the notebook's path, given what `%config` and the environment name; `marks`
    are the running cell's. `explicit` are the arguments of `Chat(...)`, `configured` the values of
    `%config`. `toolbox` knows the user's functions, `deck` what is recorded or played. `api_key`
    stays in memory.
    """

    files: Files
    notebook: Callable[[str | None, str | None], Path | None] = lambda *_: None
    marks: Callable[[], Marks] = frozenset
    configured: Callable[[], Mapping[str, object]] = dict
    explicit: Mapping[str, object] = field(default_factory=dict)
    toolbox: Callable[[], Toolbox] = Toolbox
    deck: Deck = field(default_factory=Deck)
    api_key: str | None = field(default=None, repr=False)

    def settings(self) -> Settings:
        """Read every setting as it is now."""
        return read_settings(
            self.folder(),
            config_folder(os.environ),
            os.environ,
            above=(
                Source("Chat(...)", self.explicit),
                Source("%config JanMagics.{name}", self.configured()),
            ),
        )

    def path(self) -> Path | None:
        """Return the notebook's path, where it is known."""
        configured = self.configured().get("notebook")
        return self.notebook(
            str(configured) if configured else None, os.environ.get("JAN_NOTEBOOK")
        )

    def here(self) -> Here:
        """Return where the running call is from; a headless kernel goes by its cassette's name."""
        path, marks = self.path() or self.deck.told_notebook(""), self.marks()
        if not path:
            return Here("", marks)
        told = os.path.realpath(path)
        return Here(self.files.renamed(told, marks) or told, marks, told)

    def folder(self) -> Path:
        """Return the folder of the notebook, else the current one."""
        path = self.path()
        return path.parent if path else Path.cwd()


def open_session(opening: Opening) -> Session:
    """Open the store and make everything that a turn needs; nothing is sent and nothing started.

    While a cassette is played, the store is a scratch one, and nothing is looked for.
    """
    settings = opening.settings()
    path = opening.path()
    opening.deck.load(settings.get("replay").value, opening.folder(), path.name if path else "")
    playing = opening.deck.playing
    gguf = settings.get("gguf").value
    local = LocalServer(weights=Path(gguf).expanduser() if gguf else None)
    engine, source = _engine(opening, settings, local, playing)
    threads = Threads(engine, opening.here, opening.files)
    if playing:
        playing.paced = settings.get("replay_pace").value == "recorded"
        finder = Finder(_known(playing), lambda: None, why=PLAYED)
    else:
        finder = Finder(running, partial(startable, local, gguf), opening.deck.note_default)
    session = Session(
        engine,
        threads,
        finder,
        opening.settings,
        Assistants(engine.folder / "assistants", engine.new_id, engine.now),
        Titling(engine),
        source.startswith(FOLDER),
        {name: settings.get(name).value for name in ONCE},
        toolbox=opening.toolbox(),
        retriever=cache(partial(open_retriever, opening, engine, threads)),
    )
    if playing:
        session.telling.news.extend(partial(str, fault) for fault in playing.faults)
    return session


def _engine(
    opening: Opening, settings: Settings, local: LocalServer, playing: Playing | None
) -> tuple[Engine, str]:
    """Return an engine, and where its folder was named."""
    folder = data_folder(settings, opening.folder())
    path = playing.folder if playing else Path(folder.value or "")
    clock, make_id = (playing.now, playing.new_id) if playing else (now, new_id)
    store = open_store(None if playing else settings.get("store").value, path, clock)
    shared = Shared()
    guard = Guard(lambda model: away(model, config_folder(os.environ)))
    connected = partial(_connect, opening, local, shared, guard)
    search = open_search(store, path)
    known = (opening.deck, shared.learned, guard)
    engine = Engine(store, path, clock, make_id, connected, local.close, search, *known)
    return engine, "" if playing else folder.source


def _known(playing: Playing) -> Callable[[], Awaitable[tuple[ModelInfo, ...]]]:
    async def known() -> tuple[ModelInfo, ...]:
        return playing.models()

    return known


def open_retriever(opening: Opening, engine: Engine, threads: Threads) -> "Retriever":
    """Return what looks things up in the collections of an engine, which closes them."""
    # The libraries of retrieval are loaded by the first call that needs them.
    from jan_magics.engine.collections import FOLDER as COLLECTIONS
    from jan_magics.engine.collections import Collections
    from jan_magics.engine.embedding import Embedders
    from jan_magics.engine.retrieving import Retriever

    collections = Collections(
        engine.folder / COLLECTIONS,
        engine.now,
        engine.new_id,
        lambda: opening.here().notebook,
        partial(former_paths, threads),
        lambda: opening.settings().get("project").value,
        lambda: opening.settings().get("sqlite_vec").value,
    )
    engine.closing.append(collections.close)
    served = partial(_served, opening, engine.guard)
    return Retriever(collections, Embedders(opening.settings, opening.deck, served))


def _served(opening: Opening, guard: Guard, name: str) -> "Opened":
    """Return what opens the server of a model that makes vectors.

    Raises:
        SettingError, KeyRefused: as a model's provider does.
    """
    ref, hosts = parse_model(name), opening.settings().hosts
    host = None if ref.address else hosts.get(ref.provider)
    entry, keys = reach(ref, keys=key_chain(), trusted_hosts=_trusted(hosts.values()), host=host)

    def opened() -> EmbeddingServer:
        access = Access(keys)
        server = EmbeddingServer(entry.name, entry.asked_at, ref.name, access, header=entry.header)
        server.screen = partial(guard.check_texts, ref)
        return server

    return opened


def key_chain() -> KeyChain:
    """Return where keys are looked for."""
    return KeyChain(os.environ, config_folder(os.environ))


def known_keys() -> Mapping[str, tuple[str, ...]]:
    """Return the sources of keys by provider, never their text."""
    return list_keys(key_chain())


def key_holder(name: str, hosts: Mapping[str, Host]) -> str:
    """Return the provider or origin that a key is kept for, given the user's own servers.

    Raises:
        SettingError: for what is neither, and where a key would travel unencrypted.
    """
    holder = holder_of(name, {each: host.address for each, host in hosts.items()})
    if "://" in holder:
        check_encrypted(holder, _trusted(hosts.values()))
    return holder


def keep_key(holder: str, value: str) -> Path:
    """Keep a key in the user's own file. Raises SettingError, KeyRefused."""
    return store_key(holder, value, config_folder(os.environ))


async def running() -> tuple[ModelInfo, ...]:
    """Return the models of servers on loopback, the best first."""
    return tuple(model for found in await discover() for model in found.models)


def startable(local: LocalServer, gguf: str | None) -> ModelRef | None:
    """Return the model that can be started; one that was named counts even when it is missing."""
    return ModelRef("local", Path(gguf).stem) if gguf else local.available()


def now() -> datetime:
    """Return the time, in milliseconds as it is stored."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def new_id() -> str:
    """Return 32 hex digits."""
    return uuid.uuid4().hex


def _connect(
    opening: Opening, local: LocalServer, shared: Shared, guard: Guard, model: ModelRef
) -> Provider:
    settings = opening.settings()
    hosts = settings.hosts
    if not model.address and (fault := settings.unread.get(model.provider)):
        # What it says of this provider, its address above all, cannot be known.
        raise fault
    host = None if model.address else hosts.get(model.provider)
    key = Key(opening.api_key, source="Chat(api_key=…)") if opening.api_key else None
    trusted = _trusted(hosts.values())

    def real() -> Provider:
        return connect(
            model,
            keys=key_chain(),
            trusted_hosts=trusted,
            local=local,
            key=key,
            host=host,
            shared=shared,
        )

    return TapedProvider(opening.deck, model, real, guard)


def _trusted(hosts: Iterable[Host]) -> frozenset[str]:
    return frozenset(host_of(each.address) for each in hosts)
