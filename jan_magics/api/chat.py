"""`Chat`: the same thread from Python, sync, in notebooks and plain scripts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, overload

from jan_magics.api import context
from jan_magics.api.answer import Answer
from jan_magics.api.asking import asking_of, checked_text, merged, text_or_none
from jan_magics.api.host import Host, Showing, described, language_of
from jan_magics.api.opening import host_for
from jan_magics.api.preview import Plan, preview
from jan_magics.api.stream import AnswerStream
from jan_magics.context.budget import Overflow
from jan_magics.engine.asking import Asking
from jan_magics.engine.branches import begin, drop, edit_answer, go
from jan_magics.engine.ids import full_id
from jan_magics.engine.undoing import undo
from jan_magics.engine.views import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from jan_magics.api.transcript import Transcript
    from jan_magics.api.tree import Tree
    from jan_magics.widgets.comm import Live

    ToolsWanted: TypeAlias = Sequence[str | Callable[..., Any]] | Callable[..., Any] | str | None


class Chat:
    """A chat in one thread. `thread=None` is the notebook's own, as for `%%chat`.

    `api_key` never leaves the object. Use it as a context manager, or `close()` it.
    """

    def __init__(  # noqa: PLR0913
        self,
        thread: str | None = None,
        *,
        model: str | None = None,
        system: str | None = None,
        data_folder: str | None = None,
        store: str = "sqlite",
        overflow: Overflow = "trim",
        window: int | None = None,
        api_key: str | None = None,
    ) -> None:
        self._host: Host = host_for(data_folder, store, api_key)
        self._host.sticky = merged(Asking(), {"thread": thread, "model": model, "system": system})
        if window is not None:
            self.use(window=window)
        if overflow != "trim":
            self.use(overflow=overflow)

    def use(self, **settings: Any) -> Self:
        """Make a thread, a model, instructions or parameters stick; None takes one back."""
        session = self._host.session()
        session.sticky = merged(session.sticky, settings)
        return self

    @overload
    def send(self, text: str, *, dry_run: Literal[True], **params: Any) -> Plan: ...

    @overload
    def send(self, text: str, *, dry_run: Literal[False] = False, **params: Any) -> Answer: ...

    def send(  # noqa: PLR0913 - as the surface has it
        self,
        text: str,
        *,
        at: str = "head",
        attach: object = (),
        schema: object = None,
        tools: "ToolsWanted" = None,
        history: bool = True,
        show: bool | None = None,
        **params: Any,
    ) -> Answer | Plan:
        """Ask, and wait for the whole answer.

        `at` is the id of the message that the turn goes below, else the end of the path. `attach`
        are paths, DataFrames, figures or images. `schema` is the form of the answer, for `.data`:
        JSON schema, a class, or a variable's name. `tools` are functions that the model may call,
        or their names; [] for none. `params` are thread, model, system, assistant, temperature,
        max_tokens, seed, reuse, timeout (seconds between bytes), max_steps, yes (run calls
        unasked), else parameters of the model. `history=False` asks alone, `dry_run=True` nobody.

        Raises:
            SettingError: for a flag of `%%chat` that only a cell can have.
            JanError: as the model and store say.
        """
        dry_run = params.pop("dry_run", False)
        params |= {"tools": tools, "attach": attach, "schema": schema}
        asking = asking_of(text, params, at=at, history=history)
        return preview(self._host, asking) if dry_run else self._host.ask(asking, Showing(show))

    def stream(
        self,
        text: str,
        *,
        at: str = "head",
        attach: object = (),
        schema: object = None,
        tools: "ToolsWanted" = None,
        history: bool = True,
        **params: Any,
    ) -> AnswerStream:
        """Ask, and iterate over the answer as it grows; `.answer` is whole afterwards."""
        params |= {"tools": tools, "attach": attach, "schema": schema}
        asking = asking_of(text, params, at=at, history=history)
        return AnswerStream(self._host, self._host.begin(asking))

    def retry(self, id: str | None = None) -> Answer:
        """Answer the last question once more, or the one that a message belongs to."""
        return self._host.ask(Asking(aim="retry", at=id), Showing())

    def resume(self, id: str | None = None) -> Answer:
        """Go on with an answer that was cut. Raises ThreadError when it is whole."""
        return self._host.ask(Asking(aim="resume", at=id), Showing())

    def edit(self, id: str, text: str) -> Answer:
        """Put a version beside a message; a question is asked, of an answer nothing is sent."""
        session = self._host.session()
        index, words = session.view().index, checked_text(text)
        if index[full_id(index, id)].role == "user":
            return self._host.ask(Asking(words, aim="edit", at=id), Showing())
        outcome = edit_answer(session, id, words)
        self._host.tell(outcome.turn.thread, outcome.turn.index.path())
        return self._host.answer(outcome, shown=False)

    def go(self, target: str | int) -> Self:
        """Show the path through the message with this id, or version N, "next" or "prev".

        Raises ThreadError when there is no such version, or no such message.
        """
        self._told(go(self._host.session(), target))
        return self

    def drop(self, id: str) -> Self:
        """Hide a message: it stays in its place and is not sent, nor what answers it."""
        drop(self._host.session(), id)
        return self

    def undo(self) -> Self:
        """Take the thread's last change back; again: one further. Raises ThreadError for none."""
        self._told(undo(self._host.session())[1])
        return self

    def plan(self, text: str = "") -> "pd.DataFrame":
        """Return what a prompt would be sent with: a row a message; sizes in tokens.

        Edit its `action` (keep, drop, pin, summarise) and give it to `apply`. Where it would not
        be sent so, that is printed.
        """
        return context.plan_frame(self._host, text)

    def apply(self, frame: "pd.DataFrame") -> Self:
        """Make the actions of an edited plan stick on this branch, until `undo`.

        Raises:
            SettingError: naming the row that cannot be so; nothing is changed then.
        """
        context.apply_plan(self._host, frame)
        return self

    def budget(self, text: str = "") -> "pd.DataFrame":
        """Return the pieces of the context window for a prompt, in tokens and shares of it."""
        return context.budget_frame(self._host, text)

    def mark(self, ids: "str | Iterable[str]", action: str) -> Self:
        """Keep, drop, pin or summarise messages, from here on down this branch."""
        context.mark(self._host, ids, action)
        return self

    def compact(self, keep: int | None = None, dry_run: bool = False, off: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Let the model summarise all but the last `keep` turns; the originals stay.

        `dry_run` returns what would change as a table; the summariser is asked, nothing is stored.
        `off` takes the last compaction of this branch back. Raises ThreadError when there is
        nothing to compact, or it would free too little.
        """
        if dry_run:
            return context.compact_preview(self._host, keep, off=off)
        said = context.compact_or_restore(self._host, keep, off=off)
        context.say(said, language_of(self._host))
        return self

    def clear(self, off: bool = False) -> Self:  # noqa: FBT001, FBT002
        """Send nothing of what was said so far any more; nothing is deleted. `off` restores it."""
        context.say(context.clear(self._host, off=off)[1], language_of(self._host))
        return self

    def grid(self, text: str, *, needle: str | None = None, **lists: Any) -> "pd.DataFrame":
        """Ask the same under every combination of settings; the thread's head does not move.

        `recalled` says whether the answer holds the `needle`; `message` is on no branch.
        """
        return context.grid(self._host, Asking(checked_text(text)), lists, needle)

    def map(  # noqa: PLR0913 - as the surface has it
        self,
        data: object,
        template: str,
        *,
        schema: object = None,
        concurrency: int = 4,
        max_cost: float | None = None,
        prefix: str = "",
        again: bool = False,
    ) -> "pd.DataFrame":
        """Ask a turn a row; `{{row.title}}` and `{{row["a b"]}}` are looked up in it.

        Returns the rows with answer, the schema's fields, error, finish and more. What was answered
        before is not asked, unless `again`. Raises SettingError for a column that is not there, or
        is already; Stopped, whose `answer` is the table so far.
        """
        from jan_magics.api.mapped import USUAL_AT_A_TIME, how_of, map_template

        # A call cannot tell the usual number from none: any other one was meant.
        said = concurrency != USUAL_AT_A_TIME
        how = how_of(concurrency, max_cost, again=again, said=said)
        return map_template(self._host, Asking(schema=schema), data, template, how, prefix)

    def new(self, name: str | None = None) -> Self:
        """Begin a thread and stay in it; in one of that name a new root branch."""
        begin(self._host.session(), text_or_none("name", name))
        return self

    def tree(self) -> "Tree":
        """Return the whole thread with all versions, in text, Markdown and HTML forms."""
        from jan_magics.api.tree import tree_of

        return tree_of(self._host.session().view(), language_of(self._host))

    def show(self, id: str | None = None) -> "Transcript":
        """Return the active path, or one message, in text, Markdown and HTML forms.

        Raises ThreadError when no message's id, or more than one, begins so.
        """
        from jan_magics.api.transcript import transcript

        return transcript(self._host.session().view(), id, language_of(self._host))

    def view(self) -> "Live | Transcript":
        """Return the thread as a view to go on in, where a page can show one; else as `show`."""
        from jan_magics.api.live_thread import live_thread

        return live_thread(self._host)

    def messages(self, all: bool = False) -> "pd.DataFrame":  # noqa: FBT001, FBT002
        """Return the messages of the active path as a table; with `all`, of every branch."""
        from jan_magics.api.tables import messages_table

        return messages_table(
            self._host.session().view(), context.counter(self._host), everything=all
        )

    def turns(self) -> "pd.DataFrame":
        """Return the turns of the active path as a table; times in seconds, sizes in tokens."""
        from jan_magics.api.tables import turns_table

        return turns_table(self._host.session().view())

    def export(self, path: "str | Path") -> "Path":
        """Write the thread to a file (.json, .md, .ipynb) or a data folder of Jan's.

        A relative path is relative to the notebook; .json and the folder hold all of the thread.

        Raises:
            SettingError: when something else is there, or no such kind of file is known.
        """
        from jan_magics.api.moving import export_thread

        return export_thread(self._host, path)

    def close(self) -> None:
        """Stop what runs, close the store, end a model that was started."""
        self._host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return described(self._host)

    def _told(self, view: View) -> None:
        self._host.tell(view.thread, view.path())


def chat_on(host: Host) -> Chat:
    """Return a chat on an engine that is there already."""
    chat = Chat.__new__(Chat)
    chat._host = host  # noqa: SLF001 - a chat's engine is no part of its surface
    return chat
