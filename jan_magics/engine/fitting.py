"""What this kernel knows of windows and of how models count; by it every request is planned."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from jan_magics.context.budget import UNKNOWN_WINDOW, Budget
from jan_magics.context.corrections import learn
from jan_magics.context.estimator import Estimator
from jan_magics.context.exact import exact_for
from jan_magics.context.plan import ContextPlan, Terms, plan_context
from jan_magics.context.tokens import CharsTokenizer, Corrected, estimator_for
from jan_magics.domain.errors import ContextOverflow, JanError, RequestRejected
from jan_magics.domain.messages import Message
from jan_magics.domain.models import ChatOptions, ModelInfo, ModelRef, Profile, ToolSpec
from jan_magics.domain.overlays import Overlay
from jan_magics.domain.protocols import Provider, Tokenizer
from jan_magics.engine.asking import Asking
from jan_magics.engine.breaker import Breaker
from jan_magics.engine.budgets import budget_for
from jan_magics.engine.cassette import ModelFacts
from jan_magics.engine.engine import Engine
from jan_magics.engine.facts import TELLING, limit_of, observed_of, resent, schemas_of, wire_of
from jan_magics.engine.live_counts import LiveCounts, open_counts, settled
from jan_magics.engine.narrowing import narrower, offering
from jan_magics.engine.settings import Settings
from jan_magics.engine.taped_counts import Sized, noted, played
from jan_magics.engine.views import View
from jan_magics.providers.catalog import declared_of, window_of
from jan_magics.providers.prices import Price, price_of
from jan_magics.sanitize.cleaner import Cleaner
from jan_magics.sanitize.profiles import TEMPLATE, profile_for
from jan_magics.sanitize.question import require_question
from jan_magics.sanitize.validate import validate

OBSERVED: Final = 16
"""The newest turns of a model from which its correction is learned."""
PATIENCE: Final = 3.0
"""Seconds that a server has to list its models, when its windows are wanted."""
SUMMARY: Final = 20.0
"""Seconds that a turn waits for a summary before it goes on with trimming."""
REFUSED: Final = "the server's refusal"
"""Who told a window that was learned from a request that was too long."""
PLAIN: Final = ChatOptions()
NOBODY: Final = ModelRef("", "")


@dataclass(frozen=True, slots=True)
class Fit:
    """By what a turn's request is fitted into the window, with the records of its thread.

    `factor` is by how much the tokenizer's own counts were corrected, `patience` how many seconds
    a summary may take. `lacks` are capabilities that the server says its model does not have,
    `price` is None where nobody says it. `looking`: what cannot be sent is planned all the same,
    to be looked at.
    """

    budget: Budget = field(default_factory=lambda: Budget(window=None))
    tokenizer: Tokenizer = field(default_factory=CharsTokenizer)
    records: tuple[Overlay, ...] = ()
    model: ModelRef = NOBODY
    language: str | None = None
    factor: float = 1.0
    earlier: ContextPlan | None = None
    breaker: Breaker = field(default_factory=Breaker)
    profile: Profile = TEMPLATE
    patience: float = SUMMARY
    lacks: frozenset[str] = frozenset()
    price: Price | None = None
    looking: bool = False

    async def plan(
        self,
        path: tuple[Message, ...],
        system: str,
        tools: tuple[ToolSpec, ...] = (),
        retrieved: int = 0,
    ) -> ContextPlan:
        """Plan the request for a path; `retrieved` tokens of its prompt were looked up.

        Raises ContextOverflow unless it is only looked at, PromptError, RequestRejected.
        """
        profile = offering(self.profile, tools)
        tools = () if profile.tools is False else tools
        about = (str(self.model), system, tools, retrieved)
        sending = (self.profile.reasoning != "never", self.profile.system != "none")
        terms = Terms(self.budget, self.tokenizer, Cleaner(profile), *about, *sending)

        def plan() -> ContextPlan:
            return plan_context(path, self.records, terms, self.earlier, looking=self.looking)

        found = await settled(self.tokenizer, plan)
        if faults := validate(found.messages, profile):
            require_question(found.messages)
            raise RequestRejected(
                f"{self.model} would refuse this request: {faults[0].detail}",
                "Look at what is sent: %chat plan   or leave the message out: %chat drop ID",
                model=str(self.model),
            )
        return found

    def estimate(self, plan: ContextPlan) -> int | None:
        """Return the tokens of a plan as they were estimated, uncorrected; None for exact ones."""
        return None if plan.exact else round(plan.tokens / self.factor)


@dataclass(slots=True)
class Fitting:
    """What is known of each model's window and counts, and the newest plan of each thread."""

    engine: Engine
    windows: dict[ModelRef, tuple[int | None, str]] = field(default_factory=dict)
    observed: dict[ModelRef, list[tuple[int, int]]] = field(default_factory=dict)
    plans: dict[str, ContextPlan] = field(default_factory=dict)
    breakers: dict[str, Breaker] = field(default_factory=dict)
    patience: float = SUMMARY
    known: dict[ModelRef, ModelInfo] = field(default_factory=dict)
    counts: dict[ModelRef, tuple[Provider, LiveCounts | None]] = field(default_factory=dict)

    async def fit(self, model: ModelRef, asking: Asking, settings: Settings, view: View) -> Fit:
        """Return how a turn in a thread is fitted into a model's window."""
        self.engine.provider(model)  # what it refuses, it refuses before anybody is asked
        sized = await size(self, model, settings, limit_of(asking.options))
        known = self.observed.get(model) or observed_of(view.path(), model)
        factor = learn(known[-OBSERVED:])
        tokenizer = sized.tokenizer
        if isinstance(tokenizer, Estimator) and factor != 1.0:
            tokenizer = Corrected(tokenizer, factor)
        else:
            # A rule that somebody asked for by name stays that rule.
            factor = 1.0
        thread = view.thread.id if view.thread else ""
        told = (sized.facts.window, sized.facts.source)
        host = None if model.address else settings.hosts.get(model.provider)
        budget = budget_for(settings, asking, *told, exact=tokenizer.exact)
        return Fit(
            replace(budget, chosen=True) if sized.facts.chosen else budget,
            tokenizer,
            tuple(view.records),
            model,
            settings.get("language").value,
            factor,
            self.plans.get(thread),
            self.breakers.setdefault(thread, Breaker()),
            self.profile(model, settings, asking.options),
            self.patience,
            self.lacks(model),
            price_of(model, host, asking.options),
        )

    @contextmanager
    def learning(self, model: ModelRef) -> Iterator[None]:
        """Learn a window from a server that refuses a request for being longer than it."""
        try:
            yield
        except ContextOverflow as failure:
            refused = failure if failure.planned is None else failure.__cause__
            if isinstance(refused, ContextOverflow) and refused.window:
                self.windows[model] = (refused.window, REFUSED)
            raise

    async def window(self, model: ModelRef, limit: float | None = None) -> tuple[int | None, str]:
        """Return a model's context window in tokens and who told it; asked once.

        `limit` is how many seconds the user waits for anything.
        """
        if model not in self.windows:
            self.windows[model] = await self._asked(model, limit)
        return self.windows[model]

    def tokenizer(self, model: ModelRef, settings: Settings) -> Tokenizer:
        """Return how the tokens of a model are counted."""
        how = settings.get("tokenizer").value
        if how == "chars/3.5":
            return CharsTokenizer()
        exact = exact_for(model.name) if how == "auto" else None
        return exact or estimator_for(model.name)

    def profile(self, model: ModelRef, settings: Settings, options: ChatOptions = PLAIN) -> Profile:
        """Return what the model's wire takes, and what is known of the model itself."""
        told = self.known.get(model)
        can = {*(told.capabilities if told else ()), *declared_of(model.name)}
        # Tools are offered all the same: what a server says of its template may be out of date.
        lacks = self.lacks(model) - {"tools"}
        wire = wire_of(self.engine.deck, model, settings)
        known = profile_for(model, wire, has=can, lacks=lacks)
        known = replace(known, schemas=schemas_of(self.engine.deck, model, settings))
        if wire == "openai":
            known = resent(known, model, settings, options)
        return narrower(known, self.engine.learned.lacks(model))

    def lacks(self, model: ModelRef) -> frozenset[str]:
        """Return what a model's server says that it does not have."""
        told, counts = self.known.get(model), self.counts.get(model, (None, None))[1]
        return frozenset(told.lacks if told else ()) | (counts.server.lacks if counts else set())

    def over(self, thread: str, fit: Fit, plan: ContextPlan, counted: int | None) -> None:
        """Remember a finished turn's plan, and learn from the input tokens of its one request."""
        self.plans[thread] = plan
        if plan.budget.source == REFUSED and plan.budget.window:
            self.windows[fit.model] = (plan.budget.window, REFUSED)
        estimated = fit.estimate(plan)
        if counted and estimated and estimated >= TELLING:
            self.observed.setdefault(fit.model, []).append((estimated, counted))

    async def live_counts(
        self, model: ModelRef, settings: Settings, limit: float | None
    ) -> LiveCounts | None:
        """Return the server's own counts; a server that has none is asked once."""
        if settings.get("tokenizer").value != "auto":
            return None
        provider = self.engine.provider(model)
        known = self.counts.get(model)
        if known is None or known[0] is not provider or (known[1] and known[1].broken):
            try:
                async with asyncio.timeout(limit):
                    found = await open_counts(provider, model)
            except TimeoutError:
                return None  # it has more time at another turn
            known = (provider, found)
            # A model that is started by its first request has a server later.
            if found or model.provider != "local":
                self.counts[model] = known
        return known[1]

    async def _asked(self, model: ModelRef, limit: float | None) -> tuple[int | None, str]:
        try:
            async with asyncio.timeout(min(PATIENCE, limit or PATIENCE)):
                listed = await self.engine.provider(model).models()
        except (JanError, TimeoutError):
            listed = ()
        for info in listed:
            if info.ref.name == model.name:
                self.known[model] = info
            if info.window and info.ref.name == model.name:
                return info.window, "the server"
        if known := window_of(model.name):
            return known, "the catalogue"
        return UNKNOWN_WINDOW, "nobody says it; set it with --window"


async def size(fitting: Fitting, model: ModelRef, settings: Settings, limit: float | None) -> Sized:
    """Return how a model is counted and what it takes; a cassette knows it by itself."""
    deck, tokenizer = fitting.engine.deck, fitting.tokenizer(model, settings)
    if deck.playing and (known := deck.playing.facts(model)):
        fitting.known[model] = known.info(model)
        for refused in known.refused:
            fitting.engine.learned.note(model, refused)
        fitting.observed.setdefault(model, [*known.observed])
        asked = settings.get("tokenizer").value == "auto"
        return Sized(played(deck.playing, model, known, tokenizer) if asked else tokenizer, known)
    # At the same time: a server that answers neither question is waited for once.
    live, (window, source) = await asyncio.gather(
        fitting.live_counts(model, settings, limit), fitting.window(model, limit)
    )
    if live:
        window, source = live.server.window, "the server"
    told = settings.hosts.get(model.provider)
    if told and told.window:
        window, source = told.window, f"providers.{model.provider} of your config.toml"
    facts = ModelFacts(
        window,
        source,
        chosen=bool(told and told.window),
        wire=wire_of(deck, model, settings),
        schemas=schemas_of(deck, model, settings),
        continues=fitting.engine.provider(model).continues,
        capabilities=tuple(info.capabilities) if (info := fitting.known.get(model)) else (),
        observed=tuple(fitting.observed.get(model, ())),
        lacks=tuple(fitting.lacks(model)),
        refused=tuple(fitting.engine.learned.lacks(model)),
    )
    return noted(deck.recording, model, live or tokenizer, facts)
