"""The steps of a turn: a model is asked, what it calls is run and answered, and it is asked again.

Every call gets an answer: a result, an error's text, a refusal, or that it was interrupted.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from types import MappingProxyType
from typing import Final, TypeAlias

from jan_magics.context.plan import ContextPlan
from jan_magics.domain.messages import FinishReason, Json, Part, ToolCallPart, ToolResultPart
from jan_magics.domain.models import ChatRequest
from jan_magics.domain.protocols import Provider
from jan_magics.engine.arguments import Misfit
from jan_magics.engine.continuing import ends_in_result
from jan_magics.engine.deck import Deck
from jan_magics.engine.reply import Progress, Reply
from jan_magics.engine.taped_tools import taped_call
from jan_magics.engine.toolbox import Bench
from jan_magics.engine.tools import Ran, Tool, Verdict, read_arguments, run_tool

Further: TypeAlias = Callable[[tuple[Part, ...]], Awaitable[ContextPlan]]
"""Plans a request that goes on after the parts of the answer so far."""
Requesting: TypeAlias = Callable[[ContextPlan], ChatRequest]

_NO: Final[Mapping[str, str]] = MappingProxyType({
    "no": "the user has refused this call",
    "late": "nobody answered in time whether this call may run",
})  # fmt: skip
REPEATS: Final = 3
"""The identical call with the identical result that ends a turn."""


@dataclass(slots=True)
class Steps:
    """The steps of one turn. `plan` is the newest, `notes` are lines for the footer.

    `plan_with` plans a request that goes on after the parts so far; `request` makes one of a plan.
    `deck` is what is recorded or played.
    """

    reply: Reply
    provider: Provider
    bench: Bench
    plan: ContextPlan
    plan_with: Further
    request: Requesting
    notes: list[str] = field(default_factory=list)
    deck: Deck = field(default_factory=Deck)

    async def run(self, first: Callable[[ChatRequest], Awaitable[None]]) -> FinishReason:
        """Ask until there is an answer. Raises ProviderError, ContextOverflow."""
        if ends_in_result(self.reply.parts()):  # it goes on where an earlier turn was cut
            await self._next()
        else:
            await first(self.request(self.plan))
        while calls := self.reply.end_step():
            await self._answer(calls)
            if again := self._repeated(calls):
                self.notes.append(
                    f"{again} was called {REPEATS} times with the same result, so it ended there"
                )
                return "tools"
            if self.reply.steps >= self.bench.max_steps:
                return "max_steps"
            await self._next()
        return self.reply.finish()

    async def _next(self) -> None:
        self.plan = await self.plan_with(self.reply.parts())
        await self.reply.receive(self.provider, self.request(self.plan))

    async def _answer(self, calls: Sequence[ToolCallPart]) -> None:
        """Run what only reads side by side, the others one after the other.

        Out of a cassette all come one after the other, so that every run takes them in that order.
        """
        playing = self.deck.playing is not None
        safe = [call for call in calls if not playing and (tool := self._tool(call)) and tool.safe]
        if safe:
            async with self._watched(safe), asyncio.TaskGroup() as together:
                for call in safe:
                    together.create_task(self._one(call))
        for call in calls:
            if call not in safe:
                await self._one(call)

    async def _one(self, call: ToolCallPart) -> None:
        ran = await taped_call(self.deck, call, self._ran)
        bench, tool = self.bench, self._tool(call)
        if tool:
            bench.box.calls[call.name] = bench.box.calls.get(call.name, 0) + 1
        if tool is None or tool.kind != "built-in":  # a page of a long result is short enough
            ran = bench.box.long.cut(ran, bench.result_tokens, bench.fit.tokenizer.count)
        self.reply.take(ran.answer(call))

    async def _ran(self, call: ToolCallPart) -> Ran:
        tool = self._tool(call)
        if tool is None:
            names = ", ".join(each.name for each in self.bench.tools()) or "none"
            return Ran(f"there is no tool {call.name!r}; there are: {names}", "error")
        try:
            given = read_arguments(call)
        except Misfit as fault:
            return Ran(str(fault), "error")
        if refused := await self._refused(tool, given):
            return Ran(refused, "denied")
        running = run_tool(
            tool, given, self.bench.desk, lambda: self.bench.box.note_late(tool.name)
        )
        if tool.safe:
            return await running  # it is watched with those beside it
        async with self._watched([call]):
            return await running

    async def _refused(self, tool: Tool, given: dict[str, Json]) -> str:
        """Return why a call must not run, "" where it may."""
        bench, desk = self.bench, self.bench.desk
        if tool.approval == "never":
            return f"{tool.name} must never be run"
        if tool.approval == "auto" or bench.yes or tool.name in bench.box.allowed:
            return ""
        shown = json.dumps(given, ensure_ascii=False)
        verdict: Verdict = "nobody"
        if desk is not None:
            self.reply.show(Progress(self.reply.text(), f"waiting for a yes to {tool.name}"))
            verdict = await desk.run(lambda: desk.ask(tool.name, shown))
        if verdict == "always":
            bench.box.allowed.add(tool.name)
        if verdict == "nobody":
            return self._nobody(tool)
        return "" if verdict in ("yes", "always") else _NO[verdict]

    def _nobody(self, tool: Tool) -> str:
        note = f"{tool.name} was not run: nobody can be asked here · allow all calls: --yes"
        if note not in self.notes:
            self.notes.append(note)
        return f"{tool.name} was not run: nobody could be asked for approval"

    def _repeated(self, calls: Sequence[ToolCallPart]) -> str:
        """Return the tool of a step that brings nothing new any more, "" where each does."""
        parts = self.reply.parts()
        given = {part.call_id: part.arguments for part in parts if isinstance(part, ToolCallPart)}
        known = {
            part.call_id: (part.name, _canonical(given[part.call_id]), json.dumps(part.output))
            for part in parts
            if isinstance(part, ToolResultPart) and part.call_id in given
        }
        seen = Counter(known.values())
        newest = (known[call.call_id] for call in calls)
        return next((each[0] for each in newest if seen[each] >= REPEATS), "")

    def _tool(self, call: ToolCallPart) -> Tool | None:
        return self.bench.named(call.name)

    @asynccontextmanager
    async def _watched(self, calls: Sequence[ToolCallPart]) -> AsyncIterator[None]:
        """Say what is called and, from the first second on, for how long already."""
        watch = asyncio.ensure_future(self._watch(", ".join(call.name for call in calls)))
        try:
            yield
        finally:
            watch.cancel()

    async def _watch(self, names: str) -> None:
        begun = perf_counter()
        while True:
            seconds = int(perf_counter() - begun)
            elapsed = f" · {seconds} s" if seconds else ""
            self.reply.show(Progress(self.reply.text(), f"calling {names}{elapsed}"))
            await asyncio.sleep(begun + seconds + 1 - perf_counter())


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
