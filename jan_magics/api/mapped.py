"""A model as a column: a turn a row, the answers beside the rows, in their order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import pandas as pd

from jan_magics.api.asking import checked_text
from jan_magics.api.host import Host, Showing, display_of, language_of
from jan_magics.api.sources import Source, check_template, source_of
from jan_magics.domain.columns import COLUMNS
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import ExpressionFailed, SettingError
from jan_magics.domain.messages import text_of
from jan_magics.domain.models import AnswerSchema
from jan_magics.engine.asking import Asking
from jan_magics.engine.forms import fields_of, schema_from
from jan_magics.engine.mapping import map_rows
from jan_magics.engine.records import finish_of, timings_of, usage_of
from jan_magics.engine.rows import filled
from jan_magics.engine.tallies import Done, How, Prompt, Tally
from jan_magics.frames import frame
from jan_magics.notebook.bridge import Channel, Stopped
from jan_magics.notebook.footer import one_line
from jan_magics.notebook.gauge import Gauge, span
from jan_magics.notebook.live import CellDisplay, Display
from jan_magics.notebook.values import inserted

_TYPES: Final = {
    "integer": "Int64", "number": "Float64", "boolean": "boolean", "string": "string",
}  # fmt: skip
USUAL_AT_A_TIME: Final = 4
MOST_AT_A_TIME: Final = 64


def how_of(concurrency: object, max_cost: object, *, again: bool, said: bool) -> How:
    """Return how a table is asked; `said`: the user has said how many rows at a time.

    Raises:
        SettingError: for numbers that are none.
    """
    whole = isinstance(concurrency, int) and not isinstance(concurrency, bool)
    if not whole or not 1 <= int(str(concurrency)) <= MOST_AT_A_TIME:
        raise SettingError(
            f"concurrency is {concurrency!r}", f"It is a number of rows, 1 to {MOST_AT_A_TIME}."
        )
    if max_cost is None:
        return How(int(str(concurrency)), None, again, said)
    number = isinstance(max_cost, int | float) and not isinstance(max_cost, bool)
    if not number or not 0 <= float(str(max_cost)) < float("inf"):
        raise SettingError(f"max_cost is {max_cost!r}", "It is an amount, as the prices are.")
    return How(int(str(concurrency)), float(str(max_cost)), again, said)


def map_template(
    host: Host, asking: Asking, data: object, template: str, how: How, prefix: object = ""
) -> pd.DataFrame:
    """Ask for each row what a template says, in which only look-ups in the row are filled in."""
    source = source_of(data)
    check_template(checked_text(template), source)

    def prompt(row: object) -> str:
        return filled(template, row, inserted)

    return mapped(host, asking, source, prompt, how, prefix)


def mapped(  # noqa: PLR0913, PLR0917 - one door, and the last two have names
    host: Host, asking: Asking, source: Source, prompt: Callable[[object], str], how: How,
    prefix: object = "", showing: Showing | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Ask a turn a row, and return the rows with their answers.

    Raises:
        SettingError: when a column of that name is there already, or a limit cannot be held.
        Stopped: when it was interrupted; its answer is the table so far.
        JanError: when nobody answers at all.
    """
    session = host.session()
    schema = schema_from(asking.schema, session.toolbox.names())
    names = _named(source, schema, prefix)
    prompts = [_prompt(prompt, row) for row in source.rows()]
    tally = Tally(len(prompts), schema=schema)
    if not prompts:
        return _table(source, tally, names)
    faults = [each.fault for each in prompts if each.fault]
    if len(faults) == len(prompts):
        raise SettingError(f"no row has a prompt: {faults[0]}", "Mend the prompt.")
    first = next(each.text for each in prompts if not each.fault)
    asked = replace(asking, text=first, side=True, cell=None)
    display = _display(host, showing or Showing(), tally)
    try:
        _run(host, asked, prompts, how, tally, display)
    except Stopped:
        kept = f"kept {len(tally.rows):,} of {counted(tally.total, 'row')}"
        display.finish(_final(host, tally, source, "stopped"))
        why = f"{kept} · go on: run it again, only the others are asked"
        raise Stopped(answer=_table(source, tally, names), why=why) from None
    except BaseException:
        display.clear(_gauge(tally).line())
        raise
    display.finish(_final(host, tally, source))
    return _table(source, tally, names)


def _run(
    host: Host, asking: Asking, prompts: Sequence[Prompt], how: How, tally: Tally, display: Display
) -> None:
    session = host.session()
    playing = session.engine.playing
    alone = playing is not None and playing.missing != "live"

    async def run(put: Channel[Tally]) -> None:
        async with session.order.alone(alone):
            opened = await session.begin(asking)
            await map_rows(session, opened, prompts, how, tally, put)

    def update(_: Tally) -> None:
        if isinstance(display, CellDisplay):
            display.update(" ", "")

    host.bridge.run(run, update)


def _prompt(make: Callable[[object], str], row: object) -> Prompt:
    """Return the prompt of a row; what its own cells make impossible is that row's failure."""
    try:
        return Prompt(checked_text(make(row)))
    except (ExpressionFailed, SettingError) as fault:
        return Prompt(fault=fault.message)


def _display(host: Host, showing: Showing, tally: Tally) -> Display:
    # A bar is no text that grows: pages that follow turns see it as any output of the cell.
    shown, language = display_of(host, replace(showing, stream=False)), language_of(host)
    if isinstance(shown, CellDisplay) and showing.stream and host.streams():
        return CellDisplay(lambda *_: _gauge(tally).bundle(language), language)
    return shown


def _gauge(tally: Tally) -> Gauge:
    seconds = perf_counter() - tally.began
    over = (len(tally.rows), tally.failed, tally.stored)
    return Gauge(tally.total, *over, seconds, tally.note, tally.spent)


def _final(host: Host, tally: Tally, source: Source, how: str = "") -> dict[str, object]:
    """Return what is shown of a table that is over; where all is stable, without seconds."""
    usages = [usage_of(d.answer) for d in tally.rows.values() if d.answer and not d.stored]
    read, written = (sum(getattr(each, n) or 0 for each in usages) for n in ("input", "output"))
    seconds = "" if host.stable() else span(perf_counter() - tally.began)
    left = tally.total - len(tally.rows) + tally.unasked
    pieces = (
        counted(tally.total, "row"), f"{tally.answered:,} answered",
        f"{tally.stored:,} stored" if tally.stored else "",
        f"{tally.failed:,} failed" if tally.failed else "", f"{left:,} not asked" if left else "",
        tally.model, f"{read:,}→{written:,} tok" if read or written else "",
        f"{tally.spent:.4g} spent" if tally.spent is not None else "", seconds, how,
    )  # fmt: skip
    lines = (" · ".join(filter(None, pieces)), *_besides(tally, source))
    return {"text/plain": "\n".join(lines)}


def _besides(tally: Tally, source: Source) -> Iterator[str]:
    """Yield what else must be known of a table."""
    over = [done for _, done in sorted(tally.rows.items()) if done.error]
    if error := next((done.error for done in over if done.asked), ""):
        yield f"the first failure: {one_line(error)} · run it again to ask those that failed"
    if reason := next((done.error for done in over if not done.asked), ""):
        yield one_line(reason)
    if tally.away:
        more = f" · {counted(len(tally.away) - 1, 'more row')} like it" if tally.away[1:] else ""
        yield f"{tally.away[0]}{more}"
    if tally.before:
        rows = counted(tally.before, "stored row")
        yield f"{rows} answered below other messages than now · ask all again: --again"
    if source.once:
        yield "what gave the rows gives them only once: the table has them now"


def _named(source: Source, schema: AnswerSchema | None, prefix: object) -> dict[str, str]:
    """Return the new columns in their order, each with the name that it gets.

    Raises SettingError where one is there already.
    """
    if not isinstance(prefix, str):
        raise SettingError(f"prefix is text, not {prefix!r}", "Write prefix='m_'.")
    fields, (answer, *others) = list(fields_of(schema)), COLUMNS["map"]
    if same := [name for name in fields if name in COLUMNS["map"]]:
        raise SettingError(
            f"the schema has a field {same[0]!r}, which every map has as a column",
            "Give the field another name.",
        )
    names = {name: f"{prefix}{name}" for name in (answer, *fields, *others)}
    taken = [name for name in names.values() if name in source.frame.columns]
    if taken:
        other = f"{prefix}2_" if prefix else "m_"
        raise SettingError(
            f"the table has a column {taken[0]!r} already",
            f"Let the new ones begin otherwise: --prefix {other!r}   or prefix={other!r}",
        )
    return names


def _table(source: Source, tally: Tally, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows with what came of them; one that was not asked has no values."""
    dones = [tally.rows.get(n, Done()) for n in range(tally.total)]
    made = frame("map", map(_row, dones))
    for name, schema in fields_of(tally.schema).items():
        values = [done.data.get(name) if isinstance(done.data, dict) else None for done in dones]
        made[name] = _field(values, schema)
    made = made[list(names)].rename(columns=dict(names))
    made.index = source.frame.index
    result = pd.concat([source.frame, made], axis=1)
    result.attrs["jan"] = {"table": "map", "model": tally.model}
    return result


def _row(done: Done) -> dict[str, Any]:
    row: dict[str, Any] = {"error": done.error or None}
    if done.answer is None:
        return row
    usage, answer = usage_of(done.answer), done.answer
    return row | {
        "answer": text_of(answer),
        "finish": finish_of(answer),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "seconds": timings_of(answer).total,
        "message": answer.id,
    }


def _field(values: list[Any], schema: Mapping[str, Any]) -> Any:
    """Return a column of the type that its schema says, else of whatever there is."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        with suppress(TypeError, ValueError, OverflowError):
            dtype: Any = _TYPES[kind]
            return pd.array(values, dtype=dtype)
    return pd.Series(values, dtype=object).array
