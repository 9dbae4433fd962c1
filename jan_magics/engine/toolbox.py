"""The tools of a kernel: which there are, which of them a turn offers, and what they have done."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.domain.counting import counted
from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ToolSpec
from jan_magics.engine.fitting import Fit
from jan_magics.engine.paging import LongResults, budget
from jan_magics.engine.tool_marks import mark_of
from jan_magics.engine.tools import Desk, PlainValues, Tool, Values, tool_of

MAX_STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools of a turn, and what is to be told of them."""

    tools: tuple[Tool, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list; `approval` is how it is approved now."""

    name: str
    kind: str
    approval: str
    calls: int
    status: str


@dataclass(slots=True)
class Toolbox:
    """What this kernel knows of tools. `names` gives the user's variables as they are now.

    `calls` counts by name, `late` what came too late and was dropped; `allowed` are those that a
    person has approved for this kernel.
    """

    names: Callable[[], Mapping[str, object]] = dict
    values: Values = field(default_factory=PlainValues)
    calls: dict[str, int] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    long: LongResults = field(default_factory=LongResults)

    def offered(self, wanted: Sequence[object] | None) -> Offered:
        """Return the tools that were asked for: functions, or the names of some.

        They are looked up anew at each turn: a cell that defines one again changes it.

        Raises:
            SettingError: for a name that no function has, or one that cannot be a tool.
        """
        functions: list[object] = []
        tools: list[Tool] = []
        notes: list[str] = []
        for each in wanted or ():
            function = self._named(each) if isinstance(each, str) else each
            if any(function is other for other in functions):
                continue
            functions.append(function)
            tool = tool_of(function, self.values)
            if (name := _free(tool.name, tools)) != tool.name:
                spec = ToolSpec(name, tool.spec.description, tool.spec.parameters)
                notes.append(f"two tools are called {tool.name}: the later one is {name}")
                tool = replace(tool, spec=spec)
            tools.append(tool)
        return Offered(tuple(tools), tuple(notes))

    def bench(
        self, offered: Offered, fit: Fit, desk: Desk | None, *, steps: int | None, yes: bool
    ) -> "Bench":
        """Return the tools of a turn with what they need."""
        return Bench(self, offered.tools, desk, fit, steps or MAX_STEPS, yes)

    def rows(self, wanted: Iterable[object]) -> Iterator[ToolRow]:
        """Yield the tools that are offered at every turn, then the marked ones besides."""
        known = dict(self._marked())
        for each in wanted:
            row = self._row(tool_name(each), each, "offered at every turn")
            known.pop(row.name, None)
            yield row
        for name, function in known.items():
            yield self._row(name, function, f"not offered · offer it: %chat tools --add {name}")

    def note_late(self, name: str) -> None:
        """Note a result that came too late."""
        self.late[name] = self.late.get(name, 0) + 1

    def _row(self, name: str, each: object, status: str) -> ToolRow:
        try:
            tool = self.offered((each,)).tools[0]
        except SettingError as fault:
            return ToolRow(name, "function", "never", self.calls.get(name, 0), fault.message)
        approval = "auto" if tool.name in self.allowed else tool.approval
        if late := self.late.get(tool.name):
            status = f"{status} · {counted(late, 'late result')} dropped"
        return ToolRow(tool.name, tool.kind, approval, self.calls.get(tool.name, 0), status)

    def _marked(self) -> Iterator[tuple[str, object]]:
        """Yield the marked functions by the name that models know; a later one wins."""
        for name, value in dict(self.names()).items():  # a copy: another thread may define more
            found = None if name.startswith("_") else mark_of(value)
            if found is not None:
                yield found.name or str(getattr(value, "__name__", name)), value

    def _named(self, name: str) -> object:
        marked = dict(self._marked())
        names = dict(self.names())
        if name in marked:
            return marked[name]
        if callable(found := names.get(name)):
            return found
        near = difflib.get_close_matches(name, [*marked, *names], 1)
        raise SettingError(
            f"no function {name!r}{f', closest: {near[0]!r}' if near else ''}",
            "Define it in a cell above, or list those that there are: %chat tools",
        )


@dataclass(slots=True)
class Bench:
    """The tools of one turn. `desk` None: nobody waits who could be asked; `yes`: nobody has to."""

    box: Toolbox
    offered: tuple[Tool, ...] = ()
    desk: Desk | None = None
    fit: Fit = field(default_factory=Fit)
    max_steps: int = MAX_STEPS
    yes: bool = False

    @property
    def result_tokens(self) -> int:
        """Return the tokens that one result may have."""
        return budget(self.fit.budget.window)

    def tools(self) -> tuple[Tool, ...]:
        """Return what may be called at the next step: ours first, then functions."""
        if not self.offered or not self.box.long.kept:
            return self.offered
        return (self.box.long.tool(self.result_tokens, self.fit.tokenizer.count), *self.offered)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools as they are sent."""
        return tuple(tool.spec for tool in self.tools())

    def named(self, name: str) -> Tool | None:
        """Return the tool of a name."""
        return next((tool for tool in self.tools() if tool.name == name), None)


def tool_name(wanted: object) -> str:
    """Return what a tool is called that was asked for: by its name, or as a function."""
    return wanted if isinstance(wanted, str) else str(getattr(wanted, "__name__", wanted))


def _free(name: str, tools: Sequence[Tool]) -> str:
    """Return a name that no tool has yet."""
    taken = {tool.name for tool in tools}
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
