"""Halves of characters: some servers cut an emoji between two chunks of JSON text. Pure."""


class Surrogates:
    r"""Join the two halves of a character (`\ud83d` + `\ude00`) that arrive one after the other.

    A half that stays alone becomes U+FFFD, or is dropped at the end: text is always encodable.
    """

    __slots__ = ("half",)

    def __init__(self) -> None:
        self.half = ""

    def mend(self, text: str) -> str:
        """Return the text that is whole so far."""
        text = self.half + text
        self.half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self.half = text[-1]
            text = text[:-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encodable(text: str) -> str:
    """Replace halves of characters in a name or id, which is never cut."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
