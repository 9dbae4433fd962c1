"""What an answer cites, and how near it is to what was retrieved, as tables and as JSON."""

from typing import TYPE_CHECKING

from jan_magics.api.retrieval_tables import citations_table, grounding_table
from jan_magics.domain.errors import RetrievalError
from jan_magics.domain.messages import Json
from jan_magics.engine.given import Retrieved
from jan_magics.rag.citation_shapes import citations_as
from jan_magics.rag.citations import cite
from jan_magics.rag.footnotes import footnoted, grounded

if TYPE_CHECKING:
    import pandas as pd


def citations(given: Retrieved | None, answer: str) -> "pd.DataFrame":
    """Return a row a number in the answer that names a source."""
    return citations_table(cite(answer, given.hits if given else ()))


def grounding(given: Retrieved | None, answer: str) -> "pd.DataFrame":
    """Return a row a sentence of the answer; `attrs["jan"]["marked"]` is it with small numbers.

    Raises RetrievalError, EmbedderError.
    """
    if given is None or given.ground is None or not given.hits:
        raise RetrievalError(
            "nothing was retrieved for this answer", "Ask with a collection: %%chat -c NAME"
        )
    found = given.ground(answer)
    table = grounding_table(found)
    table.attrs["jan"]["marked"] = footnoted(answer, grounded(found, given.hits), "source")
    return table


def shaped(given: Retrieved | None, answer: str, shape: str) -> Json:
    """Return an answer with its citations in another API's shape. Raises SettingError."""
    return citations_as(shape, answer, cite(answer, given.hits if given else ()).citations)
