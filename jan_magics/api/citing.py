"""What an answer cites, and how near it is to what was retrieved, as tables and as JSON."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.messages import Json
from jan_magics.engine.given import Retrieved
from jan_magics.frames import frame
from jan_magics.rag.citation_shapes import citations_as
from jan_magics.rag.citations import cite

if TYPE_CHECKING:
    import pandas as pd


def citations_table(given: Retrieved | None, answer: str) -> "pd.DataFrame":
    """Return a row a number in the answer that names a source."""
    cited = cite(answer, given.hits if given else ())
    table = frame("citations", map(asdict, cited.citations))
    table.attrs["jan"] |= {"unknown": [each.n for each in cited.unknown]}
    return table


def grounding_table(given: Retrieved | None, answer: str) -> "pd.DataFrame":
    """Return a row a sentence of the answer. Raises RetrievalError, EmbedderError."""
    if given is None or given.ground is None or not given.hits:
        raise RetrievalError(
            "nothing was retrieved for this answer", "Ask with a collection: %%chat -c NAME"
        )
    found = given.ground(answer)
    table = frame("grounding", map(asdict, found.rows))
    table.attrs["jan"] |= {
        "threshold": found.threshold, "embedder": found.embedder, "unread": found.unread,
    }  # fmt: skip
    return table


def shaped(given: Retrieved | None, answer: str, shape: str) -> Json:
    """Return an answer with its citations in another API's shape. Raises SettingError."""
    return citations_as(shape, answer, cite(answer, given.hits if given else ()).citations)
