"""`Chat`: the same conversation from Python, sync, in notebooks and plain scripts."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from jan_magics.api.answer import Answer
from jan_magics.api.asking import asking_of, merged
from jan_magics.api.host import Host, Showing
from jan_magics.api.opening import host_here
from jan_magics.api.stream import AnswerStream
from jan_magics.domain.tree import TreeIndex
from jan_magics.engine.asking import Asking
from jan_magics.engine.threads import shown_title

if TYPE_CHECKING:
    import pandas as pd

    from jan_magics.api.transcript import Transcript


class Chat:
    """A chat in one thread. `thread=None` is the notebook's own, as for `%%chat`.

    `api_key` never leaves the object. Use it as a context manager, or `close()` it.
    """

    def __init__(
        self,
        thread: str | None = None,
        *,
        model: str | None = None,
        system: str | None = None,
        data_folder: str | None = None,
        store: str = "sqlite",
        api_key: str | None = None,
    ) -> None:
        explicit: dict[str, object] = {"data_folder": data_folder}
        if store != "sqlite":
            explicit["store"] = store
        self._host: Host = host_here(explicit, api_key)
        self._host.sticky = Asking(thread=thread, model=model, system=system)

    def use(self, **settings: Any) -> Self:
        """Make a thread, a model, instructions or parameters stick; None takes one back."""
        session = self._host.session()
        session.sticky = merged(session.sticky, settings)
        return self

    def send(
        self, text: str, *, history: bool = True, show: bool | None = None, **params: Any
    ) -> Answer:
        """Ask, and wait for the whole answer.

        `params` are thread, model, system, temperature, max_tokens, seed, timeout (seconds between
        bytes), else parameters of the model. `history=False` asks without what was said before.

        Raises:
            JanError: as the model and store say.
        """
        return self._host.ask(asking_of(text, params, history=history), Showing(show))

    def stream(self, text: str, *, history: bool = True, **params: Any) -> AnswerStream:
        """Ask, and iterate over the answer as it grows; `.answer` is whole afterwards."""
        return AnswerStream(self._host, self._host.begin(asking_of(text, params, history=history)))

    def new(self, name: str | None = None) -> Self:
        """Begin a new thread and stay in it. Raises SettingError when the name is taken."""
        session = self._host.session()
        thread = session.threads.create(name)
        session.sticky = replace(session.sticky, thread=thread.id)
        return self

    def show(self, id: str | None = None) -> "Transcript":
        """Return the active path, or one message, in text, Markdown and HTML forms.

        Raises:
            MessageNotFound: when no message's id, or more than one, begins so.
        """
        from jan_magics.api.transcript import transcript

        thread = self._host.session().current()
        index = self._index()
        title = shown_title(thread) if thread else "a new thread"
        return transcript(title, index.path(), index.messages, id)

    def messages(self, all: bool = False) -> "pd.DataFrame":  # noqa: FBT001, FBT002
        """Return the messages of the active path as a table; with `all`, of every branch."""
        from jan_magics.api.tables import messages_table

        return messages_table(self._index(), everything=all)

    def turns(self) -> "pd.DataFrame":
        """Return the turns of the active path as a table; times in seconds, sizes in tokens."""
        from jan_magics.api.tables import turns_table

        return turns_table(self._index().path())

    def close(self) -> None:
        """Stop what runs, close the store, end a model that was started."""
        self._host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        thread = self._host.session().current()
        return f"Chat({shown_title(thread) if thread else 'a new thread'!r})"

    def _index(self) -> TreeIndex:
        session = self._host.session()
        thread = session.current()
        return session.engine.tree(thread) if thread else TreeIndex()
