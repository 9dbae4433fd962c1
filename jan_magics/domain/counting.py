"""A number with its noun, as people read it."""


def counted(number: int, noun: str) -> str:
    """Return a number and a noun in the right number.

    >>> counted(1, "thread"), counted(2, "thread"), counted(1200, "message")
    ('1 thread', '2 threads', '1,200 messages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
