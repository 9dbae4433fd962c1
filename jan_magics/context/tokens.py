"""Tokenizers that always count: an estimate by model, Jan's own rule, a corrected one."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from jan_magics.context.estimator import Estimator
from jan_magics.context.families import family_of
from jan_magics.context.images import image_tokens
from jan_magics.domain.messages import FilePart, Role
from jan_magics.domain.protocols import Framing, Tokenizer

CHARS_A_TOKEN: Final = 3.5
CHARS_OVERHEAD: Final = 4


def estimator_for(model: str) -> Estimator:
    """Return the estimator of the family that a model's name tells."""
    return Estimator(family_of(model))


@dataclass(frozen=True, slots=True)
class CharsTokenizer:
    """Jan's rule: 3.5 UTF-16 units a token, 4 tokens a message. 2.5 to 3.5 times low on Chinese."""

    name: str = "chars/3.5"
    exact: bool = False

    def count(self, text: str) -> int:
        """Return the units of a text over 3.5, rounded up."""
        units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
        return ceil(units / CHARS_A_TOKEN)

    def overhead(self, role: Role) -> int:
        """Return 4 for every role."""
        return CHARS_OVERHEAD

    def image(self, part: FilePart) -> int:
        """Return a bounded estimate: Jan itself counts images as nothing."""
        return image_tokens(part)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A tokenizer whose counts are multiplied by what a server's own counts taught."""

    base: Tokenizer
    factor: float

    @property
    def name(self) -> str:
        """Return the name of the base, and the factor."""
        return f"{self.base.name} × {self.factor:g}"

    @property
    def exact(self) -> bool:
        """Return False: it is an estimate, though a better one."""
        return False

    def count(self, text: str) -> int:
        """Return the corrected count; 0 for an empty text only."""
        counted = self.base.count(text)
        return max(1, round(counted * self.factor)) if counted else 0

    def overhead(self, role: Role) -> int:
        """Return the base's: a template costs what it costs."""
        return self.base.overhead(role)

    def image(self, part: FilePart) -> int:
        """Return the base's: the rule of images has nothing to do with the vocabulary."""
        return self.base.image(part)

    def opening(self, *, system: bool) -> int:
        """Return the base's, 0 where it has none."""
        return self.base.opening(system=system) if isinstance(self.base, Framing) else 0
