"""The columns of every table that a user sees, in their order."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_HITS: Final[Mapping[str, str]] = MappingProxyType({
    "rank": "Int64", "score": "Float64", "used": "bool", "dropped_by": "str", "source": "str",
    "headings": "str", "page": "Int64", "tokens": "Int64", "vector": "Float64",
    "vector_rank": "Int64", "bm25": "Float64", "bm25_rank": "Int64", "fused": "Float64",
    "rerank": "Float64", "metric": "str", "distance": "Float64", "chunk": "str", "start": "Int64",
    "end": "Int64", "text": "str",
})  # fmt: skip
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    "threads": {
        "thread": "str", "title": "str", "notebook": "str", "messages": "Int64",
        "branches": "Int64", "tokens": "Int64", "model": "str", "updated_at": "time",
    },
    "messages": {
        "id": "str", "role": "str", "text": "str", "version": "Int64", "versions": "Int64",
        "on_path": "bool", "status": "str", "tokens": "Int64", "parent": "str", "cell": "str",
        "created_at": "time",
    },
    "turns": {
        "turn": "Int64", "model": "str", "prompt": "str", "answer": "str",
        "input_tokens": "Int64", "output_tokens": "Int64", "cached_tokens": "Int64",
        "first_token_s": "Float64", "seconds": "Float64", "tokens_per_s": "Float64",
        "finish": "str", "sources": "Int64", "cost": "Float64", "created_at": "time",
    },
    "models": {
        "model": "str", "provider": "str", "window": "Int64", "capabilities": "str",
        "source": "str", "reachable": "boolean", "chosen": "bool", "why": "str",
    },
    "plan": {
        "n": "Int64", "id": "str", "role": "str", "action": "str", "tokens": "Int64",
        "cumulative": "Int64", "exact": "bool", "reason": "str", "text": "str",
    },
    "budget": {"piece": "str", "tokens": "Int64", "share": "Float64", "exact": "bool"},
    "compact": {
        "n": "Int64", "id": "str", "role": "str", "now": "str", "then": "str",
        "tokens_now": "Int64", "tokens_then": "Int64",
    },
    "map": {
        "answer": "str", "error": "str", "finish": "str", "input_tokens": "Int64",
        "output_tokens": "Int64", "seconds": "Float64", "message": "str",
    },
    "repairs": {"message": "str", "rule": "str", "before": "str", "after": "str"},
    "grid": {
        "sent_tokens": "Int64", "kept": "Int64", "dropped": "Int64", "summarised": "Int64",
        "recalled": "boolean", "seconds": "Float64", "finish": "str", "answer": "str",
        "message": "str",
    },
    "citations": {
        "n": "Int64", "chunk": "str", "source": "str", "start": "Int64", "end": "Int64",
        "cited_text": "str", "answer_start": "Int64", "answer_end": "Int64", "score": "Float64",
        "method": "str",
    },
    "grounding": {
        "sentence": "str", "supported": "bool", "score": "Float64", "overlap": "Float64",
        "chunk": "str", "source": "str",
    },
    "questions": {
        "question": "str", "source": "str", "start": "Int64", "end": "Int64", "text": "str",
    },
    "evaluate": {
        "n": "Int64", "recall": "Float64", "precision": "Float64", "mrr": "Float64",
        "ndcg": "Float64", "span_recall": "Float64", "span_precision": "Float64",
        "iou": "Float64", "ndcg_low": "Float64", "ndcg_high": "Float64",
        "p_vs_first": "Float64", "ms": "Float64", "tokens": "Float64",
    },
    "per_question": {
        "question": "str", "recall": "Float64", "first_rank": "Int64", "ndcg": "Float64",
        "found": "str", "missed": "str",
    },
    "found": {
        "thread": "str", "notebook": "str", "id": "str", "role": "str", "created_at": "time",
        "snippet": "str", "on_path": "bool",
    },
    "chunks": {
        "recipe": "str", "n": "Int64", "start": "Int64", "end": "Int64", "tokens": "Int64",
        "overlap_prev": "Int64", "headings": "str", "page": "Int64", "warning": "str",
        "text": "str",
    },
    "imported": {"thread": "str", "status": "str", "reason": "str", "messages": "Int64"},
    "assistants": {
        "id": "str", "name": "str", "instructions": "str", "parameters": "str", "status": "str",
    },
    "tools": {
        "name": "str", "kind": "str", "approval": "str", "calls": "Int64", "status": "str",
    },
    "hits": _HITS,
    "sources": {**_HITS, "n": "Int64", "cited": "bool"},
    "documents": {
        "source": "str", "status": "str", "reason": "str", "chunks": "Int64", "tokens": "Int64",
        "recipe": "str", "indexed_at": "time",
    },
    "collections": {
        "collection": "str", "owner": "str", "documents": "Int64", "chunks": "Int64",
        "tokens": "Int64", "embedder": "str", "recipe": "str", "size_mb": "Float64",
        "updated_at": "time",
    },
    "explain": {"knob": "str", "now": "str", "needed": "str", "rank_then": "Int64"},
    "config": {"setting": "str", "value": "str", "source": "str", "meaning": "str"},
    "leaks": {"place": "str", "kind": "str", "sample": "str"},
    "doctor": {"check": "str", "status": "str", "detail": "str", "fix": "str"},
})  # fmt: skip
"""The columns of each table and their types; `time` is datetime64[ns, UTC]."""
