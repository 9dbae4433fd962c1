"""What a verb says when it has nothing else to return."""


class Line(str):
    """A line for people: a cell that ends with it shows it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
