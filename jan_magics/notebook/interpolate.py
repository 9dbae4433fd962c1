r"""`{{ expression }}` in a prompt: evaluated once, inserted verbatim, never evaluated again.

Single braces are text, and so are `\{{`, an empty pair and a pair that is never closed.
"""

import ast
import difflib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Final

from jan_magics.domain.errors import ExpressionFailed, UndefinedName
from jan_magics.notebook.values import inserted

_OPENER: Final = re.compile(r"\\?\{\{")
_MOST_CANDIDATES: Final = 64
"""A closing `}}` may belong to a display or a string in the expression: so many are tried."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The final prompt, and the variables that its expressions name, in order."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Expression:
    source: str
    code: CodeType
    names: tuple[str, ...]
    end: int


def interpolate(
    template: str,
    namespace: Mapping[str, object],
    builtins: Mapping[str, object],
    later: Callable[[str], bool] | None = None,
    shown: Callable[[object], str] = inserted,
) -> Rendered:
    r"""Fill a template with values from the user's namespace.

    What `later` claims is left for a later renderer, and wins over variables; the braces that are
    text, or came from a value, are `\{{` then, so that it takes none of them for its own. `shown`
    makes text of a value.

    Raises:
        UndefinedName: an expression reads a name that does not exist.
        ExpressionFailed: an expression is not Python, or raised.
    """
    pieces, names, at = list[str](), dict[str, None](), 0
    braces = "{{" if later is None else r"\{{"
    while opener := _OPENER.search(template, at):
        pieces.append(template[at : opener.start()])
        at = opener.end()
        if opener[0].startswith("\\"):
            pieces.append(braces)
        elif later and (end := template.find("}}", at)) >= 0 and later(template[at:end]):
            pieces.append(template[opener.start() : end + 2])
            at = end + 2
        elif expression := _expression_at(template, at):
            names.update(dict.fromkeys(filter(namespace.__contains__, expression.names)))
            value = _value(expression, namespace, builtins, shown)
            pieces.append(value.replace("{{", braces))
            at = expression.end
        else:
            pieces.append(braces)
    return Rendered("".join((*pieces, template[at:])), tuple(names))


def _expression_at(template: str, start: int) -> _Expression | None:
    """Return the expression that begins here, None where the braces are text."""
    failure: tuple[str, Exception] | None = None
    for end in _candidates(template, start):
        source = template[start:end].strip()
        if not source:
            return None
        try:
            tree, code = _compiled(source)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            failure = failure or (source, error)
            continue
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        return _Expression(source, code, tuple(dict.fromkeys(names)), end + 2)
    if failure is None:
        return None
    source, reason = failure
    raise ExpressionFailed(source, _reason(reason)) from reason


def _candidates(template: str, start: int) -> Iterator[int]:
    end = start - 1
    for _ in range(_MOST_CANDIDATES):
        end = template.find("}}", end + 1)
        if end < 0:
            return
        yield end


@lru_cache(maxsize=64)  # the rows of a table share their expressions
def _compiled(source: str) -> tuple[ast.Expression, CodeType]:
    with warnings.catch_warnings():
        # Half an expression may warn about what the whole one does not contain.
        warnings.simplefilter("ignore", SyntaxWarning)
        tree = ast.parse(source, mode="eval")
        return tree, compile(tree, "<prompt>", "eval", dont_inherit=True)


def _value(
    expression: _Expression,
    namespace: Mapping[str, object],
    builtins: Mapping[str, object],
    shown: Callable[[object], str],
) -> str:
    # The user's own dictionary, so that functions and comprehensions see all of it.
    scope = namespace if isinstance(namespace, dict) else dict(namespace)
    if "__builtins__" not in scope:
        scope = {**scope, "__builtins__": dict(builtins)}
    try:
        return shown(eval(expression.code, scope))  # noqa: S307 (the user's own expression)
    except NameError as error:
        known = namespace.keys() | builtins.keys()
        if error.name not in expression.names or error.name in known:
            raise ExpressionFailed(expression.source, _reason(error)) from error
        public = sorted(name for name in known if not name.startswith("_"))
        nearest = difflib.get_close_matches(error.name, public, n=3)
        raise UndefinedName(error.name, nearest) from error
    except Exception as error:
        # The user's code may raise anything, and its failure is theirs to read.
        raise ExpressionFailed(expression.source, _reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
