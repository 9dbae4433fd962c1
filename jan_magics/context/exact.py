"""Exact counts with the vocabularies of splintr, where the extra `tokens` is installed."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from jan_magics.context.families import Family, family_of
from jan_magics.context.images import image_tokens
from jan_magics.domain.messages import FilePart, Role


class _Vocabulary(Protocol):
    def encode_ordinary(self, text: str) -> list[int]:
        """Return the tokens of a text in which no special token is seen."""
        ...


@dataclass(frozen=True, slots=True)
class ExactTokenizer:
    """Counts with the vocabulary of a family. Marks of its template are ordinary text in it."""

    family: Family
    vocabulary: _Vocabulary
    marks: int

    @property
    def name(self) -> str:
        """Return the name of the vocabulary."""
        return self.family.vocabulary

    @property
    def exact(self) -> bool:
        """Return True."""
        return True

    def count(self, text: str) -> int:
        """Return the tokens of a text, without the marks around a whole input."""
        # A lone surrogate cannot be encoded; a server gets the sign for it, too.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return len(self.vocabulary.encode_ordinary(clean)) - self.marks if clean else 0

    def overhead(self, role: Role) -> int:
        """Return the marks that the family's template puts around a message."""
        return self.family.overhead

    def opening(self, *, system: bool) -> int:
        """Return the marks that the family's template puts around a request."""
        return self.family.opening

    def image(self, part: FilePart) -> int:
        """Return the tokens of an image by the family's size rule."""
        return image_tokens(part, self.family.images)


def exact_for(model: str) -> ExactTokenizer | None:
    """Return the vocabulary that a model's name tells.

    None where the name tells nothing, nobody publishes it, or the extra `tokens` is missing: an
    exact count is never guessed.
    """
    family = family_of(model)
    if not family.vocabulary:
        return None
    try:
        return _load(family)
    except ImportError:
        return None


# Loading takes about a tenth of a second and is asked for before every turn; two of them are kept
# for those who go back and forth between two models.
@lru_cache(maxsize=2)
def _load(family: Family) -> ExactTokenizer:
    import splintr

    vocabulary: _Vocabulary = splintr.Tokenizer.from_pretrained(family.vocabulary)
    return ExactTokenizer(family, vocabulary, len(vocabulary.encode_ordinary("")))
