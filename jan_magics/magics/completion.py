"""Tab completion of `%%chat`, `%chat` and `%rag`: flags, verbs, names, ids. Offline."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.getipython import get_ipython

from jan_magics.domain.parameters import RANGES
from jan_magics.magics.commands import ASKING, VERBS, Flag, Verb
from jan_magics.magics.rag_commands import RAG_VERBS

_LINE: Final = re.compile(r"\s*(?:[\w.]+\s*=\s*)?%(chat|jan|rag)[ \t]+(.*)", re.DOTALL)
_EXPRESSION: Final = re.compile(r"\{\{\s*([^\W\d]\w*)?$")
_USUAL: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "--window": ("4096", "8192", "16384", "32768", "65536", "131072", "0"),
    "--grid": ("overflow=trim,compact", "window=4096,8192", "temperature=0,1", "model=",
               "strategy=recent,relevance", "keep=2,4"),
    "-P": tuple(f"{name}=" for name in RANGES if name not in ("temperature", "max_tokens")),
})  # fmt: skip
"""What may follow a flag that takes more than a list can tell."""
MOST: Final = 60
_BESIDE_IDS: Final[Mapping[str, dict[str, str]]] = MappingProxyType({
    "go": dict.fromkeys(("next", "prev"), "version"),
    "mark": dict.fromkeys(("keep", "drop", "pin", "summarise"), "action"),
})  # fmt: skip
WORDS: Final = 40
"""Columns of a message's first words."""


@context_matcher()  # type: ignore[untyped-decorator]
def match_chat(context: CompletionContext) -> SimpleMatcherResult:
    """Complete what stands before the cursor, when that is one of our magics."""
    before = _before_cursor(context)
    shell = get_ipython()
    if before.startswith(("%%chat", "%%jan")):
        head, newline, body = before.partition("\n")
        if newline:
            return _result(*_names(shell, body))
        return _result(*_flags_or_names(shell, head.partition(" ")[2], ASKING, models=True))
    if (match := _LINE.match(context.line_with_cursor[: context.cursor_position])) and shell:
        return _result(*_line(shell, match[2], RAG_VERBS if match[1] == "rag" else VERBS))
    return _result("", None)


def _before_cursor(context: CompletionContext) -> str:
    """Return the cell up to the cursor, whose position is told within its line."""
    lines = context.full_text.split("\n")
    above = lines[: context.cursor_line]
    return "\n".join((*above, lines[context.cursor_line][: context.cursor_position]))


def _line(shell: Any, rest: str, verbs: Sequence[Verb]) -> tuple[str, Iterable[str] | None]:
    """Complete a line verb: the verb, then its flags and words."""
    name, space, after = rest.partition(" ")
    if not space:
        return name, (verb.name for verb in verbs if verb.name.startswith(name))
    verb = next((each for each in verbs if each.name == name), None)
    if verb is None:
        return "", None
    if name == "help":
        word = after.rpartition(" ")[2]
        return word, (each.name for each in verbs if each.name.startswith(word))
    models = name == "use" and verbs is VERBS
    return _flags_or_names(shell, after, verb.flags, models=models, verb=verb)


def _flags_or_names(
    shell: Any, text: str, flags: Iterable[Flag], *, models: bool, verb: Verb | None = None
) -> tuple[str, Iterable[str] | None]:
    """Complete the last word of a line of flags."""
    if _EXPRESSION.search(text):
        return _names(shell, text)
    words = text.split(" ")
    word, flag = words[-1], words[-2] if len(words) > 1 else ""
    named, equals, value = word.partition("=")
    if word.startswith("--") and equals:
        word, flag = value, named
    if word.startswith("-"):
        spelled = (name for each in flags for name in each.names)
        return word, (name for name in spelled if name.startswith(word))
    if word.startswith(("./", "../", "/", "~/")):
        return word, _paths(word)
    candidates = _values(flag, word, flags)
    if candidates is None and models:
        candidates = (*_models(), *_threads())
    if candidates is None and verb is not None:
        candidates = _words(verb, word)
    if isinstance(candidates, Mapping):
        return word, {each: kind for each, kind in candidates.items() if each.startswith(word)}
    return word, (each for each in candidates or () if each.startswith(word))


def _values(flag: str, word: str, flags: Iterable[Flag]) -> Iterable[str] | None:  # noqa: PLR0911
    """Return what may follow a flag, None when the flag takes nothing."""
    known = next((each for each in flags if flag in each.names), None)
    match flag:
        case "-m" | "--model":
            return _models()
        case "-t" | "--thread":
            return _quoted(_threads())
        case "-a" | "--assistant" | "--edit":
            return _quoted(_assistants())
        case "--tools" | "--add" | "--remove":
            return _tools()
        case "--mcp" | "--attach":
            return _paths(word)
        case "--at":
            return {"head": "the end of what is shown", **_messages(word)}
        case _:
            usual = _USUAL.get(flag) if known in ASKING else None
            return usual or (known.choices if known and known.value else None)


def _quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' if re.search(r"[\s:]", name) else name for name in names]


def _tools() -> list[str]:
    """Return the names of functions that are marked or offered, and of MCP servers."""
    from jan_magics.api.opening import current_host
    from jan_magics.engine.tool_rows import tool_rows

    session = current_host().session()
    rows = tool_rows(session.toolbox, session.sticky.tools or ())
    return list(dict.fromkeys((*session.toolbox.servers.known, *(r.name for r in rows))))[:MOST]


def _assistants() -> list[str]:
    """Return the names of assistants."""
    from jan_magics.api.opening import current_host

    return [row.assistant.name for row in current_host().session().assistants.rows()][:MOST]


def _words(verb: Verb, begun: str) -> Iterable[str]:
    """Return candidates for the words of a verb."""
    if any("THREAD" in word or "OLD" in word for word in verb.words):
        return _threads()
    if "PROVIDER" in verb.words:
        from jan_magics.providers.catalog import CATALOG

        return [entry.name for entry in CATALOG.values() if entry.key_variable]
    if verb.name == "diff" or any(word.strip("[]").startswith("ID") for word in verb.words):
        return _BESIDE_IDS.get(verb.name, {}) | _messages(begun)
    return _paths(begun) if {"PATH", "FILE"} & {word.strip("[]…") for word in verb.words} else ()


def _messages(begun: str) -> dict[str, str]:
    """Return short ids that begin so, with who says what: those shown first, the newest first."""
    from jan_magics.api.opening import current_host
    from jan_magics.domain.messages import text_of
    from jan_magics.engine.ids import short_ids
    from jan_magics.notebook.columns import clip

    view = current_host().session().glance()
    short, path = short_ids(view.index), {message.id for message in view.path()}
    fitting = [each for each in reversed(view.index.messages) if each.id.startswith(begun)]
    fitting.sort(key=lambda each: each.id not in path)
    who = {"user": "question", "assistant": "answer"}
    return {
        short[each.id]: f"{who.get(each.role, each.role)}: {clip(text_of(each), WORDS)}"
        for each in fitting[:MOST]
    }


def _threads() -> list[str]:
    """Return titles, the newest first; only of a store that is open already or on disk."""
    from jan_magics.api.opening import current_host

    rows = current_host().session().engine.store.threads()
    return [row.thread.title for row in rows if row.thread.title][:MOST]


def _models() -> list[str]:
    """Return models that are known without asking: what was found, and what threads used."""
    from jan_magics.api.opening import current_host
    from jan_magics.engine.naming import own

    session = current_host().session()
    used = [own(row.thread).get("model") for row in session.engine.store.threads()]
    known = [str(info.ref) for info in session.finder.known()]
    startable = session.finder.startable()
    listed = [
        *known,
        *([str(startable)] if startable else []),
        "offline:quote",
        *filter(None, used),
    ]
    return list(dict.fromkeys(listed))[:MOST]


def _names(shell: Any, text: str) -> tuple[str, Iterable[str] | None]:
    """Complete a variable inside `{{`."""
    match = _EXPRESSION.search(text)
    if match is None or shell is None:
        return "", None
    word = match[1] or ""
    hidden = shell.user_ns_hidden
    return word, sorted(
        name
        for name in shell.user_ns
        if name.startswith(word) and not name.startswith("_") and name not in hidden
    )


def _result(word: str, candidates: Iterable[str] | None) -> SimpleMatcherResult:
    """Return a matcher's result; None = not ours, so that other completers answer.

    A mapping tells beside each candidate what it is, which a front end shows as its type.
    """
    kinds = candidates if isinstance(candidates, Mapping) else {}
    completions = [
        SimpleCompletion(each, type=kinds.get(each) or _kind(each)) for each in candidates or ()
    ]
    return SimpleMatcherResult(
        completions=completions, suppress=bool(completions), matched_fragment=word, ordered=True
    )


def _kind(candidate: str) -> str:
    if candidate.startswith("-"):
        return "flag"
    return "model" if ":" in candidate and not candidate.startswith('"') else "name"


def _paths(word: str) -> list[str]:
    """Return files and folders that begin so, spelled as the word is."""
    head, slash, name = word.rpartition("/")
    folder = Path(head + slash).expanduser()
    found = (each for each in folder.glob("*") if each.name.startswith(name))
    return sorted(f"{head}{slash}{each.name}{'/' * each.is_dir()}" for each in found)[:MOST]
