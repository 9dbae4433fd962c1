"""Citations, grounding, questions and evaluations as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jan_magics.frames import frame, grid_frame
from jan_magics.rag.citations import Cited
from jan_magics.rag.evaluate import Evaluated, Report, Setting
from jan_magics.rag.grounding import Grounding
from jan_magics.rag.judging import Judged
from jan_magics.rag.questions import KnownItem

if TYPE_CHECKING:
    import pandas as pd


def citations_table(cited: Cited) -> "pd.DataFrame":
    """Return a row a citation; `attrs["jan"]` lists the numbers that name nothing."""
    table = frame("citations", map(asdict, cited.citations))
    table.attrs["jan"] |= {"unknown": [marker.n for marker in cited.unknown]}
    return table


def grounding_table(grounding: Grounding) -> "pd.DataFrame":
    """Return a row a sentence; `attrs["jan"]` says by which threshold and embedder."""
    table = frame("grounding", map(asdict, grounding.rows))
    table.attrs["jan"] |= {
        "threshold": grounding.threshold, "embedder": grounding.embedder,
        "unread": grounding.unread, "passed_over": grounding.passed_over,
    }  # fmt: skip
    return table


def questions_table(items: Iterable[KnownItem]) -> "pd.DataFrame":
    """Return a row a question with its answer."""
    return frame("questions", map(asdict, items))


def report_table(report: Report, *, per_question: bool = False) -> "pd.DataFrame":
    """Return a row a setting, or a row a question under each setting; the settings come first.

    `attrs["jan"]` has the notes: which questions do not count, and where hybrid loses.
    """
    keys = list(dict.fromkeys(key for row in report.settings for key in row.setting))
    if per_question:
        table = grid_frame(keys, [_asked(*pair) for pair in report.questions], "per_question")
    else:
        table = grid_frame(keys, [_row(row) for row in report.settings], "evaluate")
    table.attrs["jan"] |= {"notes": list(report.notes)}
    return table


def _row(row: Evaluated) -> Mapping[str, Any]:
    return {**_said(row.setting), **{k: v for k, v in asdict(row).items() if k != "setting"}}


def _asked(setting: Setting, judged: Judged) -> Mapping[str, Any]:
    return {
        **_said(setting),
        **asdict(judged),
        "found": _listed(judged.found),
        "missed": _listed(judged.missed),
    }


def _said(setting: Setting) -> dict[str, object]:
    """Return the values of a setting as they stand in a table."""
    return {key: str(v) if isinstance(v, list | dict) else v for key, v in setting.items()}


def _listed(places: Sequence[str]) -> str:
    return ", ".join(places)
