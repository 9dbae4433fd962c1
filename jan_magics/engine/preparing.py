"""An asking becomes a turn that can be made: where it goes, what it is told, how much is sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias

from jan_magics.domain.messages import Message, Thread
from jan_magics.domain.models import AnswerSchema
from jan_magics.domain.overlays import Hidden, Mark
from jan_magics.domain.protocols import Embedder
from jan_magics.engine.asking import Asking
from jan_magics.engine.asks import Ask
from jan_magics.engine.assistants import Assistant
from jan_magics.engine.attached import Attached
from jan_magics.engine.budgets import sendable
from jan_magics.engine.choose import Choice
from jan_magics.engine.engine import Engine
from jan_magics.engine.fitting import Fit
from jan_magics.engine.given import OFF, Retrieved
from jan_magics.engine.instructions import instruct
from jan_magics.engine.judging_tools import Router
from jan_magics.engine.narrowing import SAID
from jan_magics.engine.placing import Caller, overlays_for, spot_for
from jan_magics.engine.reply import Progress
from jan_magics.engine.routing import routed
from jan_magics.engine.shaping import formed
from jan_magics.engine.spots import Spot
from jan_magics.engine.taped_tools import taped_offer
from jan_magics.engine.templates import Facts
from jan_magics.engine.threads import Threads
from jan_magics.engine.toolbox import Offered, Toolbox
from jan_magics.engine.tools import Desk
from jan_magics.engine.turn import Show
from jan_magics.engine.views import View

if TYPE_CHECKING:
    from jan_magics.engine.listed import Listed
    from jan_magics.engine.lookups import Lookups
    from jan_magics.engine.retrieving import Retriever

Retrieving: TypeAlias = "Callable[[], Retriever] | None"
"""Loads the libraries of retrieval when it is called."""
UNLIMITED: Final = Fit()
SHOWN_AGAIN: Final = "the question was hidden; as it is asked again, it is sent again too"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is known of a turn before its thread is read; `listed` is where it looks things up.

    `idle` are flags of this turn that count only where the host looks something up.
    """

    engine: Engine
    threads: Threads
    wanted: Asking
    choice: Choice
    whom: Assistant
    toolbox: Toolbox
    offered: Offered
    router: str | None = None
    retriever: Retrieving = None
    listed: "Listed | None" = None
    schema: AnswerSchema | None = None
    given: Retrieved | None = None
    finding: "Lookups | None" = None
    attached: Attached | None = None
    idle: tuple[str, ...] = ()

    async def complete(self, desk: Desk | None, show: Show) -> "Prepared":
        """Return it with the tools of MCP servers, which are started now where they must be."""

        def say(note: str) -> None:
            show(Progress("", note))

        async def complete() -> Offered:
            return await self.toolbox.complete(self.offered, desk, say, yes=self.wanted.yes)

        return replace(self, offered=await taped_offer(self.engine.deck, self.offered, complete))

    def looking(self, lookups: "Lookups | None") -> "Prepared":
        """Return it with the retrieval tools before the others; None: they are off."""
        tools = lookups.tools() if lookups else ()
        notes = () if lookups else (OFF,)
        offered = self.offered
        more = replace(offered, tools=(*tools, *offered.tools), notes=(*offered.notes, *notes))
        return replace(self, offered=more, finding=lookups)

    def ask(self, view: View, fit: Fit = UNLIMITED, desk: Desk | None = None) -> Ask:
        """Return the turn in a thread as it is shown. Raises MessageNotFound, ThreadError."""
        engine, wanted, choice = self.engine, self.wanted, self.choice
        spot = self._spot(view)
        told = instruct(self.whom, wanted, self._facts())
        steps, yes = wanted.max_steps, wanted.yes
        overlays = overlays_for(view, spot, wanted, engine.new_id, engine.now())
        again = tuple(each for each in overlays if isinstance(each, Hidden | Mark))
        fit = replace(fit, records=(*fit.records, *again)) if again else fit
        return Ask(
            thread=view.thread or Thread("", "", engine.now(), engine.now()),
            index=view.index,
            text=wanted.text,
            model=choice.model,
            system=told.system,
            aside=told.aside,
            options=sendable(told.options),
            history=wanted.history,
            side=wanted.beside,
            spot=spot,
            overlays=overlays,
            fit=fit,
            partial=view.index[spot.message] if spot.where == "on" else None,
            bench=self.toolbox.bench(self.offered, fit, desk, steps=steps, yes=yes),
            given=self.given,
            finding=self.finding,
            attached=self.attached,
            anyway=wanted.send_anyway,
            notes=(
                *told.notes,
                *self.offered.notes,
                *(self.given.notes if self.given else ()),
                *((SHOWN_AGAIN,) if again else ()),
                *self._in_vain(fit),
            ),
        )

    async def ready(
        self, view: View, fit: Fit, desk: Desk | None, show: Show = lambda _: None
    ) -> Ask:
        """Return the turn as it is made: with the tools that are chosen, and the form it has.

        Raises:
            MessageNotFound, ThreadError, NotRecorded.
        """
        vectors, looking = self.toolbox.vectors, fit.looking
        router = Router(self.engine, self.router, self._embedder, vectors, looking, show)
        return formed(await routed(self.ask(view, fit, desk), router), self.schema)

    def _facts(self) -> Facts:
        deck = self.engine.deck
        notebook = deck.told_notebook(PurePath(self.threads.here().notebook).name)
        told_time = deck.told_time(self.engine.now)
        return Facts(told_time, notebook or "unknown", str(self.choice.model))

    def files_before(self, view: View) -> tuple[Message, ...]:
        """Return the messages that may hold files of this turn, with its question."""
        spot, index = self._spot(view), view.index
        if not self.wanted.history or spot.where == "root":
            path: tuple[Message, ...] = ()
        elif spot.where == "head":
            path = index.path()
        else:
            path = index.path_to(spot.message)
            if spot.where == "beside" or (spot.where == "edit" and self.attached):
                path = path[:-1]
        now = Message("", "", "user", (), self.engine.now())
        return (*path, self.attached.put(now)) if self.attached else path

    def may_call(self, fit: Fit) -> bool:
        """Tell whether the model may call tools: nobody says that it cannot, or must not."""
        return (
            fit.profile.tools is not False
            and "tools" not in fit.lacks
            and (self.wanted.tools != ())
        )

    def _embedder(self) -> Embedder | None:
        """Load the embedder of this machine, None where there is none. Raises EmbedderError."""
        return self.retriever().embedders.packaged() if self.retriever else None

    def _spot(self, view: View) -> Spot:
        """Return where the turn goes; with other files than before it is another question."""
        caller = Caller(self.threads.spot(view), partial(self.threads.is_same, view))
        spot = spot_for(view, self.wanted, caller)
        if spot.where != "again" or self.attached is None:
            return spot
        same = self.attached.same_as(view.index[spot.message])
        return spot if same else Spot("edit", spot.message)

    def _in_vain(self, fit: Fit) -> tuple[str, ...]:
        """Say which flags do nothing here: about looking up, or tools that the model never sees."""
        if self.idle and self.given is None:
            count = "counts" if len(self.idle) == 1 else "count"
            said = f"{', '.join(self.idle)} {count} only with -c NAME: nothing was looked up"
            return (said, *self._unheard(fit))
        return self._unheard(fit)

    def _unheard(self, fit: Fit) -> tuple[str, ...]:
        """Say that the model takes no tools, or may never see them, where some are offered."""
        model = self.choice.model
        if not self.offered.tools:
            return ()
        if fit.profile.tools is False:
            return (f"{model} {SAID['tools']}",)
        unseen = f"{model} may never call a tool: its server says that it takes none"
        return (unseen,) if "tools" in fit.lacks else ()
