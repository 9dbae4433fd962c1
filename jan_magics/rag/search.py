"""Search: candidates, threshold, second look, cut; every score of every stage stays visible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jan_magics.domain.errors import EmbedderError, RetrievalError, SettingError
from jan_magics.domain.messages import Json
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Hit, Mode
from jan_magics.rag import gate
from jan_magics.rag.candidates import Candidate, Gathered, cut, gather, let_go
from jan_magics.rag.options import Options, check
from jan_magics.rag.rerank import probability, reranked
from jan_magics.rag.row_collection import RowCollection
from jan_magics.rag.snapshot import Snapshot
from jan_magics.rag.vectors import FloatVector
from jan_magics.rag.where import Tree, read


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found: the rows that are used, then, if all were asked for, the others.

    `candidates` counts both. `notes` are what the user must be told, `facts` how it was searched.
    """

    question: str
    hits: tuple[Hit, ...]
    candidates: int
    notes: tuple[str, ...]
    facts: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it can be asked here: in which mode, with which vector, and what to say."""

    question: str
    query: FloatVector | None
    options: Options
    where: Tree | None
    notes: tuple[str, ...] = ()


def search(
    collection: RowCollection,
    questions: Sequence[str],
    options: Options,
    embedder: Embedder | None,
) -> list[Found]:
    """Return what each question finds; all see the same state of the collection.

    `embedder` is the collection's own, None where it is not installed: hybrid then becomes
    keyword, and says so.

    Raises:
        SettingError, WhereError: when the options make no sense.
        EmbedderError: when vectors are asked for and cannot be had.
        RetrievalError: when the collection or the question is empty.
    """
    check(options)
    where = read(options.where)
    with collection.snapshot(options.index) as snapshot:
        if snapshot.is_empty():
            raise RetrievalError("the collection is empty", "Add documents first: %rag add PATH")
        asked = ask(snapshot, questions, options, where, embedder)
        return [answer(snapshot, each) for each in asked]


def ask(
    snapshot: Snapshot,
    questions: Sequence[str],
    options: Options,
    where: Tree | None,
    embedder: Embedder | None,
) -> list[Asked]:
    """Decide how each question can be asked. Raises as `search` does."""
    if not all(question.strip() for question in questions):
        raise RetrievalError("the question is empty", "Ask something: %rag search TEXT")
    notes = () if where is None else snapshot.notes_on(where)
    if options.mode == "keyword":
        return [Asked(question, None, options, where, notes) for question in questions]
    try:
        vectors = gate.question_vectors(_own(snapshot, embedder), questions)
    except EmbedderError as error:
        vectors = [error] * len(questions)
    return [
        _by_words(Asked(question, None, options, where, notes), vector)
        if isinstance(vector, EmbedderError)
        else Asked(question, vector, options, where, notes)
        for question, vector in zip(questions, vectors, strict=True)
    ]


def _by_words(asked: Asked, error: EmbedderError) -> Asked:
    """Ask by words what cannot be asked by vector, and say so; an error where that is no answer."""
    options = asked.options
    if options.mode == "vector":
        raise error
    if options.threshold is not None:
        raise SettingError(
            f"the threshold {options.threshold!r} is a cosine, and none can be measured:"
            f" {error.message}",
            "Leave the threshold out to search by words",
        ) from error
    note = f"searched by words only: {error.message}. {error.next_step}"
    by_words = replace(options, mode="keyword")
    return replace(asked, options=by_words, notes=(*asked.notes, note))


def rank(snapshot: Snapshot, asked: Asked) -> Gathered:
    """Return the candidates of a question: the used ones first, then those that were let go."""
    options = asked.options
    gathered = gather(snapshot, asked.question, asked.query, options, asked.where)
    kept = let_go(gathered.candidates, options.threshold)
    again = reranked(snapshot, asked.question, kept, options)
    return Gathered(cut(again, options.k), gathered.weight)


def answer(snapshot: Snapshot, asked: Asked) -> Found:
    """Return what a question finds in one state of a collection."""
    gathered = rank(snapshot, asked)
    shown = [each for each in gathered.candidates if asked.options.all or each.dropped_by is None]
    stored = snapshot.stored([each.number for each in shown])
    hits = tuple(
        Hit(
            each.chunk, each.source, each.text, place, it.score, it.metric,
            it.vector, it.vector_rank, it.bm25, it.bm25_rank, it.fused, it.rerank,
            None if it.vector is None else 1 - it.vector, it.dropped_by,
        )
        for place, (it, each) in enumerate(zip(shown, stored, strict=True), 1)
    )  # fmt: skip
    notes = asked.notes + ((snapshot.note,) if snapshot.note else ())
    facts = _facts(snapshot, asked, gathered.weight) | _beside(snapshot, asked, shown)
    return Found(asked.question, hits, len(gathered.candidates), notes, facts)


def _beside(snapshot: Snapshot, asked: Asked, shown: Sequence[Candidate]) -> dict[str, Json]:
    """Return what helps to read scores, a value a row: they themselves stay as measured."""
    beside: dict[str, Json] = {}
    cosines = [each.vector for each in shown if each.vector is not None]
    shares = snapshot.percentiles(asked.query, cosines) if asked.query is not None else None
    if shares:
        told = iter(shares)
        beside["percentile"] = [None if each.vector is None else next(told) for each in shown]
    again = [each.rerank for each in shown]
    # Some servers answer with log-odds, some with shares of 1, and none says which.
    if asked.options.rerank != "mmr" and any(abs(each or 0) > 1 for each in again):
        beside["rerank_p"] = [None if each is None else probability(each) for each in again]
    return beside


def _own(snapshot: Snapshot, embedder: Embedder | None) -> Embedder:
    """Return the embedder if the collection's vectors are its own."""
    fingerprint = snapshot.fingerprint
    if fingerprint is None and snapshot.words_alone:
        raise EmbedderError(
            "the collection has no vectors, as it was told (--embedder none)",
            "Give it some: %rag add PATH --embedder NAME",
        )
    if fingerprint is None:
        raise EmbedderError(
            "the collection has no vectors",
            "Give it an embedder: pip install 'jan-magics[rag]', then add again",
        )
    if embedder is None or embedder.fingerprint != fingerprint:
        raise EmbedderError(
            f"the embedder {fingerprint.id!r} of the collection is not at hand",
            "Install it, or ingest with another one: %rag add PATH --embedder NAME",
        )
    return embedder


def _facts(snapshot: Snapshot, asked: Asked, weight: float | None) -> dict[str, Json]:
    options = asked.options
    mode: Mode = options.mode
    facts: dict[str, Json] = {"question": asked.question, "mode": mode, "k": options.k}
    if mode != "keyword" and snapshot.fingerprint is not None:
        facts |= {"embedder": snapshot.fingerprint.id, "index": snapshot.engine}
        facts["threshold"] = options.threshold
    if mode != "vector" and snapshot.by != "bm25":
        facts["words"] = snapshot.by
    if mode == "hybrid":
        facts |= {"fusion": options.fusion, "pool": options.pool}
        if weight is not None:
            facts["weight"] = round(weight, 4)
    if options.rerank is not None:
        facts["rerank"] = options.rerank if options.rerank == "mmr" else options.rerank.name
    return facts
