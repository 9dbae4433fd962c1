"""Exact counts of a server, asked for between two plans: a plan itself asks nobody."""

from collections.abc import Callable
from dataclasses import dataclass, field

from jan_magics.context.plan import ContextPlan
from jan_magics.context.tokens import estimator_for
from jan_magics.domain.errors import ContextOverflow, ProviderError
from jan_magics.domain.messages import FilePart, Role
from jan_magics.domain.models import ModelRef
from jan_magics.domain.protocols import Provider, ServerCounts, Tokenizer, TokenizingProvider


@dataclass(slots=True, eq=False)
class LiveCounts:
    """A server's counts; what it was not asked for yet is estimated, and noted to be asked for."""

    server: ServerCounts
    estimate: Tokenizer
    missing: dict[str, None] = field(default_factory=dict)
    broken: bool = False

    @property
    def name(self) -> str:
        """Return who counts."""
        return self.server.name

    @property
    def exact(self) -> bool:
        """Tell whether the server has answered so far."""
        return not self.broken

    def count(self, text: str) -> int:
        """Return the tokens of a text, about, where the server was not asked for it yet."""
        try:
            return self.server.count(text)
        except LookupError:
            self.missing[text] = None
            return self.estimate.count(text)

    def overhead(self, role: Role) -> int:
        """Return the marks of the server's template around a message."""
        return self.server.overhead(role)

    def opening(self, *, system: bool) -> int:
        """Return what the server's template puts around a request."""
        return self.server.opening(system=system)

    def image(self, part: FilePart) -> int:
        """Return an estimate by size."""
        return self.server.image(part)

    async def fill(self) -> None:
        """Ask for what was missing; a server that fails is not asked again."""
        wanted, self.missing = list(self.missing), {}
        try:
            await self.server.fill(wanted)
        except ProviderError:
            self.broken = True


async def open_counts(provider: Provider, model: ModelRef) -> LiveCounts | None:
    """Return a server's own counts, None where it has none."""
    if not isinstance(provider, TokenizingProvider):
        return None
    estimate = estimator_for(model.name)
    server = await provider.tokenizer(model, estimate.image)
    return LiveCounts(server, estimate) if server else None


async def settled(tokenizer: Tokenizer, plan: Callable[[], ContextPlan]) -> ContextPlan:
    """Return a plan in which everything is counted by who can. Raises ContextOverflow."""
    if not isinstance(tokenizer, LiveCounts):
        return plan()
    tokenizer.missing.clear()
    try:
        first: ContextPlan | None = plan()
    except ContextOverflow:
        first = None  # perhaps by an estimate alone
    if first is not None and not tokenizer.missing:
        return first
    await tokenizer.fill()
    return plan()
