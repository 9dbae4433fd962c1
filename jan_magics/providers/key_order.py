"""The keys of one server in the order in which they are tried. Knows nothing of HTTP."""

from collections.abc import Iterable, Iterator

from jan_magics.providers.keys import Key


class Keys:
    """Keys without doubles; the next place is looked into only when the key before was refused.

    The one that was accepted last comes first from then on.
    """

    def __init__(self, found: Iterable[Key] = ()) -> None:
        self._further = iter(found)
        self._known: list[Key] = []
        self._place = 0
        self._has(0)

    @property
    def current(self) -> Key | None:
        """Return the key that is tried first, None where there is none."""
        return self._known[self._place] if self._known else None

    @property
    def number(self) -> int:
        """Return the number of that key, from 1."""
        return self._place + 1

    def after_current(self) -> Iterator[tuple[int, Key]]:
        """Yield the other keys with their numbers: those behind the current one, then the others.

        Raises:
            KeyRefused: where a key cannot be read.
        """
        first = self._place
        place = first + 1
        while self._has(place):
            yield place + 1, self._known[place]
            place += 1
        yield from enumerate(self._known[:first], 1)

    def settle(self, number: int) -> None:
        """Begin with that key from now on."""
        self._place = number - 1

    def _has(self, place: int) -> bool:
        while len(self._known) <= place:
            key = next(self._further, None)
            if key is None:
                return False
            if not any(key.same_as(other) for other in self._known):
                self._known.append(key)
        return True
