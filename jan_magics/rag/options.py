"""What a search is asked to do, and what is refused before anything is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from jan_magics.domain.errors import SettingError
from jan_magics.domain.looking import checked_cosine, checked_rows
from jan_magics.domain.messages import Json
from jan_magics.domain.parameters import Range
from jan_magics.domain.protocols import Reranker
from jan_magics.domain.retrieval import Fusion, Index, Mode

RECALL: Final = 20
"""How many candidates a reranker looks at, and how many more when more rows are asked for."""

_SHARE: Final = Range(0, 1)


@dataclass(frozen=True, slots=True)
class Options:
    """How to search. `threshold` is a cosine, and only None switches it off.

    `weight` is that of the cosine in convex fusion; None takes it from the pools. `all` keeps the
    candidates that are not used, with what let them go.
    """

    k: int = 5
    mode: Mode = "hybrid"
    threshold: float | None = None
    rerank: Reranker | Literal["mmr"] | None = None
    where: str | Mapping[str, Json] | None = None
    all: bool = False
    fusion: Fusion = "convex"
    weight: float | None = None
    index: Index = "auto"

    @property
    def pool(self) -> int:
        """Return how many of each side become candidates."""
        return max(50, 10 * self.k)

    @property
    def recall(self) -> int:
        """Return how many candidates a reranker looks at."""
        return max(RECALL, 2 * self.k)


def check(options: Options) -> None:
    """Refuse what cannot be done. Raises SettingError."""
    checked_rows(options.k)
    _one_of("mode", options.mode, ("hybrid", "vector", "keyword"))
    _one_of("fusion", options.fusion, ("convex", "rrf"))
    _one_of("index", options.index, get_args(Index))
    threshold, weight = options.threshold, options.weight
    if threshold is not None:
        checked_cosine(threshold)
    if threshold is not None and options.mode == "keyword":
        raise SettingError(
            f"the threshold {threshold!r} is a cosine, and --mode keyword measures none",
            "Leave the threshold out, or search with --mode hybrid",
        )
    if weight is not None and not _SHARE.holds(weight):
        raise SettingError(f"the weight {weight!r} is no share", "Name one from 0 to 1, as 0.5")


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise SettingError(f"no {name} {value!r}", f"There are: {', '.join(known)}")
