"""The thread as a view, in which one reads and goes on."""

from typing import TYPE_CHECKING, cast

from jan_magics.api.host import Host, language_of
from jan_magics.api.live import live, telling
from jan_magics.api.transcript import Transcript, transcript
from jan_magics.widgets.thread_view import ThreadView

if TYPE_CHECKING:
    from jan_magics.widgets.comm import Live


def live_thread(host: Host) -> "Live | Transcript":
    """Return the thread as a view, else as a text."""
    still = transcript(host.session().view(), None, language_of(host))
    shown = live(host, still, lambda: ThreadView(host.bridge, host.session, telling(host)))
    return cast("Live | Transcript", shown)
