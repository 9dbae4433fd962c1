"""`jan.plot`: hits, evaluations, collections and budgets as pictures; needs `jan-magics[plot]`."""

from typing import TYPE_CHECKING

from jan_magics import plots

if TYPE_CHECKING:
    import pandas as pd

    from jan_magics.api.collection import Collection
    from jan_magics.plots import Drawn

__all__ = ["budget", "map", "recall", "scores"]


def scores(hits: "pd.DataFrame", *, ax: "Drawn | None" = None) -> "Drawn":
    """Draw the score of every stage, a row a hit, the best at the top; what was dropped is hatched.

    Raises SettingError for another table, or without matplotlib.
    """
    return plots.scores(hits, ax)


def recall(report: "pd.DataFrame", *, ax: "Drawn | None" = None) -> "Drawn":
    """Draw recall and nDCG of each setting of an evaluation; over k where k was in its grid.

    Raises SettingError for another table, or without matplotlib.
    """
    return plots.recall(report, ax)


def map(col: "Collection", text: str, *, ax: "Drawn | None" = None) -> "Drawn":  # noqa: A001 - the surface
    """Draw the chunks of a collection on a plane, and a question among them.

    Raises:
        EmbedderError: when the collection has no vectors, or its embedder is not here.
        SettingError: without matplotlib.
    """
    from jan_magics.api.collection import Collection

    if not isinstance(col, Collection):
        raise plots.wrong(col, "jan.plot.map(jan.Collection('notes'), 'a question')")
    plots.check()  # before anything is embedded
    return plots.landscape(col._shelf.landscape(text), ax)  # noqa: SLF001 - no part of its surface


def budget(frame: "pd.DataFrame", *, ax: "Drawn | None" = None) -> "Drawn":
    """Draw what the context window is spent on: a bar a piece, each where the last one ends.

    Raises SettingError for another table, or without matplotlib.
    """
    return plots.budget(frame, ax)
