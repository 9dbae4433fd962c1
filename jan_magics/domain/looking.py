"""What a search may be asked for: how many rows, and how near; one home for every door."""

from typing import Final

from jan_magics.domain.errors import SettingError
from jan_magics.domain.parameters import Range

ROWS: Final = Range(1, whole=True)
COSINE: Final = Range(-1, 1)


def checked_rows(k: object) -> int:
    """Return how many rows are wanted. Raises SettingError for what is no such number."""
    if isinstance(k, int) and ROWS.holds(k):
        return k
    raise SettingError(f"{k!r} is no number of rows", "Ask for one or more, as 5")


def checked_cosine(threshold: object) -> float:
    """Return how near a chunk must be. Raises SettingError for what is no cosine."""
    if isinstance(threshold, int | float) and COSINE.holds(threshold):
        return threshold
    raise SettingError(f"the threshold {threshold!r} is no cosine", "Name one from -1 to 1, as 0.3")
