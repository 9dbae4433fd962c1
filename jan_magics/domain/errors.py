"""The whole error tree. Every error says what happened and, on a second line, what to do next.

JanError
├── SettingError               a setting or flag has a value that cannot be used
│   └── AssistantNotFound
├── PromptError                the text of a cell cannot become a prompt
│   ├── UndefinedName          `{{ name }}` where no such name exists
│   └── ExpressionFailed       `{{ expression }}` raised, or is not Python
├── ThreadError                a thread or message cannot be used as asked
│   ├── ThreadNotFound
│   ├── AmbiguousThread        several threads have that title
│   └── MessageNotFound
├── StoreError                 the data folder cannot be read or written
│   ├── StoreLocked            another process holds it for too long
│   └── SchemaTooNew           it was written by a newer version
├── RetrievalError             documents, chunks or a collection cannot be used as asked
│   ├── CollectionNotFound
│   ├── EmbedderError          an embedder is not installed, or its server failed
│   └── WhereError             `--where` cannot be read
├── KeyRefused                 a key is missing, or must not be sent there
├── LeakFound                  a request has a key in it, and was not sent
├── ToolServerFailed           an MCP server does not start, or does not answer
│   └── ToolServerRefused      401, 403: it wants a key, or another one
└── ProviderError              the model or its server did not answer properly
    ├── ModelNotReachable      nothing listens, or the connection failed
    ├── ModelTimeout           no byte arrived in time
    ├── AuthenticationFailed   401, 403
    ├── ModelNotFound          404 or the server's own word for it
    ├── RateLimited            429
    ├── ContextOverflow        the request is larger than the context window
    ├── RequestRejected        another 4xx
    ├── ServerFailed           5xx
    ├── StreamBroken           the answer began and was cut off, or cannot be read
    ├── SchemaUnmet            the answer is not of the form that was asked for
    └── NotRecorded            a cassette is played, and this request is not in it
"""

import traceback
from collections.abc import Sequence
from typing import Literal, TypeAlias

Refused: TypeAlias = Literal["images", "tools", "system", "schema", "calls"]
"""What a server may refuse: images, tools, a system text, a schema, calls without tools."""


class JanError(Exception):
    """Carry what happened and the next step.

    A notebook shows two lines the first time; asking again (`%tb`) shows the whole traceback.
    """

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self._rendered = False

    def __str__(self) -> str:
        return f"{self.message}\n{self.next_step}" if self.next_step else self.message

    def _render_traceback_(self) -> list[str]:
        if self._rendered:
            return "".join(traceback.format_exception(self)).splitlines()
        self._rendered = True
        head = f"{type(self).__name__}: {self.message}"
        return [head, self.next_step] if self.next_step else [head]


class SettingError(JanError):
    """Report a setting or flag whose value cannot be used."""


class AssistantNotFound(SettingError):
    """Report an assistant that does not exist."""

    def __init__(self, name: str, nearest: Sequence[str] = ()) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        closest = f"; closest: {', '.join(map(repr, nearest))}" if nearest else ""
        super().__init__(
            f"no assistant {name!r}{closest}",
            "List them with: %chat assistants   or make it: %chat assistants --new NAME",
        )


class PromptError(JanError):
    """Report text of a cell that cannot become a prompt."""


class UndefinedName(PromptError):
    """Report a `{{ name }}` that no variable has."""

    def __init__(self, name: str, nearest: Sequence[str] = ()) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        closest = f"; closest: {', '.join(map(repr, nearest))}" if nearest else ""
        super().__init__(
            f"no variable {name!r} for {{{{ {name} }}}}{closest}",
            r"Define it in a cell above, or send braces as they are: \{{ or --literal.",
        )


class ExpressionFailed(PromptError):
    """Report a `{{ expression }}` that is not Python, or that raised."""

    def __init__(self, expression: str, reason: str) -> None:
        self.expression = expression
        super().__init__(
            f"{{{{ {expression} }}}} could not be evaluated: {reason}",
            r"Mend the expression, or send braces as they are: \{{ or --literal.",
        )


class ThreadError(JanError):
    """Report a thread or message that cannot be used as asked."""


class ThreadNotFound(ThreadError):
    """Report a thread that does not exist."""

    def __init__(self, name: str, nearest: Sequence[str] = ()) -> None:
        self.name = name
        closest = f"; closest: {', '.join(map(repr, nearest))}" if nearest else ""
        super().__init__(f"no thread {name!r}{closest}", "List them with: %chat threads")


class AmbiguousThread(ThreadError):
    """Report a title that several threads have."""

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        self.name = name
        self.ids = tuple(ids)
        super().__init__(
            f"{len(ids)} threads are called {name!r}",
            f"Name one by its id: {', '.join(identifier[:8] for identifier in ids)}",
        )


class MessageNotFound(ThreadError):
    """Report a message that is not in its thread."""

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        super().__init__(f"no message {identifier!r} in this thread", "List them with: %chat tree")


class StoreError(JanError):
    """Report a data folder that cannot be read or written."""


class StoreLocked(StoreError):
    """Report a store that another process holds for too long."""


class SchemaTooNew(StoreError):
    """Report a store that a newer version has written."""


class RetrievalError(JanError):
    """Report documents, chunks or a collection that cannot be used as asked."""


class CollectionNotFound(RetrievalError):
    """Report a collection that does not exist, with the nearest names."""


class EmbedderError(RetrievalError):
    """Report an embedder that is not installed, or that did not answer properly."""


class WhereError(RetrievalError):
    """Report a filter that cannot be read."""


class KeyRefused(JanError):
    """Report a key that is missing or must not be sent to that address."""


class LeakFound(JanError):
    """Report a request that was not sent, as a key or a private key stands in it."""


class ToolServerFailed(JanError):
    """Report an MCP server that does not start or answer; `gone`: it has to be started again."""

    gone = True


class ToolServerRefused(ToolServerFailed):
    """Report an MCP server that wants a key, or another one."""


class ProviderError(JanError):
    """Report a model or server that did not answer properly; `model` is `provider:name`.

    `retry_after` in seconds where the server says so.
    """

    def __init__(
        self, message: str, next_step: str = "", *, model: str = "", status: int | None = None,
        retry_after: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message, next_step)
        self.model = model
        self.status = status
        self.retry_after = retry_after


class ModelNotReachable(ProviderError):
    """Report a server that does not listen or a connection that failed."""


class ModelTimeout(ProviderError):
    """Report a server that sent no byte in time."""


class AuthenticationFailed(ProviderError):
    """Report a key that the server does not accept."""


class ModelNotFound(ProviderError):
    """Report a model that the server does not have."""


class RateLimited(ProviderError):
    """Report too many requests; `used_up`: it is the account's quota, and waiting does not help."""

    used_up = False


class ContextOverflow(ProviderError):
    """Report a request larger than the context window; sizes in tokens, None = not known.

    `planned` is the window of a request that was not even sent: `used` is then what it would take,
    and `window` what may be sent in all. `remedy` is what helps there. `answer` is the size of an
    answer where only that does not fit.
    """

    def __init__(  # noqa: PLR0913 - each is a fact of its own
        self, used: int | None, window: int | None, *, model: str = "", status: int | None = None,
        planned: int | None = None, remedy: str = "", answer: int | None = None,
    ) -> None:  # fmt: skip
        self.used, self.window, self.planned, self.answer = used, window, planned, answer
        sizes = "" if used is None else f"{used} tokens"
        if window:
            sizes = f"{sizes} of {window}" if used else f"it has {window} tokens"
        if planned is not None:
            sizes += f"; the rest of the window of {planned} is kept for the answer"
        what = f"an answer of {answer} tokens after the request" if answer else "the request"
        if answer and used and window:
            room = f"--max-tokens {window - used}"
            remedy = f"Ask for less ({room}), or without history: --no-history"
        where = f"{model or 'the model'}{f' ({sizes})' if sizes else ''}"
        remedy = remedy or (
            "Shorten the prompt, ask without history (--no-history), or start anew: %chat new"
        )
        said = f"{what} does not fit the context window of {where}"
        super().__init__(said, remedy, model=model, status=status)


class RequestRejected(ProviderError):
    """Report a request that the server refuses.

    `refuses` is what no request for that model may have, None where it is something else; `sends`
    is how often the request may go out in another form.
    """

    refuses: Refused | None = None
    sends = 0


class ServerFailed(ProviderError):
    """Report a failure inside the server; `wordless`: it did not even say that in its own form."""

    wordless = False


class StreamBroken(ProviderError):
    """Report an answer that was cut off or cannot be read."""


class SchemaUnmet(ProviderError):
    """Report an answer that its schema refuses; it is kept, and `answer` where somebody waits."""

    answer: object = None


class NotRecorded(ProviderError):
    """Report a request that a cassette has no answer to; `changed` against the nearest one."""

    def __init__(self, cassette: str, changed: str = "") -> None:
        self.cassette, self.changed = cassette, changed
        nearest = f"against the nearest recording: {changed}" if changed else "nothing like it is"
        super().__init__(
            f"this request is not recorded in {cassette!r}; {nearest}",
            "Record it: %chat replay --off, %chat record, then run the notebook"
            "   or go on without: %chat replay --missing offline",
        )
