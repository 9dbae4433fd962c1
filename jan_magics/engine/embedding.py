"""Which embedder: the one whose vectors a collection has, or the one that a new one gets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from jan_magics.domain.errors import EmbedderError, KeyRefused, SettingError
from jan_magics.domain.protocols import Embedder, Reranker
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.engine.deck import Deck
from jan_magics.engine.served_vectors import Opened, ServedEmbedder, ServedReranker
from jan_magics.engine.settings import Settings
from jan_magics.engine.taped_vectors import taped_embedder, taped_reranker
from jan_magics.rag.embedders import WORDS_ALONE, WordsAlone, best_installed, make
from jan_magics.rag.row_collection import RowCollection

NONE: Final = "none"
"""What stands for no embedder: the collection is searched by words only."""


@dataclass(slots=True)
class Embedders:
    """The embedders of one kernel, each loaded once; `deck` is what is recorded or played.

    `served` returns what opens the server of a model, `provider:name`.
    """

    settings: Callable[[], Settings]
    deck: Deck = field(default_factory=Deck)
    served: Callable[[str], Opened] | None = None
    _loaded: dict[str, Embedder] = field(default_factory=dict)

    def of(self, fingerprint: Fingerprint | None) -> Embedder | None:
        """Return the embedder that made the vectors of a collection, None where it is not here."""
        if fingerprint is None:
            return None
        name = fingerprint.id
        try:
            found = taped_embedder(self.deck, name, lambda: self._named(name))
        except EmbedderError:
            return None
        return found if found and found.fingerprint == fingerprint else None

    def chosen(self, name: str | None = None) -> Embedder | None:
        """Return the embedder of that name, else of the setting, else the best that is installed.

        Raises:
            EmbedderError: when it is not known, or not installed.
        """
        named = name or self.settings().get("embedder").value or ""

        def load() -> Embedder | None:
            found = named or best_installed() or NONE
            return None if found == NONE else self._named(found)

        return taped_embedder(self.deck, named, load)

    def packaged(self) -> Embedder | None:
        """Return the one that runs on this machine, whatever server a setting names; None: no one.

        Raises:
            EmbedderError: when the one of the setting is not installed.
        """
        named = self.settings().get("embedder").value or ""
        if ":" not in named:
            return self.chosen(named)
        best = best_installed()
        return self.chosen(best) if best else None

    def for_adding(
        self, collection: RowCollection | None, name: str | None
    ) -> Embedder | WordsAlone | None:
        """Return the embedder for what is added: a new one by name, else the collection's own.

        WordsAlone where none is wanted: by that name, by what the collection was told, or by the
        setting for a new one. None where it is not at hand, or none is installed. Raises
        EmbedderError.
        """
        if name is None and collection is not None:
            if collection.words_alone:
                return WORDS_ALONE
            if (fingerprint := collection.fingerprint) is not None:
                return self.of(fingerprint)
        is_new = collection is None or not collection.sources()
        wanted = name or (self.settings().get("embedder").value if is_new else None)
        return self.chosen(name) or (WORDS_ALONE if wanted == NONE else None)

    def reranker(self, name: str | None) -> Reranker | Literal["mmr"] | None:
        """Return who gives candidates a second look: minilm, or mmr.

        Raises:
            SettingError: when it is not known.
            EmbedderError: when it is not installed.
        """
        if name is None:
            return None
        if name == "mmr":
            return "mmr"
        if ":" in name and self.served is not None:
            return taped_reranker(self.deck, name, lambda: ServedReranker(name, self._server(name)))
        if name != "minilm":
            raise SettingError(
                f"no reranker {name!r}", "There are: minilm, mmr, and provider:model of a server"
            )
        from jan_magics.rag.embed_minilm import MiniLmEmbedder
        from jan_magics.rag.late import LateInteraction

        def load() -> Reranker:
            embedder = self._named("minilm")
            assert isinstance(embedder, MiniLmEmbedder)  # noqa: S101 - for the type checker
            return LateInteraction(embedder)

        return taped_reranker(self.deck, name, load)

    def _named(self, name: str) -> Embedder:
        away = ":" in name and self.served is not None
        # Each time, as a cassette may have been put in since it was loaded.
        opened = self._server(name) if away else None
        if name not in self._loaded:
            self._loaded[name] = ServedEmbedder(name, opened) if opened else make(name)
        return self._loaded[name]

    def _server(self, name: str) -> Opened:
        assert self.served is not None  # noqa: S101 - for the type checker; looked at before
        if self.deck.sealed:
            raise EmbedderError(
                f"{name} is not in the cassette, and no server is asked while one is replayed",
                "Record it: %chat replay --off, %chat record, then run the notebook"
                "   or let it be asked: %chat replay --missing live",
            )
        try:
            return self.served(name)
        except (SettingError, KeyRefused) as fault:
            raise EmbedderError(fault.message, fault.next_step) from fault
