"""The verbs of branches: new, show, tree, go, retry, resume, diff, drop, undo."""

from collections.abc import Callable, Iterator, Mapping
from itertools import dropwhile, islice
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from IPython.core.error import UsageError

from jan_magics.api.current import current
from jan_magics.api.host import Showing
from jan_magics.api.opening import current_host
from jan_magics.context.segments import look
from jan_magics.domain.counting import counted
from jan_magics.domain.messages import text_of
from jan_magics.engine.asking import Asking
from jan_magics.engine.branches import begin, drop, go, versions_shown
from jan_magics.engine.ids import full_id, short_ids
from jan_magics.engine.undoing import undo
from jan_magics.engine.views import View
from jan_magics.magics.caller import Caller
from jan_magics.magics.line import Line
from jan_magics.notebook.columns import clip

Run: TypeAlias = Callable[[Caller, Any, str], object]


def _new(magics: Caller, parsed: Any, _: str) -> Line:
    session = current_host().session()
    begin(session, parsed.name)
    what = "a new branch in" if session.view().pending else "a new thread:"
    return Line(f"{what} {parsed.name or 'unnamed'}")


def _show(magics: Caller, parsed: Any, _: str) -> object:
    if parsed.live:
        if parsed.id or parsed.sent:
            raise UsageError("%chat show --live shows the thread; leave the rest out")
        return current().view()
    if not parsed.sent:
        for follower in current_host().followers if parsed.id is None else ():
            follower.attach()
        return current().show(parsed.id)
    if parsed.id:
        raise UsageError("%chat show --sent shows the newest turn; leave the id out")
    from jan_magics.api.sent import newest_sent

    return newest_sent(current_host())


def _tree(magics: Caller, parsed: Any, _: str) -> object:
    if not parsed.live:
        return current().tree()
    from jan_magics.api.live_tree import live_tree

    return live_tree(current_host())


def _go(magics: Caller, parsed: Any, _: str) -> Line:
    host = current_host()
    view = go(host.session(), parsed.id_or_n_or_next_or_prev)
    host.tell(view.thread, view.path())
    return Line(place_of(view))


def _retry(magics: Caller, parsed: Any, _: str) -> object:
    return current_host().ask(Asking(aim="retry", at=parsed.id), Showing(show=True))


def _resume(magics: Caller, parsed: Any, _: str) -> object:
    return current_host().ask(Asking(aim="resume", at=parsed.id), Showing(show=True))


def _diff(magics: Caller, parsed: Any, _: str) -> object:
    from jan_magics.api.diff import diff

    return diff(current_host().session().view(), parsed.a, parsed.b)


def _drop(magics: Caller, parsed: Any, _: str) -> Line:
    session = current_host().session()
    before = session.view()
    dropped = full_id(before.index, parsed.id)
    words = clip(text_of(before.index[dropped]), 60)
    if dropped in before.hidden:
        return Line(f"«{words}» was hidden already")
    said = f"«{words}» is hidden: kept, and not sent any more · back: %chat undo"
    return Line("\n".join((said, *_follows(drop(session, dropped), dropped))))


def _follows(view: View, dropped: str) -> Iterator[str]:
    """Yield what else must be known of a message that was hidden."""
    path, seen = view.path(), look(view.path(), view.records)
    after = dropwhile(lambda message: message.id != dropped, path)
    if (answer := next(islice(after, 1, None), None)) and answer.id in seen.led:
        yield "its answer is not sent either, as nothing is left that it answers"
    if seen.summary and dropped in seen.summary.covers:
        yield "the summary still tells of it · make it anew: %chat compact --off, %chat compact"


def _undo(magics: Caller, parsed: Any, _: str) -> Line:
    host = current_host()
    said, view = undo(host.session())
    host.tell(view.thread, view.path())
    return Line(f"taken back: {said}")


def place_of(view: View) -> str:
    """Say where the active path ends, and which version that is."""
    path = view.path()
    if not path:
        return "nothing said yet on this branch"
    last = path[-1]
    words = clip(text_of(last), 60)
    length = counted(len(path), "message")
    return f"{short_ids(view.index)[last.id]} «{words}»{_version(view)} · {length}"


def _version(view: View) -> str:
    if all(view.index.version(message.id)[1] == 1 for message in view.index.path()):
        return ""
    versions, number = versions_shown(view)
    what = "question" if versions[number - 1].role == "user" else "answer"
    return f" · {what} ‹{number}/{len(versions)}›"


RUN: Final[Mapping[str, Run]] = MappingProxyType({
    "new": _new, "show": _show, "tree": _tree, "go": _go, "retry": _retry, "resume": _resume,
    "diff": _diff, "drop": _drop, "undo": _undo,
})  # fmt: skip
