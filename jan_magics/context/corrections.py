"""What a server's own counts teach about an estimate: one factor a model."""

from collections.abc import Sequence
from statistics import median
from typing import Final

REMEMBERED: Final = 8
LEAST: Final = 0.5
MOST: Final = 4.0
# Steps of 2 %: a factor that moves changes every count of a thread, and with them its cut.
STEPS: Final = 50


def learn(observed: Sequence[tuple[int, int]]) -> float:
    """Return the factor from pairs of (estimated without a factor, counted by the server).

    The median of the last 8 ratios, to 1/50, between 0.5 and 4; 1.0 where nothing was observed.
    """
    ratios = [counted / estimated for estimated, counted in observed if estimated > 0 < counted]
    if not ratios:
        return 1.0
    factor = round(median(ratios[-REMEMBERED:]) * STEPS) / STEPS
    return min(MOST, max(LEAST, factor))
