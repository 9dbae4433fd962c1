"""The flags of `%%chat` as keywords: which mean something from Python, and what else to do."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from jan_magics.domain.errors import SettingError

_LATER: Final = "It cannot be given yet. Leave it out."
OF_CELLS: Final[Mapping[str, str]] = MappingProxyType({
    "P": "Give the model's parameters as keywords: top_p=0.9",
    "grid": "Ask for a grid: chat.grid(text, temperature=[0, 1])",
    "needle": "Ask for a grid: chat.grid(text, needle='…', temperature=[0, 1])",
    "o": "Keep what is returned: answer = chat.send(text)",
    "f": "Take what you need of the answer: .text, .code, .data",
    "q": "Write show=False.",
    "quiet": "Write show=False.",
    "to_cell": "Take the code of the answer: chat.send(text).code",
    "no_stream": "Write show=False and print the answer.",
    "background": "Read it piece by piece: chat.stream(text)",
    **dict.fromkeys(
        ("map", "concurrency", "max_cost", "prefix", "again"),
        _LATER,
    ),
})  # fmt: skip
"""Flags that a call does not take, each with what to write in its place."""
NO_PARAMETERS: Final[Mapping[str, str]] = MappingProxyType({
    "messages": "The thread holds them: chat.send(text); see them: chat.messages()",
    "stream": "Read it piece by piece: chat.stream(text)",
    "auto_compact": 'Let history be summarised: overflow="compact"',
    **dict.fromkeys(("ctx_len", "max_context_tokens"), "Say how large the window is: window=8192"),
})  # fmt: skip
"""What no parameter can be: what is sent is planned and recorded."""
OF_ONE_TURN: Final = (
    "at", "history", "no_history", "reuse", "dry_run", "literal", "show", "query", "attach",
    "schema", "send_anyway",
)  # fmt: skip
"""What says something of one turn, and cannot stick."""


def without_flags(given: Mapping[str, Any], *, sticks: bool = False) -> dict[str, Any]:
    """Return keywords without flags that are off, none of which is a parameter of a model.

    Raises:
        SettingError: for a flag that a call does not take; `sticks`: also for one of a single turn.
    """
    for name, value in given.items():
        if name in OF_CELLS and not _off(value):
            raise SettingError(f"{name} is a flag of %%chat, not of this call", OF_CELLS[name])
        if name in NO_PARAMETERS and not _off(value):
            raise SettingError(f"{name} is no parameter of a model", NO_PARAMETERS[name])
        if sticks and name in OF_ONE_TURN:
            raise SettingError(
                f"{name} is about one turn and cannot stick",
                f"Give it there: chat.send(…, {name}=…)",
            )
    return {
        name: value
        for name, value in given.items()
        if name not in OF_CELLS and name not in NO_PARAMETERS
    }


def _off(value: object) -> bool:
    return value is None or value is False or value == ()
