"""The surface is frozen: columns and functions are those that were promised, word for word."""

import inspect
from collections.abc import Callable

import pytest

import jan_magics as jan
from jan_magics.api.answer import Answer
from jan_magics.domain.columns import COLUMNS

HITS = (
    "rank score used dropped_by source headings page tokens vector vector_rank bm25 bm25_rank "
    "fused rerank metric distance chunk start end text"
)
TABLES = {
    "threads": "thread title notebook messages branches tokens model updated_at",
    "messages": "id role text version versions on_path status tokens parent cell created_at",
    "turns": "turn model prompt answer input_tokens output_tokens cached_tokens first_token_s "
    "seconds tokens_per_s finish sources cost created_at",
    "models": "model provider window capabilities source reachable chosen why",
    "plan": "n id role action tokens cumulative exact reason text",
    "budget": "piece tokens share exact",
    "compact": "n id role now then tokens_now tokens_then",
    "grid": "sent_tokens kept dropped summarised recalled seconds finish answer message",
    "map": "answer error finish input_tokens output_tokens seconds message",
    "repairs": "message rule before after",
    "citations": "n chunk source start end cited_text answer_start answer_end score method",
    "grounding": "sentence supported score overlap chunk source",
    "questions": "question source start end text",
    "evaluate": "n recall precision mrr ndcg span_recall span_precision iou ndcg_low ndcg_high "
    "p_vs_first ms tokens",
    "per_question": "question recall first_rank ndcg found missed",
    "found": "thread notebook id role created_at snippet on_path",
    "chunks": "recipe n start end tokens overlap_prev headings page warning text",
    "imported": "thread status reason messages",
    "assistants": "id name instructions parameters status",
    "tools": "name kind approval calls status",
    "hits": HITS,
    "sources": f"{HITS} n cited",
    "documents": "source status reason chunks tokens recipe indexed_at",
    "collections": "collection owner documents chunks tokens embedder recipe size_mb updated_at",
    "explain": "knob now needed rank_then",
    "config": "setting value source meaning",
    "leaks": "place kind sample",
    "doctor": "check status detail fix",
}
FUNCTIONS = {
    "chunks": "(text_or_path, *, size=200, overlap=40, splitter='recursive', grid=None)",
    "current": "()",
    "show": "(frame)",
    "threads": "(data_folder=None)",
    "find": "(words, *, thread=None)",
    "import_threads": "(path)",
    "models": "()",
    "tool": "(function=None, *, name=None, safe=False, main=False, timeout=60, approval='ask')",
    "tools": "()",
    "leaks": "(path)",
    "replay": "(file, missing='error')",
    "collections": "()",
    "Collection": "(name_or_path=None, *, data_folder=None, embedder=None, read_only=False)",
}
PLOTS = {
    "scores": "(hits, *, ax=None)",
    "recall": "(report, *, ax=None)",
    "map": "(col, text, *, ax=None)",
    "budget": "(frame, *, ax=None)",
}
METHODS = {
    "use": "(**settings)",
    "send": "(text, *, at='head', attach=(), schema=None, tools=None, history=True, show=None, "
    "**params)",
    "stream": "(text, *, at='head', attach=(), schema=None, tools=None, history=True, **params)",
    "retry": "(id=None)",
    "resume": "(id=None)",
    "edit": "(id, text)",
    "go": "(target)",
    "undo": "()",
    "new": "(name=None)",
    "drop": "(id)",
    "mark": "(ids, action)",
    "compact": "(keep=None, dry_run=False, off=False)",
    "clear": "(off=False)",
    "budget": "(text='')",
    "plan": "(text='')",
    "apply": "(frame)",
    "grid": "(text, *, needle=None, **lists)",
    "map": "(data, template, *, schema=None, concurrency=4, max_cost=None, prefix='', again=False)",
    "tree": "()",
    "show": "(id=None)",
    "view": "()",
    "messages": "(all=False)",
    "turns": "()",
    "export": "(path)",
    "close": "()",
}
"""Of the methods of a chat those that there are, with what they take by now."""
COLLECTION = {
    "push": "(url)",
    "pull": "(url)",
    "add": "(paths_or_series_or_frame, *, size=200, overlap=40, splitter='recursive', text=None, "
    "embedder=None, dask=None)",
    "documents": "()",
    "remove": "(source)",
    "delete": "(off=False)",
    "doctor": "(vacuum=False)",
    "search": "(text_or_list_or_series, *, k=5, mode='hybrid', threshold=None, rerank=None, "
    "where=None, all=False)",
    "explain": "(text, chunk, *, k=5, mode='hybrid', threshold=None, rerank=None, where=None)",
    "questions": "(n=50)",
    "evaluate": "(questions, *, grid=None, per_question=False, **search)",
    "close": "()",
}
ANSWER = (
    "text code data tables model thread message version versions usage timings finish sent plan "
    "repairs sources citations"
)


@pytest.mark.parametrize("table", TABLES)
def test_columns(table: str) -> None:
    assert list(COLUMNS[table]) == TABLES[table].split()


def test_no_table_is_without_a_promise() -> None:
    assert COLUMNS.keys() == TABLES.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    assert signature(getattr(jan, name)) == FUNCTIONS[name]


def test_plots() -> None:
    assert {name: signature(getattr(jan.plot, name)) for name in jan.plot.__all__} == PLOTS


def test_methods() -> None:
    methods = inspect.getmembers(jan.Chat, inspect.isfunction)
    assert {name: signature(each) for name, each in methods if name[0] != "_"} == METHODS


def test_methods_of_a_collection() -> None:
    methods = inspect.getmembers(jan.Collection, inspect.isfunction)
    assert {name: signature(each) for name, each in methods if name[0] != "_"} == COLLECTION


def signature(function: Callable[..., object]) -> str:
    """Return what a function takes, without types."""
    found = inspect.signature(function)
    bare = [
        each.replace(annotation=each.empty)
        for each in found.parameters.values()
        if each.name != "self"
    ]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def test_an_answer_has_what_it_promises() -> None:
    assert not [name for name in ANSWER.split() if not hasattr(Answer, name)]
