"""Keep a question mark at the end of a line verb: it belongs to the question, not to IPython.

IPython's help syntax would turn `%chat ask what is a cat?` into a search for help on `cat`.
"""

import io
import re
import tokenize
from collections.abc import Sequence
from typing import Final

_LINE: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<target>[^%?#'\"\n]*?=[ \t]*)?%(?P<name>chat|jan|rag)[ \t]+"
    r"(?P<rest>\S.*\?)[ \t]*(?P<end>\n?)\Z"
)
_MAGIC: Final = re.compile(r"[ \t]*([^%!'\"\n]*=[ \t]*)?[%!]")


def keep_question_marks(lines: list[str]) -> list[str]:
    """Write a line verb that ends in `?` as the call that IPython would have made of it.

    An input transformer for `input_transformers_cleanup`. `%chat?` alone still shows help.
    """
    if not lines or lines[0].startswith("%%"):
        return lines
    return [
        _as_call(match) if (match := _LINE.match(line)) and _begins_statement(lines[:n]) else line
        for n, line in enumerate(lines)
    ]


def allow_blank_cells(lines: list[str]) -> list[str]:
    """Let `%%chat --help` and `--attach` work without a body, which IPython refuses by itself."""
    words = lines[0].split() if lines else []
    if words[:1] not in (["%%chat"], ["%%jan"]) or "".join(lines[1:]).strip():
        return lines
    if {"-h", "--help"} & set(words):
        return ["get_ipython().run_line_magic('chat', 'help %%chat')\n"]
    return [lines[0].rstrip("\n") + "\n", "\n"] if "--attach" in words else lines


def _as_call(match: re.Match[str]) -> str:
    call = f"get_ipython().run_line_magic({match['name']!r}, {match['rest']!r})"
    return f"{match['indent']}{match['target'] or ''}{call}{match['end']}"


def _begins_statement(before: Sequence[str]) -> bool:
    """Tell whether the next line is code of its own: not inside a string or brackets."""
    text = "".join("pass\n" if _MAGIC.match(line) else line for line in before)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    depth = sum(
        {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(t.string, 0)
        for t in tokens
        if t.type == tokenize.OP
    )
    return depth == 0 and not text.rstrip("\n").endswith("\\")
