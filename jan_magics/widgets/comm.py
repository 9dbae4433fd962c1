"""The door between pages and views: what a page says comes in here, and what it is told goes out.

Where nobody looks at a page there is no view, and the table or the text is all.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar, runtime_checkable

from jan_magics.domain.errors import JanError
from jan_magics.notebook.bridge import Job, Stopped
from jan_magics.notebook.identity import SESSION, in_kernel
from jan_magics.notebook.render import plain
from jan_magics.widgets.open_views import Opened, views_of

P = TypeVar("P")
Message: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[[Message], None]

WIDGET: Final = "application/vnd.jupyter.widget-view+json"
VIEW: Final = "application/vnd.jan-magics.view+json"
"""Beside the widget, for our extension: it shows the still form where no kernel has the widget."""
NO_PAGE: Final = (
    "--live shows more in a notebook that is open in a browser; here it is as it stands"
)
READY: Final[Message] = {"kind": "ready"}
"""What a page says that has just come; it is then told everything."""
DRAWN: Final = frozenset(("thread", "tree", "budget"))
"""The messages by which a page is up to date."""
LARGEST_FIRST: Final = 16_000
"""Characters of JSON that may be part of a widget's saved state."""


class View(Protocol):
    """What a page shows, as the kernel sees it. `kind` names its code in `static/`."""

    @property
    def kind(self) -> str:
        """Return which view it is."""
        ...

    def joined(self, say: Say) -> None:
        """Take the way to the page."""
        ...

    def first(self) -> Message:
        """Return what may be saved with a widget and is shown at once; {} for what is history."""
        ...

    def mark(self) -> object:
        """Return what differs when the state has become another one."""
        ...

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take what a page says, at first that it is "ready"; must be over at once."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A view that wants to know when its page is closed."""

    def closed(self) -> None:
        """Nobody looks any more."""
        ...


@dataclass(frozen=True, slots=True)
class Live:
    """A view in a page, and the same as it stands without one: `value`, with its MIME forms."""

    value: Any
    still: Mapping[str, Any]
    page: Any

    def __str__(self) -> str:
        return str(self.still["text/plain"])

    def __repr__(self) -> str:
        return str(self)

    def close(self) -> None:
        """Take the view away; what it showed stays as a table or a text."""
        self.page.close()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        if self.page.comm is None:
            return dict(self.still)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.page.model_id}
        return {**self.still, WIDGET: view, VIEW: {"schema": 1}}


def why_none(shell: Any) -> str:
    """Say why no page can show a view here, with what can be done; "" where one can."""
    if not in_kernel(shell) or not _is_watched(shell):
        return NO_PAGE
    try:
        import anywidget  # noqa: F401 - whether it can be had
    except ImportError:
        return "--live needs anywidget: pip install anywidget, then restart the kernel"
    return ""


def open_view(shell: Any, view: View, value: Any, language: str = "") -> Live:
    """Open a view in the running cell; older views of the same cell are closed.

    `value` is what is shown where there is no page.
    """
    from jan_magics.widgets.page import page_of

    still, _ = shell.display_formatter.format(value)
    first = view.first()
    small = len(json.dumps(first, ensure_ascii=False)) <= LARGEST_FIRST
    page = page_of(view.kind, first if small else {}, language)

    def say(message: Message) -> None:
        if page.comm is not None:
            page.send(message)
        if message["kind"] in DRAWN:
            opened.seen = view.mark()

    def take(content: Mapping[str, Any]) -> None:
        told(say, partial(view.hear, content))

    def hear(_: object, content: object, __: object) -> None:
        if isinstance(content, dict):
            take(content)

    opened = Opened(
        page.close,
        lambda: page.comm is not None,
        view.mark,
        partial(take, READY),
        view.kind,
        take,
    )
    view.joined(say)
    page.on_msg(hear)
    if isinstance(view, Closing):
        page.observe(lambda change: view.closed() if change.new is None else None, "comm")
    views_of(shell).add(opened)
    return Live(value, still, page)


def failed(failure: JanError) -> Message:
    """Return what tells a page that something could not be done, with the next step."""
    return {"kind": "failed", "message": plain(failure.message), "next": plain(failure.next_step)}


def go_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], say: Say) -> None:
    """Let something go on on the engine's loop; whatever goes wrong there is told in the page."""

    async def guarded() -> None:
        try:
            await work
        except JanError as failure:
            say(failed(failure))
        except Exception as fault:  # noqa: BLE001 - a door
            say(_broken(fault))

    asyncio.run_coroutine_threadsafe(guarded(), loop)


def follow(job: Job[Any, P], heard: Callable[[P], None]) -> Message | None:
    """Read a job to its end; returns what a page is to be told of how that went wrong.

    None where it did not: who has stopped it knows.
    """
    try:
        for update in job.updates():
            heard(update)
        job.result()
    except JanError as failure:
        return failed(failure)
    except Stopped:
        return None
    except Exception as fault:  # noqa: BLE001 - a door
        job.loop.call_soon_threadsafe(job.drop)  # nobody would hear any more of it
        return _broken(fault)
    return None


def _broken(fault: Exception) -> Message:
    # Nobody would see a traceback that no cell has asked for.
    what = f"{type(fault).__name__} in this view"
    return {"kind": "failed", "message": what, "next": "Run its cell again."}


def told(say: Say, work: Callable[[], None]) -> None:
    """Do something for a page; whatever goes wrong there is told in it."""
    try:
        work()
    except JanError as failure:
        say(failed(failure))
    except Exception as fault:  # noqa: BLE001 - a door
        say(_broken(fault))


def _is_watched(shell: Any) -> bool:
    """Tell whether a page shows what this kernel displays; runners of notebooks have none."""
    return (
        SESSION in os.environ
        or "__vsc_ipynb_file__" in shell.user_ns
        or "google.colab" in sys.modules
    )
