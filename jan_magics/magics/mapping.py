"""`%%chat --map DF`: the cell is a template, and each row of a table makes a prompt of it."""

import argparse
import builtins
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jan_magics.api.host import Host, Showing
from jan_magics.api.preview import preview
from jan_magics.engine.asking import Asking
from jan_magics.engine.rows import NAME, cell_text, spelled
from jan_magics.magics.refusing import refuse_given
from jan_magics.notebook.bridge import Stopped
from jan_magics.notebook.interpolate import interpolate
from jan_magics.notebook.values import inserted

if TYPE_CHECKING:
    from jan_magics.api.sources import Source


def refuse_beside_a_map(parsed: argparse.Namespace) -> None:
    """Refuse what does nothing beside a map, and what does something only there."""
    if parsed.map is None:
        alone = {
            "--concurrency": parsed.concurrency is not None, "--prefix": parsed.prefix is not None,
            "--max-cost": parsed.max_cost is not None, "--again": parsed.again,
        }  # fmt: skip
        refuse_given(alone, "is about the rows of a table\nName one: --map DF")
        return
    beside = {
        "--grid": parsed.grid, "--background": parsed.background, "--to-cell": parsed.to_cell,
        "--reuse": parsed.reuse, "--literal": parsed.literal, "-f": parsed.f,
        "--needle": parsed.needle, "--no-stream": parsed.no_stream, "--at": parsed.at,
    }  # fmt: skip
    refuse_given(
        beside,
        "does nothing beside --map, which asks a turn a row and returns a table\n"
        "Leave it out; keep the table in a variable: -o NAME",
    )


def map_cell(
    shell: Any, host: Host, parsed: argparse.Namespace, asking: Asking,
    keep: Callable[[object], object],
) -> object:  # fmt: skip
    """Ask the cell's prompt for each row of the table that the flags name; returns a DataFrame.

    `keep` puts it into the variable that is meant.
    """
    from jan_magics.api.mapped import USUAL_AT_A_TIME, how_of, mapped
    from jan_magics.api.sources import source_of

    source = source_of(_table(shell, parsed.map))
    prompt = _prompt(shell, asking.text)
    if parsed.dry_run:
        return preview(host, replace(asking, text=_first(source, prompt), side=True, cell=None))
    said = parsed.concurrency is not None
    rows_at_once = parsed.concurrency if said else USUAL_AT_A_TIME
    how = how_of(rows_at_once, parsed.max_cost, again=parsed.again, said=said)
    showing = Showing(False if parsed.q else None)
    try:
        table = mapped(host, asking, source, prompt, how, parsed.prefix or "", showing)
    except Stopped as stopped:
        keep(stopped.answer)
        raise
    return keep(table)


def _table(shell: Any, name: str) -> object:
    names = shell.user_ns
    if name in names and not name.startswith("_"):
        return names[name]
    near = get_close_matches(name, [each for each in names if each[:1] != "_"], 1)
    closest = f", closest: {near[0]}" if near else ""
    raise UsageError(
        f"--map {name!r} is no variable{closest}\n"
        "Put the table into one: rows = df.head(10), then --map rows"
    )


def _prompt(shell: Any, template: str) -> Callable[[object], str]:
    scope, template = {**shell.user_ns}, spelled(template)

    def prompt(row: object) -> str:
        scope[NAME] = row
        made = interpolate(template, scope, vars(builtins), shown=_shown)
        if NAME not in made.names:
            raise UsageError(
                "the prompt names nothing of a row, so all of them would ask the same\n"
                'Write what differs: {{row.title}}, {{row["a b"]}} or {{row}}'
            )
        return made.text

    return prompt


def _shown(value: object) -> str:
    return cell_text(value, inserted)


def _first(source: "Source", prompt: Callable[[object], str]) -> str:
    row = next(source.rows(), None)
    if row is None:
        raise UsageError("--dry-run shows the first row, and the table has none\nGive it rows.")
    return prompt(row)
