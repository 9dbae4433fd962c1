"""Views of what verbs return: in a page that is open, else the table or the text is all."""

from collections.abc import Callable, Iterable
from typing import Any

from jan_magics.api.context import say
from jan_magics.api.host import Host, language_of
from jan_magics.engine.views import View as Seen
from jan_magics.widgets.comm import View, open_view, why_none
from jan_magics.widgets.open_views import views_of


def live(host: Host, value: Any, make: Callable[[], View], said: Iterable[str] = ()) -> Any:
    """Return a view, with `value` as its still form; `value` itself where no page can show one.

    `said` goes beside the still form. Where everything is the same in every run, as under replay,
    nothing moves.
    """
    why, language = None if host.stable() else why_none(host.shell), language_of(host)
    if why != "":
        for line in (*said, *([why] if why else [])):
            say(line, language)
        return value
    return open_view(host.shell, make(), value, language)


def telling(host: Host) -> Callable[[Seen], None]:
    """Return what tells cells and other views where a thread stands once a view has changed it."""

    def told(view: Seen) -> None:
        host.tell(view.thread, view.path())
        views_of(host.shell).after_cell()

    return told
