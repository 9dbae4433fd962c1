"""Views of what verbs return: in a page that is open, else the table or the text is all."""

from collections.abc import Callable, Iterable
from typing import Any

from jan_magics.api.context import say
from jan_magics.api.host import Host
from jan_magics.widgets.comm import View, open_view, why_none


def live(host: Host, value: Any, make: Callable[[], View], said: Iterable[str] = ()) -> Any:
    """Return a view, with `value` as its still form; `value` itself where no page can show one.

    `said` goes beside the still form. Where everything is the same in every run, as under replay,
    nothing moves.
    """
    why = None if host.stable() else why_none(host.shell)
    if why != "":
        for line in (*said, *([why] if why else [])):
            say(line)
        return value
    language = host.session().settings().get("language").value
    return open_view(host.shell, make(), value, language or "")
