"""A turn as it is shown: one that has just ended, or an answer as it is stored."""

from collections.abc import Mapping
from typing import Final

from jan_magics.domain.messages import Message, ReasoningPart, text_of
from jan_magics.engine.asks import Turn
from jan_magics.engine.naming import shown_title
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.records import finish_of, model_of, sources_of, timings_of, usage_of
from jan_magics.engine.sight import known_usage, sight_of
from jan_magics.engine.views import View
from jan_magics.notebook.called import calls_of
from jan_magics.notebook.footer import Footer
from jan_magics.notebook.render import Format, Shown

_OF_SOURCE: Final = ("n", "source", "score", "chunk", "collection")


def shown_of(outcome: Outcome, form: Format = "markdown", language: str = "") -> Shown:
    """Return the view of a turn that is over."""
    turn = outcome.turn
    calls = calls_of(turn.answer.parts)
    return Shown(
        prompt=text_of(turn.question),
        text=text_of(turn.answer),
        sources=_sources(turn),
        thread_id=turn.thread.id,
        reasoning=_reasoning(turn.answer),
        model=str(turn.request.model),
        thread=shown_title(turn.thread),
        message=turn.answer.id,
        finish=turn.finish,
        usage=turn.usage,
        timings=turn.timings,
        version=outcome.version,
        versions=outcome.versions,
        calls=calls,
        footer=_footer(outcome, len(calls)),
        language=language,
        format=form,
    )


def _sources(turn: Turn) -> tuple[Mapping[str, object], ...]:
    """Return where what was retrieved stands, by number, and whether the answer names it."""
    if turn.given is None or not turn.given.hits:
        return ()
    from jan_magics.rag.citations import cite

    cited = {each.n for each in cite(text_of(turn.answer), turn.given.hits).citations}
    return tuple(
        {
            "n": n, "source": hit.source, "headings": " › ".join(hit.chunk.headings),
            "page": hit.chunk.page, "score": round(hit.score, 4), "chunk": hit.chunk.id,
            "collection": turn.given.name, "cited": n in cited,
        }
        for n, hit in enumerate(turn.given.hits, 1)
    )  # fmt: skip


def _footer(outcome: Outcome, calls: int) -> Footer:
    turn = outcome.turn
    sight = None if turn.stored else sight_of(turn)
    usage, estimated = known_usage(turn)
    return Footer(
        model=str(turn.request.model),
        usage=usage,
        estimated=estimated,
        timings=turn.timings,
        thread=shown_title(turn.thread),
        thread_state=outcome.state,
        thread_messages=outcome.messages,
        version=outcome.version,
        versions=outcome.versions,
        sees=sight.sees if sight else None,
        total=sight.total if sight else None,
        trimmed=sight.trimmed if sight else None,
        covered=sight.covered if sight else 0,
        cleared=sight.cleared if sight else 0,
        counted=outcome.counted,
        calls=calls,
        sources=turn.given.piece if turn.given else "",
        flags=outcome.flags,
        lines=outcome.lines,
    )


def stored_of(view: View, answer: Message, language: str = "") -> Shown:
    """Return the view of a stored answer; what only the turn knew is left out.

    Raises:
        MessageNotFound: when the thread has no such message.
    """
    question = view.index.nearest_user(answer.id)
    version, versions = view.index.version(answer.id)
    model, thread = model_of(answer) or "", view.thread
    title = shown_title(thread) if thread else ""
    calls = calls_of(answer.parts)
    known = sources_of(answer)
    usage, timings = usage_of(answer), timings_of(answer)
    footer = Footer(
        model=model, usage=usage, timings=timings, thread=title, version=version,
        versions=versions, calls=len(calls), sources=f"sources: {len(known)}" if known else "",
    )  # fmt: skip
    return Shown(
        prompt=text_of(question) if question else "",
        text=text_of(answer),
        reasoning=_reasoning(answer),
        model=model,
        thread=title,
        thread_id=thread.id if thread else None,
        message=answer.id,
        finish=finish_of(answer),
        usage=usage,
        timings=timings,
        version=version,
        versions=versions,
        calls=calls,
        sources=tuple({key: each[key] for key in _OF_SOURCE if key in each} for each in known),
        footer=footer,
        language=language,
    )


def _reasoning(answer: Message) -> str:
    return "\n\n".join(part.text for part in answer.parts if isinstance(part, ReasoningPart))
