"""A collection with its vectors to a server and back; told while it goes on."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jan_magics.api.hit_tables import documents_table
from jan_magics.api.host import Host
from jan_magics.api.ingesting import Telling
from jan_magics.api.shelf import retriever_of
from jan_magics.domain.counting import counted
from jan_magics.domain.errors import RetrievalError, SettingError
from jan_magics.domain.retrieval import DocumentRow
from jan_magics.engine.listed import Listed, is_path
from jan_magics.notebook.bridge import Stopped
from jan_magics.rag.transfer import transfer
from jan_magics.storage.postgres_url import is_postgres

if TYPE_CHECKING:
    import pandas as pd


def there(host: Host, place: object, *, made: bool) -> Listed:
    """Return the collection of an address or a file; `made` where there is none.

    Raises:
        SettingError: when it is neither.
        CollectionNotFound: when there is none, and it is not to be made.
    """
    if not isinstance(place, str) or not (is_postgres(place) or is_path(place)):
        raise SettingError(
            f"{place!r} is no address of a collection",
            "It looks like this: postgresql://user@host/database#name, or a file that ends in .db",
        )
    collections = retriever_of(host).collections
    return collections.obtain(place) if made else collections.existing(place)


def moved(host: Host, source: Listed, target: Listed) -> "pd.DataFrame":
    """Write what one collection has into another one; a row a document says what became of it.

    An interrupt stops between documents; what is written stays, and is not sent again.

    Raises:
        Stopped: when it was interrupted; says how many are there.
        RetrievalError: when the other one is read-only, or has vectors of another embedder.
        SettingError: when both are the same.
    """
    if source.path == target.path:
        raise SettingError("both are the same collection", "Name another address.")
    collections = retriever_of(host).collections
    into = collections.open(target)
    if into.read_only:
        raise RetrievalError(f"{into.place} is read-only", "Name one that you may write to.")
    telling = Telling.of(host, target.name)
    rows: list[DocumentRow] = []
    said = f"{target.name}: not finished"
    try:
        for row in transfer(
            collections.open(source),
            into,
            lambda done, total: telling.progress("sent", done, total),
        ):
            rows.append(row)  # noqa: PERF402 - what is there stays known when it is interrupted
        said = f"{target.name}: {counted(len(rows), 'document')}"
    except KeyboardInterrupt:
        why = f"{_counts(rows) or 'nothing'} so far; the same line goes on"
        raise Stopped(answer=documents_table(rows), why=why) from None
    finally:
        telling.end(said)
    table = documents_table(rows)
    table.attrs["jan"]["said"] = [f"{source.name} → {into.place}: {_counts(rows) or 'nothing'}"]
    return table


def _counts(rows: Sequence[DocumentRow]) -> str:
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{number:,} {status}" for status, number in counts.items())
