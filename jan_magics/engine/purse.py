"""What a map may cost: checked before each row, with what those under way may take."""

import asyncio
from dataclasses import dataclass, field

from jan_magics.domain.models import Usage
from jan_magics.providers.prices import Price


class SpentError(Exception):
    """Report that there is not enough for a further row."""


@dataclass(slots=True)
class Purse:
    """An amount, in the unit of the prices, and what of it is spent or set aside.

    Lives on the engine's loop.
    """

    limit: float
    price: Price
    spent: float = 0.0
    _aside: list[float] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def cost(self, read: int, written: int) -> float:
        """Return what a request of so many tokens costs at most."""
        return self.paid(read, written, 0)

    def paid(self, read: int, written: int, cached: int) -> float:
        """Return what tokens cost, of which some were read from a cache."""
        return self.price.of(Usage(read, written, cached)) or 0.0

    async def take(self, amount: float) -> None:
        """Set an amount aside, after waiting for what others give back.

        Raises:
            SpentError: when it would be more than the limit.
        """
        while self.spent + sum(self._aside) + amount > self.limit:
            if not self._aside:
                raise SpentError(
                    f"the limit is {self.limit:.4g}, {self.spent:.4g} is spent, "
                    f"and a row may take {amount:.4g} (less with --max-tokens)"
                )
            self._changed.clear()
            await self._changed.wait()
        self._aside.append(amount)

    def settle(self, amount: float, paid: float) -> None:
        """Give back what was set aside for a row, less what it has cost."""
        self._aside.remove(amount)
        self.spent += paid
        self._changed.set()
