"""Tools: Python functions that a model may call, and what becomes of one call.

Whatever a function does, its call is answered: with a result, an error's text, or a refusal.
"""

import asyncio
import contextvars
import inspect
import json
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from jan_magics.domain.errors import SettingError
from jan_magics.domain.messages import Json, ToolCallPart, ToolResultPart, ToolState
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.arguments import Misfit, bound, repair_args
from jan_magics.engine.docstrings import read_doc
from jan_magics.engine.schemas import schema_of
from jan_magics.engine.tool_marks import FUNCTION, Approval, Mark, mark_of

T = TypeVar("T")
Kind: TypeAlias = Literal["built-in", "function", "mcp"]
Verdict: TypeAlias = Literal["yes", "no", "always", "nobody", "late"]
"""What a person says to a call; "nobody": there is no one to ask, "late": no answer in time."""

LONGEST_NAME: Final = 64
MOST: Final = 10_000
"""Values that are taken from a generator; some never end."""


class Desk(Protocol):
    """The main thread, which waits for the turn and runs what it is handed meanwhile.

    Where `main` is False it is another thread, in which a person can only be asked.
    """

    @property
    def main(self) -> bool:
        """Tell whether it is the main thread."""
        ...

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in the main thread. `work` raises nothing but an interrupt."""
        ...

    def ask(self, name: str, arguments: str) -> Verdict:
        """Ask a person whether a call may run; called in the main thread."""
        ...

    def start(self, name: str, command: str) -> Verdict:
        """Ask a person whether an MCP server may be started; called in the main thread."""
        ...


class Values(Protocol):
    """Tables and arrays, which the engine does not know."""

    def plain(self, value: object) -> object:
        """Return a table or array as text or lists; anything else as it is."""
        ...

    def foreign(self, value: Json, kind: str) -> object:
        """Return rows or numbers as a table or array of that name."""
        ...


class PlainValues:
    """Knows no tables and no arrays."""

    def plain(self, value: object) -> object:
        """Return a value as it is."""
        return value

    def foreign(self, value: Json, kind: str) -> object:
        """Return a value as it is."""
        return value


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it can be called; `call` takes the arguments that a model wrote, as JSON.

    `elsewhere`: what it returns is awaited on the engine's loop, and is what came of the call.
    """

    spec: ToolSpec
    call: Callable[[Mapping[str, Json]], object] = field(repr=False)
    kind: Kind = "function"
    approval: Approval = "ask"
    safe: bool = False
    main: bool = False
    timeout: float | None = 60.0
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """Return the name that a model knows."""
        return self.spec.name


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a call, as text or JSON for the model."""

    output: Json
    state: ToolState = "ok"

    def answer(self, call: ToolCallPart) -> ToolResultPart:
        """Return it as the result of a call."""
        return ToolResultPart(call.call_id, call.name, self.output, self.state)


def tool_of(function: object, values: Values) -> Tool:
    """Return a function as a tool. Raises SettingError for what cannot be one."""
    if not callable(function) or isinstance(function, type):
        raise SettingError(f"{function!r} is no function", FUNCTION)
    known = mark_of(function) or Mark()
    name = known.name or str(getattr(function, "__name__", ""))
    if not _usable(name):
        raise SettingError(
            f"{name!r} is no name that models know a tool by",
            "Give it one of ASCII letters, digits, _ and -: @jan.tool(name='weather')",
        )
    doc = read_doc(function.__doc__)
    try:
        spec = ToolSpec(name, doc.summary, schema_of(function, doc))
    except ValueError:  # some functions that are not written in Python
        raise SettingError(
            f"{name}() cannot be a tool: Python does not know its parameters",
            "Call it in a function of your own: def f(city: str): …",
        ) from None

    def call(given: Mapping[str, Json]) -> object:
        arguments = bound(function, given, values.foreign)
        made = function(*arguments.args, **arguments.kwargs)
        return values.plain(_whole(asyncio.run(made) if inspect.iscoroutine(made) else made))

    return Tool(spec, call, "function", known.approved, known.safe, known.main, known.timeout)


def _whole(made: Any) -> Any:
    """Return what a generator yields as a list, anything else as it is."""
    if isinstance(made, AsyncGenerator):
        return asyncio.run(_listed(made))
    return list(islice(made, MOST)) if inspect.isgenerator(made) else made


async def _listed(made: AsyncGenerator[Any, Any]) -> list[Any]:
    found: list[Any] = []
    async with aclosing(made):
        async for value in made:
            found.append(value)
            if len(found) == MOST:
                break
    return found


def _usable(name: str) -> bool:
    bare = name.replace("_", "").replace("-", "")
    return name.isascii() and len(name) <= LONGEST_NAME and (bare.isalnum() or bare == "" != name)


def read_arguments(call: ToolCallPart) -> dict[str, Json]:
    """Return the arguments of a call. Raises Misfit for what cannot be read."""
    found = repair_args(call.arguments)
    if found is None:
        raise Misfit(f"the arguments are no JSON object: {call.arguments!r}")
    return found


async def run_tool(
    tool: Tool, given: Mapping[str, Json], desk: Desk | None, late: Callable[[], None]
) -> Ran:
    """Run a tool to its end, or to its timeout; its failure is its result.

    `late` is told when something comes after the timeout, or after an interrupt.
    """
    if tool.main:
        if desk is None or not desk.main:
            return Ran("not run: it needs the main thread, which nobody holds here", "error")
        return await desk.run(lambda: _ran(tool, given))
    try:
        async with asyncio.timeout(tool.timeout):
            if tool.elsewhere:
                return await _ran_elsewhere(tool, given)
            return await in_thread(lambda: _ran_apart(tool, given), late)
    except TimeoutError:
        return Ran(f"no result after {tool.timeout:g} s; what still comes is dropped", "error")


def _ran(tool: Tool, given: Mapping[str, Json]) -> Ran:
    try:
        return Ran(as_json(tool.call(given)))
    except Misfit as fault:
        return Ran(str(fault), "error")
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - foreign code: an answer too
        return _failed(failure)


async def _ran_elsewhere(tool: Tool, given: Mapping[str, Json]) -> Ran:
    found = tool.call(given)
    return await found if inspect.isawaitable(found) else Ran(as_json(found))


def _ran_apart(tool: Tool, given: Mapping[str, Json]) -> Ran:
    """Run a tool in a thread where nobody can interrupt it: whatever it raises is its own."""
    try:
        return _ran(tool, given)
    except BaseException as failure:  # noqa: BLE001 - as above
        return _failed(failure)


def _failed(failure: BaseException) -> Ran:
    said = str(failure)
    return Ran(f"{type(failure).__name__}{': ' if said else ''}{said}", "error")


async def in_thread(work: Callable[[], T], late: Callable[[], None]) -> T:
    """Run something that raises nothing in a thread of its own; who leaves early leaves it behind.

    A daemon thread: the loop's own threads would hold up the end of the program, and writes.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def end(result: T) -> None:
        if future.done():
            late()
        else:
            future.set_result(result)

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(end, result)

    context = contextvars.copy_context()  # what it displays reaches the cell that asked
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    return await future


def as_json(value: Any) -> Json:
    """Return a result as JSON, or as text where it is none."""
    if value is None or isinstance(value, str):
        return value
    try:
        found: Json = json.loads(json.dumps(value, allow_nan=False, default=_plain))
    except (TypeError, ValueError, RecursionError):
        return str(value)
    return found


def _plain(value: Any) -> Any:
    for name in ("_asdict", "isoformat", "item", "tolist"):
        made = getattr(value, name, None)
        if callable(made):
            return made()
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, set | frozenset):
        return list(value)
    return str(value)


def output_text(output: Json) -> str:
    """Return a result as the text that a model reads."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
