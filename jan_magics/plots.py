"""Pictures of hits, evaluations, collections and budgets. matplotlib is loaded when one is drawn.

Colours are those of Okabe and Ito, told apart by everybody and on dark and light; what a colour
says, a word, a hatch or a shape says too.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from jan_magics.domain.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jan_magics.rag.landscape import Landscape

Drawn: TypeAlias = "Axes"
BLUE, ORANGE, GREEN, RED, PINK, SKY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9",
)  # fmt: skip
GREY: Final = "#8C8C8C"
MARKERS: Final = "osD^vP"
MOST_ROWS: Final = 30
"""Hits, or settings, in one picture."""
LONGEST: Final = 40
"""Characters of a label."""
FONTS: Final = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "PingFang SC",
    "Hiragino Sans GB", "Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
    "Droid Sans Fallback", "Arial Unicode MS", "Noto Sans", "Segoe UI Symbol", "Noto Emoji",
)  # fmt: skip
"""Asked after the user's own fonts for letters that these lack."""
BOX: Final = "□"


def check() -> None:
    """Raise SettingError where matplotlib is not installed."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as missing:
        raise SettingError(
            "a plot needs matplotlib, which is not installed",
            "Install it: %pip install 'jan-magics[plot]'",
        ) from missing


def wrong(given: object, example: str) -> SettingError:
    """Return the error for something that cannot be drawn so."""
    return SettingError(f"a {type(given).__name__} cannot be drawn so", f"Write: {example}")


def scores(hits: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw a group of bars a hit. A cosine is drawn as it is, other scores by their largest."""
    rows = _rows(hits, ("score", "source"), "jan.plot.scores(collection.search(text))")
    if len({row.get("question") for row in rows}) > 1:
        raise SettingError(
            "these are hits of several questions",
            "Draw those of one: jan.plot.scores(hits[hits.question == 'a question'])",
        )
    drawn, stages = rows[:MOST_ROWS], ("score", "vector", "bm25", "rerank")
    present = [name for name in stages if any(_number(row.get(name)) is not None for row in rows)]
    panel = _Panel(ax, rows=max(2, len(drawn)) * (0.2 + 0.13 * len(present)))
    height = 0.8 / max(1, len(present))
    for n, name in enumerate(present):
        values = [_number(row.get(name)) for row in drawn]
        largest = max((each for each in values if each is not None), default=0.0)
        scale = 1.0 if name == "vector" or largest <= 0 else largest
        bars = panel.ax.barh(
            [at - 0.4 + (n + 0.5) * height for at in range(len(drawn))],
            [(each or 0.0) / scale for each in values], height,
            color=(BLUE, ORANGE, GREEN, PINK)[n], label=_stage(name, scale),
        )  # fmt: skip
        for bar, row in zip(bars, drawn, strict=True):
            if not row.get("used", True):
                bar.set(hatch="////", alpha=0.55, edgecolor=GREY)
    panel.rows([_hit(at, row) for at, row in enumerate(drawn, 1)])
    panel.ax.set_xlabel("share of the largest; vector: cosine")
    about = hits.attrs.get("jan", {}).get("question") or "scores"
    left = len(rows) - len(drawn)
    panel.finish(f"{about} (first {len(drawn)} of {len(rows)})" if left else str(about))
    return panel.ax


def _stage(name: str, largest: float) -> str:
    return name if name == "vector" else f"{name} (largest {largest:.3g})"


def _hit(at: int, row: Mapping[Any, Any]) -> str:
    dropped = row.get("dropped_by")
    lost = "" if row.get("used", True) else f" – dropped by {dropped}"
    return f"{row.get('rank', at)} {_clipped(str(row['source']))}{lost}"


def recall(report: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw recall and nDCG, the latter with its interval: over k, else a row a setting."""
    rows = _rows(report, ("recall", "ndcg"), "jan.plot.recall(collection.evaluate(questions))")
    if "first_rank" in report.columns:
        raise SettingError(
            "these are single questions", "Draw settings: evaluate without per_question"
        )
    keys = [str(key) for key in report.attrs.get("jan", {}).get("keys", ())]
    if "k" in keys and len({row["k"] for row in rows}) > 1:
        return _over_k(rows, [key for key in keys if key != "k"], ax)
    rows = rows[:MOST_ROWS]
    panel = _Panel(ax, rows=max(2, len(rows)) * 0.5)
    for n, row in enumerate(rows):
        found, ndcg = _number(row["recall"]), _number(row["ndcg"])
        panel.ax.barh(n, found or 0.0, 0.6, color=BLUE, label="recall" if n == 0 else None)
        low, high = _number(row.get("ndcg_low")), _number(row.get("ndcg_high"))
        if low is not None and high is not None:
            panel.ax.plot((low, high), (n, n), color=GREY, linewidth=2, zorder=3)
        if ndcg is not None:
            panel.ax.plot(ndcg, n, "D", color=ORANGE, markeredgecolor="black", zorder=4,
                          linestyle="none", label="nDCG, 95 %" if n == 0 else None)  # fmt: skip
    panel.rows([_setting(row, keys) or "as it is" for row in rows])
    panel.ax.set_xlim(0, 1.02)
    panel.finish(_asked(rows))
    return panel.ax


def _over_k(rows: Sequence[Mapping[Any, Any]], keys: list[str], ax: "Axes | None") -> "Axes":
    panel = _Panel(ax, rows=3.2)
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        found = _number(row["recall"])
        if found is not None:
            lines.setdefault(_setting(row, keys) or "recall", []).append((float(row["k"]), found))
    colours = (BLUE, ORANGE, GREEN, RED, PINK, SKY)
    for n, (name, points) in enumerate(lines.items()):
        at, values = zip(*sorted(points), strict=True)
        panel.ax.plot(at, values, marker=MARKERS[n % 6], color=colours[n % 6],
                      linestyle=("-", "--", ":")[n // 6 % 3], label=panel.label(name))  # fmt: skip
    panel.ax.set_xticks(sorted({float(row["k"]) for row in rows}))
    panel.ax.set(xlabel="k", ylabel="recall@k", ylim=(0, 1.02))
    panel.finish(_asked(rows))
    return panel.ax


def _setting(row: Mapping[Any, Any], keys: Iterable[str]) -> str:
    return _clipped(", ".join(f"{key} {row[key]}" for key in keys))


def _asked(rows: Sequence[Mapping[Any, Any]]) -> str:
    n = max((_number(row.get("n")) or 0 for row in rows), default=0)
    return f"{n:.0f} questions" if n else "evaluation"


def landscape(found: "Landscape", ax: "Axes | None" = None) -> "Axes":
    """Draw chunks as points, the largest documents in colours, and the question as a star."""
    panel = _Panel(ax, rows=4.2)
    sizes: dict[str, int] = {}
    for source in found.sources:
        sizes[source] = sizes.get(source, 0) + 1
    named = sorted(sizes, key=lambda source: (-sizes[source], source))[: len(MARKERS)]
    sources = np.array(found.sources, object)
    others = ~np.isin(sources, named)
    if others.any():
        x, y = found.points[others].T
        panel.ax.scatter(x, y, s=12, color=GREY, label="other documents")
    for n, source in enumerate(named):
        x, y = found.points[sources == source].T
        panel.ax.scatter(
            x, y, s=18, marker=MARKERS[n], alpha=0.8,
            color=(BLUE, ORANGE, GREEN, RED, PINK, SKY)[n], label=panel.label(_clipped(source)),
        )  # fmt: skip
    near = np.argsort(-found.cosines, kind="stable")[:5]
    for place in found.points[near]:
        panel.ax.plot(*zip(found.place, place, strict=True), color=GREY, linewidth=0.8, zorder=1)
    here, there = found.place
    panel.ax.scatter(here, there, s=220, marker="*", color="#F0E442", edgecolor="black",
                     zorder=5, label="the question, and its 5 nearest")  # fmt: skip
    first, second = found.shares
    panel.ax.set(xlabel=f"{first:.0%} of all differences", ylabel=f"{second:.0%}")
    shown = len(found.points)
    panel.finish(found.question + (f" ({shown:,} of {found.chunks:,} chunks)"
                                   if shown < found.chunks else ""), beside=True)  # fmt: skip
    return panel.ax


def budget(frame: Any, ax: "Axes | None" = None) -> "Axes":
    """Draw a bar a piece, each beginning where the last one ends; pieces of 0 are left out."""
    rows = _rows(frame, ("piece", "tokens"), "jan.plot.budget(chat.budget())")
    rows = [row for row in rows if (_number(row["tokens"]) or 0) > 0]
    panel, begin = _Panel(ax, rows=max(2, len(rows)) * 0.36), 0.0
    kept = {"reserve": "....", "safety": "////", "free": ""}
    for n, row in enumerate(rows):
        tokens, piece = float(row["tokens"]), str(row["piece"])
        (bar,) = panel.ax.barh(n, tokens, left=begin, color=GREY if piece in kept else BLUE)
        if piece in kept:
            bar.set(hatch=kept[piece], alpha=0.55)
        begin += tokens
        about = "" if row.get("exact", True) else "≈"
        at_end = begin > 0 and n > len(rows) / 2
        panel.ax.text(
            begin - tokens if at_end else begin, n, f" {about}{tokens:,.0f} ", va="center",
            ha="right" if at_end else "left",
        )  # fmt: skip
    panel.rows([str(row["piece"]) for row in rows])
    panel.ax.set(xlabel="tokens", xlim=(0, begin * 1.15 or 1))
    panel.finish(f"context window: {begin:,.0f} tokens", legend=False)
    return panel.ax


class _Panel:
    """Axes with labels that any font can draw, whatever a document or a question is called."""

    def __init__(self, ax: "Axes | None", *, rows: float) -> None:
        check()
        import matplotlib.pyplot as plt
        from matplotlib import font_manager

        if ax is None:
            figure, ax = plt.subplots(figsize=(7.2, 1.2 + min(rows, 14)), layout="constrained")
            # A notebook may make it see-through, and dark letters cannot be read on a dark page.
            figure.patch.set_alpha(1.0)
        self.ax = ax
        own = [str(each) for each in plt.rcParams["font.family"]]
        there = set(font_manager.get_font_names())
        self._families = [*own, *(name for name in FONTS if name in there)]
        properties = (font_manager.FontProperties(family=[each]) for each in self._families)
        fonts = (font_manager.get_font(font_manager.findfont(each)) for each in properties)
        self._letters = frozenset(letter for font in fonts for letter in font.get_charmap())
        self._lost = False

    def label(self, text: str) -> str:
        """Return a text on one line with boxes for letters that no font has."""
        line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        drawn = "".join(c if ord(c) in self._letters else BOX for c in line)
        self._lost = self._lost or drawn != line
        return f" {drawn}" if drawn.startswith("_") else drawn  # else it is left out of legends

    def rows(self, labels: Sequence[str]) -> None:
        """Name the rows, the first at the top."""
        self.ax.set_yticks(range(len(labels)), [self.label(each) for each in labels])
        self.ax.set_ylim(len(labels) - 0.5, -0.5)

    def finish(self, title: str, *, legend: bool = True, beside: bool = False) -> None:
        """Set the title and the legend, and say it where letters could not be drawn."""
        shown = self.label(_clipped(title, 2 * LONGEST))
        if self._lost:
            shown += f"\n{BOX}: no font here has this letter (install Noto Sans CJK)"
        named = self.ax.set_title(shown, loc="left", fontsize="medium")
        texts = [named, *self.ax.get_yticklabels()]
        if legend and self.ax.get_legend_handles_labels()[1]:
            place = (
                {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if beside else {"loc": "best"}
            )
            texts += self.ax.legend(fontsize="small", **place).get_texts()
        for text in texts:
            text.set_parse_math(False)  # a name with two $ is a name
            text.set_family(self._families)
        self.ax.spines[["top", "right"]].set_visible(False)


def _rows(frame: Any, columns: Sequence[str], example: str) -> list[Mapping[Any, Any]]:
    """Return the rows of a table. Raises SettingError where it is another, or has none."""
    if not set(columns) <= set(getattr(frame, "columns", ())):
        raise wrong(frame, example)
    rows: list[Mapping[Any, Any]] = frame.to_dict("records")
    if not rows:
        raise SettingError("there are no rows to draw", f"Write: {example}")
    return rows


def _number(value: Any) -> float | None:
    """Return a number, None for what a table does not know."""
    known = isinstance(value, int | float) and isfinite(value)
    return float(value) if known else None


def _clipped(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
