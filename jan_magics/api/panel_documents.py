"""What the panel shows of documents: the collections, what is in them, what a question finds."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from jan_magics.api.live_scores import score_view
from jan_magics.api.panel import LONGEST, Panel, panel_of
from jan_magics.api.shelf import Shelf, collection_row, listed_of, retriever_of
from jan_magics.domain.errors import JanError, RetrievalError
from jan_magics.domain.retrieval import DocumentRow
from jan_magics.engine.listed import Listed
from jan_magics.notebook.buttons import Buttons
from jan_magics.notebook.columns import clip
from jan_magics.notebook.hazards import legible
from jan_magics.widgets.line import Request, number, text

ROWS: Final = 100
"""Documents that are told at a time, unless a page wants more."""
HITS: Final = 10
"""Hits of a search."""
KEPT: Final = 8
"""Searches whose chunks can still be looked at."""


def collections(buttons: Buttons, _: Request) -> Mapping[str, object]:
    """Return the collections by name, those on servers last; the default is looked in first."""
    retriever = retriever_of(panel_of(buttons).host)
    usual: Listed | None = None
    with suppress(JanError):  # several may have its name
        usual = retriever.collections.find()
    rows = []
    for each in listed_of(retriever):
        row = collection_row(retriever, each)
        rows.append({
            "id": str(each.url or each.path),
            "name": _said(each.name),
            "owner": _said(str(row["owner"])),
            "documents": row.get("documents"),
            "chunks": row.get("chunks"),
            "fault": _said(each.fault or ""),
            "usual": usual is not None and usual.path == each.path,
            "server": each.url is not None,
        })  # fmt: skip
    return {"rows": rows}


def documents(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return the documents of a collection, by source."""
    shelf = Shelf(panel_of(buttons).host, text(request, "collection"))
    rows = shelf.documents()
    return {
        "rows": [_document(row) for row in rows[: number(request, "limit", ROWS)]],
        "total": len(rows),
    }


def search(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return what a question finds in a collection, the best first, with its scores."""
    panel = panel_of(buttons)
    found = score_view(text(request, "collection"), text(request, "words"), {"k": HITS})
    hits = [row for row in found.first()["rows"] if not row["lost"]][:HITS]
    name = secrets.token_hex(8)
    panel.found[name] = found
    for old in [*panel.found][:-KEPT]:
        del panel.found[old]
    keys = ("chunk", "source", "about", "words", "bars")
    return {"search": name, "rows": [{key: hit[key] for key in keys} for hit in hits]}


def chunk(buttons: Buttons, request: Request) -> Mapping[str, object]:
    """Return a hit in its document. Raises RetrievalError where that is gone."""
    panel: Panel = panel_of(buttons)
    found = panel.found.get(text(request, "search"))
    if found is None:
        raise RetrievalError("this search is too long ago", "Search again.")
    return {"place": found.whole(text(request, "chunk"))}


def _document(row: DocumentRow) -> dict[str, object]:
    return {
        "source": _said(row.source),
        "status": row.status,
        "reason": _said(row.reason or ""),
        "chunks": row.chunks,
    }


def _said(words: str) -> str:
    return legible(clip(words, LONGEST))


ACTIONS: Final[Mapping[str, Any]] = MappingProxyType({
    "collections": collections, "documents": documents, "search": search, "chunk": chunk,
})  # fmt: skip
