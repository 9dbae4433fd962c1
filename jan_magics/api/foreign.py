"""Tables and arrays on their way into tools and out of them; pandas is loaded when one comes."""

import sys

from jan_magics.domain.messages import Json


class Frames:
    """Knows tables and arrays."""

    def plain(self, value: object) -> object:
        """Return a table as text, an array as lists; anything else as it is."""
        if "pandas" not in sys.modules:
            return value  # then it is none of its tables
        from jan_magics.frames import plain_value

        return plain_value(value)

    def foreign(self, value: Json, kind: str) -> object:
        """Return rows or numbers as a table or array of that name."""
        from jan_magics.frames import foreign_value

        return foreign_value(value, kind)
