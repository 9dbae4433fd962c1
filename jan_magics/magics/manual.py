"""The topics of `%chat help` beside its verbs: made of the data that they describe."""

from collections.abc import Callable, Mapping
from itertools import zip_longest
from textwrap import wrap
from types import MappingProxyType
from typing import Final

from jan_magics.magics.rag_commands import RAG_VERBS

LIMITS: Final = """\
What to know before you rely on it:

  offline:quote and offline:echo are no models: they repeat what was said.
  Counts with ≈ are estimates; the server's own counts correct them from turn to turn.
  A summary may lose what matters; numbers, names, paths and rules are copied beside it.
  What a model answers may be wrong; answer.grounding() compares words, it does not understand them.
  A cassette answers what was asked in the same words; all else is NotRecorded.
  A key without a known form is not stopped; images and PDF are not read for keys.
  A kill of the kernel loses about a quarter of a second of a growing answer.
  Calls of tools run in this kernel, with your rights: what is not marked safe asks first.
  Buttons, live views and Markdown cells need JupyterLab 4.4 or newer; elsewhere there are tables.
"""
MAP: Final = """\
%%chat --map DF          the cell is a template: a turn a row, the answers as columns
Sum up {{row.title}} in five words. {{row["a b"]}} is a column with a space.

Rows are siblings below the messages so far, kept beside the thread, whose head stays. DF is a
DataFrame, a Series, or a list of texts ({{row}}) or dicts. In a cell {{ }} holds any expression
over row; in Python only such look-ups are filled in: chat.map(df, "Sum up {{row.title}}.")
What is not known (None, NaN) is no text. What a cell of the table holds is never evaluated again.

Columns: those of DF, answer, the fields of --schema, error, finish, input_tokens, output_tokens,
seconds, message; --prefix P where a name is there already. A row that fails says why in error.

Rows that were answered are not asked again, after an interrupt or a restart either: the same
prompt, model, parameters, instructions and form in the same thread. --again asks all of them.
--concurrency N rows at a time (4; a server of this machine is sent one, unless N is written). After
too many requests all rows wait together. --max-cost X begins no row that might cost more than X in
all, where prices are known; an answer without --max-tokens then ends at reserve_output. -o VAR
keeps the table, -q shows no bar, --dry-run shows the first row.
"""
SCHEMA: Final = """\
%%chat --schema NAME|JSON   an answer of a given form; its data is answer.data

NAME is a variable: a dataclass, a TypedDict, a Pydantic class, a dict that is a JSON schema, or its
text. JSON is written on the line: --schema {"properties": {"n": {"type": "integer"}}}
In Python: chat.send(text, schema=Ticket).data

A server that can hold the model to a form does; any other model is told it in words. The answer is
looked at in any case: one of another form is asked for once more, with what is wrong. Then it is an
error, SchemaUnmet; the answer is kept, and its data is None.
"""


def settings_text() -> str:
    """Return every setting with its meaning, what it can be, and its default."""
    from jan_magics.engine.setting_list import SETTINGS

    lines = ["%config JanMagics.NAME = …, JAN_NAME in the environment, NAME in config.toml:", ""]
    for each in SETTINGS:
        values = f" ({' | '.join(each.choices)})" if each.choices else ""
        default = f" [{each.default}]" if each.default else ""
        told = wrap(f"{each.meaning}{values}{default}", 72, break_on_hyphens=False)
        lines += [
            f"  {name:<22}{line}" for name, line in zip_longest((each.name,), told, fillvalue="")
        ]
    return "\n".join((*lines, "", "As they are now: %chat config"))


def errors_text() -> str:
    """Return every error with what it says."""
    from jan_magics.domain import errors

    return f"{(errors.__doc__ or '').strip()}\n\nThe whole traceback of the last one: %tb"


def rag_text() -> str:
    """Return the verbs of `%rag`."""
    lines = (
        f"  {' '.join((each.name, *each.words, each.text)):<30}{each.summary}" for each in RAG_VERBS
    )
    return "\n".join(("%rag VERB: documents, and searches in them", "", *map(str.rstrip, lines)))


TOPICS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {"settings": settings_text, "errors": errors_text, "rag": rag_text, "map": lambda: MAP,
     "schema": lambda: SCHEMA, "limits": lambda: LIMITS}
)  # fmt: skip
