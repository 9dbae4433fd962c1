"""The table of verbs in the README, made of the parsers: `python -m tests.readme_tables`.

Stands between two comments; `tests/test_documented.py` fails when it is stale.
"""

import re
import sys
from collections.abc import Iterator, Sequence

from jan_magics.magics.commands import ASKING, VERBS, Verb
from jan_magics.magics.rag_commands import RAG_VERBS
from tests.readme import README

BEGIN, END = "<!-- verbs: made by python -m tests.readme_tables -->", "<!-- /verbs -->"


def table() -> str:
    """Return the table: `%%chat`, then every verb with its words, flags and summary."""
    flags = " ".join(f"`{each.names[-1]}`" for each in ASKING)
    lines = [
        "| | |", "|---|---|", f"| `%%chat [MODEL\\|THREAD]` | the cell is the prompt: {flags} |",
        *_rows("%chat", VERBS), *_rows("%rag", RAG_VERBS),
    ]  # fmt: skip
    return "\n".join(lines)


def _rows(magic: str, verbs: Sequence[Verb]) -> Iterator[str]:
    for verb in verbs:
        words = " ".join((magic, verb.name, *verb.words, verb.text)).strip().replace("|", "\\|")
        asking = len(verb.flags) >= len(ASKING)
        flags = "`%%chat`'s" if asking else " ".join(f"`{each.names[-1]}`" for each in verb.flags)
        told = f"{verb.summary} · {flags}" if flags else verb.summary
        yield f"| `{words}` | {told} |"


def renewed(text: str) -> str:
    """Return the README with the table as it is now."""
    there = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    return there.sub(lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", text)


def main() -> int:
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
