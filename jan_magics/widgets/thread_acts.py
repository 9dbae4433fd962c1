"""What a page may ask of a thread that it shows, each kind of message a few lines."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from jan_magics.domain.errors import SettingError
from jan_magics.domain.legacy import words_of
from jan_magics.engine import marking
from jan_magics.engine.asking import Asking
from jan_magics.engine.branches import edit_answer, go
from jan_magics.engine.compacting import compact
from jan_magics.engine.ids import full_id
from jan_magics.engine.order import What
from jan_magics.engine.reply import Progress
from jan_magics.engine.session import Session
from jan_magics.engine.views import View
from jan_magics.notebook.bridge import Channel
from jan_magics.widgets.busy import ANSWERING, COMPACTING, Busy, goes_on
from jan_magics.widgets.comm import Message
from jan_magics.widgets.context_buttons import changeable
from jan_magics.widgets.thread_rows import WINDOW, rows_of
from jan_magics.widgets.view_desk import ViewDesk

Work: TypeAlias = Callable[[Channel[Progress]], Any]
Act: TypeAlias = Callable[["Shown", Mapping[str, Any]], None]


class Shown(Protocol):
    """A view of a thread, as what is done in it knows it."""

    busy: Busy | None

    @property
    def session(self) -> Callable[[], Session]:
        """Return what finds the thread that cells ask in."""
        ...

    @property
    def went(self) -> Callable[[View], None]:
        """Return what is told that another path is shown, or more of it."""
        ...

    def tell(self, message: Message) -> None:
        """Tell the page something."""
        ...

    def show(self) -> None:
        """Tell the page everything."""
        ...

    def begin(self, what: What, work: Work, prompt: str = "", desk: ViewDesk | None = None) -> None:
        """Begin what takes time. Raises ThreadError while something else goes on here."""
        ...


def _ready(view: Shown, _: Mapping[str, Any]) -> None:
    view.show()


def _earlier(view: Shown, message: Mapping[str, Any]) -> None:
    """Tell the rows before a place."""
    before = int(message.get("before") or 0)
    start = max(0, before - WINDOW)
    rows = rows_of(view.session().view()).cut(start, before)
    view.tell({"kind": "earlier", "from": start, "rows": rows})


def _open(view: Shown, message: Mapping[str, Any]) -> None:
    """Tell the messages of a folded stretch, a window at a time."""
    first, start = str(message.get("message")), max(0, int(message.get("from") or 0))
    rows, total = rows_of(view.session().view()).inside(first, start, start + WINDOW)
    view.tell({"kind": "opened", "message": first, "from": start, "total": total, "rows": rows})


def _source(view: Shown, message: Mapping[str, Any]) -> None:
    """Tell the words of a message as they were written, to be edited or copied."""
    index = view.session().view().index
    found = index[full_id(index, message.get("message"))]
    view.tell({"kind": "source", "message": found.id, "text": words_of(found)})


def _send(view: Shown, message: Mapping[str, Any]) -> None:
    text = str(message.get("text") or "")
    if not text.strip():
        raise SettingError("the prompt is empty", "Write something first.")
    _ask(view, Asking(text))


def _retry(view: Shown, message: Mapping[str, Any]) -> None:
    _ask(view, Asking(aim="retry", at=str(message.get("message"))))


def _resume(view: Shown, message: Mapping[str, Any]) -> None:
    """Go on with an answer that was cut."""
    _ask(view, Asking(aim="resume", at=str(message.get("message"))))


def _verdict(view: Shown, message: Mapping[str, Any]) -> None:
    """Take the answer to a question about a tool call."""
    if view.busy and view.busy.desk:
        view.busy.desk.hear(message)


def _edit(view: Shown, message: Mapping[str, Any]) -> None:
    """Put a version beside a message; of a question it is asked, of an answer it is kept."""
    identifier, text = str(message.get("message")), str(message.get("text") or "")
    if not text.strip():
        raise SettingError("the new text is empty", "Write something, or leave it as it is.")
    if view.session().view().index[identifier].role == "user":
        _ask(view, Asking(text, aim="edit", at=identifier))
    else:
        edit_answer(_idle(view), identifier, text)
        _changed(view)


def _version(view: Shown, message: Mapping[str, Any]) -> None:
    """Go to the version before or behind the one that is shown."""
    session, step = _idle(view), -1 if message.get("step") == -1 else 1
    index = session.view().index
    siblings = index.siblings(str(message.get("message")))
    at = index.version(str(message.get("message")))[0] - 1 + step
    if 0 <= at < len(siblings):
        go(session, siblings[at].id)
    _changed(view)


def _stop(view: Shown, _: Mapping[str, Any]) -> None:
    if view.busy and view.busy.stop:
        view.busy.stop()
    else:
        view.show()


def _clear(view: Shown, _: Mapping[str, Any]) -> None:
    marking.clear(_idle(view))
    _changed(view)


def _restore(view: Shown, _: Mapping[str, Any]) -> None:
    marking.restore(_idle(view), "clear")
    _changed(view)


def _uncompact(view: Shown, _: Mapping[str, Any]) -> None:
    marking.restore(_idle(view), "compact")
    _changed(view)


def _compact(view: Shown, _: Mapping[str, Any]) -> None:
    session = changeable(view.session())
    view.begin(COMPACTING, lambda put: compact(session, None, put, dry_run=False))


def _ask(view: Shown, asking: Asking) -> None:
    session, desk = changeable(view.session()), ViewDesk(view.tell)
    view.begin(ANSWERING, lambda put: session.send(asking, put, desk=desk), asking.text, desk)


def _idle(view: Shown) -> Session:
    """Return the session to change. Raises ThreadError while something goes on here."""
    if view.busy is not None:
        raise goes_on(view.busy)
    return changeable(view.session())


def _changed(view: Shown) -> None:
    view.show()
    view.went(view.session().view())


ACTS: Final[Mapping[str, Act]] = MappingProxyType({
    "ready": _ready, "earlier": _earlier, "open": _open, "source": _source, "send": _send,
    "retry": _retry, "resume": _resume, "verdict": _verdict, "edit": _edit, "version": _version,
    "stop": _stop, "clear": _clear, "restore": _restore, "compact": _compact,
    "uncompact": _uncompact,
})  # fmt: skip
"""What a page may ask for, by the kind of its message."""
