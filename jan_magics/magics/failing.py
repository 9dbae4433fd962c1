"""The prompt of `%chat fix`: the cell that failed, and its error."""

import traceback

LONGEST = 6000
"""Characters of code or traceback that are sent; the end says most."""


def prompt_about(code: str, error: BaseException) -> str:
    """Return a prompt with a cell and the traceback of its error."""
    trace = "".join(traceback.format_exception(error))
    return (
        "This notebook cell failed. Say in one sentence why, then give the corrected cell.\n\n"
        f"{fenced(code[-LONGEST:], 'python')}\n\n{fenced(trace[-LONGEST:], 'text')}"
    )


def fenced(text: str, language: str) -> str:
    """Put text into a fence that is longer than any run of backticks inside."""
    longest = max((len(run) for run in _runs(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]
