"""What a cell or a call asks for, before anything is looked up."""

from dataclasses import dataclass, field

from jan_magics.domain.models import ChatOptions
from jan_magics.domain.overlays import CellLink


@dataclass(frozen=True, slots=True)
class Asking:
    """What a cell or a call asks for; None = as `use` says, else as the thread or settings say.

    `cell` says which call of which cell asks; its `message` is empty. `at` is "head" or the id
    of the message that the turn goes below.
    """

    text: str = ""
    thread: str | None = None
    model: str | None = None
    system: str | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    history: bool = True
    at: str = "head"
    cell: CellLink | None = None
