"""Every flag of `%%chat` and every verb of `%chat`, as data. Nothing here imports the engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from jan_magics.magics.reading import (
    amount,
    at_a_time,
    collection,
    cosine,
    count,
    grid_axis,
    model_name,
    parameter,
    rows,
    steps,
    temperature,
    thread_name,
    tool_names,
)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag; `value` names what follows it, "" for a switch; `sticky`: `use` takes it too."""

    names: tuple[str, ...]
    value: str
    help: str
    kind: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    repeat: bool = False
    sticky: bool = False

    @property
    def key(self) -> str:
        """Return the attribute that holds the value."""
        return self.names[-1].lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of `%chat`; `words` are its positional arguments, `[x]` = may be left out.

    `text` names free text that runs verbatim to the end of the line.
    """

    name: str
    summary: str
    words: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    text: str = ""


LIVE: Final = Flag(("--live",), "", "as a view in the page, with controls")
"""A table or a text that moves, where a page can show that."""

ASKING: Final = (
    Flag(("-m", "--model"), "PROVIDER:NAME", "who answers", model_name, sticky=True),
    Flag(("-t", "--thread"), "NAME", "in which thread", thread_name, sticky=True),
    Flag(("-a", "--assistant"), "NAME", "as whom: %chat assistants", sticky=True),
    Flag(("-s", "--system"), "TEXT", "instructions, with {{current_date}} …", sticky=True),
    Flag(("--temperature",), "X", "how freely, from 0 to 2", temperature, sticky=True),
    Flag(
        ("--max-tokens",),
        "N",
        "at most so many tokens in the answer; 0: no limit",
        count,
        sticky=True,
    ),
    Flag(("--window",), "N", "the context window in tokens; 0: no limit", count, sticky=True),
    Flag(
        ("--overflow",),
        "HOW",
        "what is done when history does not fit",
        choices=("trim", "compact", "error"),
        sticky=True,
    ),
    Flag(
        ("-c", "--collection"),
        "NAME|PATH",
        "send what this collection has of the prompt",
        collection,
        sticky=True,
    ),
    Flag(("-k",), "N", "at most so many chunks of it (5)", rows, sticky=True),
    Flag(("--threshold",), "X", "only chunks at least so near: a cosine", cosine, sticky=True),
    Flag(
        ("--tools",),
        "NAME,…",
        "what the model may call: functions and MCP servers by name, or none",
        tool_names,
        sticky=True,
    ),
    Flag(("--max-steps",), "N", "at most so many model calls in a turn (8)", steps, sticky=True),
    Flag(("-P",), "KEY=VALUE", "another parameter", parameter, repeat=True, sticky=True),
    Flag(("--yes",), "", "run what the model calls without asking"),
    Flag(("--query",), "TEXT", "look this up in the collection, not the prompt"),
    Flag(
        ("--attach",),
        "PATH|VAR",
        "send this with the prompt: a file, a folder, a DataFrame, a figure, an image",
        repeat=True,
    ),
    Flag(
        ("--schema",),
        "NAME|JSON",
        "the form of the answer, for answer.data: a variable (class or dict), or a JSON schema",
    ),
    Flag(("--at",), "ID", "below that message; head: at the end of what is shown"),
    Flag(("--reuse",), "", "the stored answer, if prompt, path, model, parameters are unchanged"),
    Flag(("--no-history",), "", "ask without what was said before; the thread does not move"),
    Flag(
        ("--grid",),
        "KEY=A,B",
        "ask under each of these settings; the thread does not move",
        grid_axis,
        repeat=True,
    ),
    Flag(("--needle",), "TEXT", "with --grid: whether this comes back in the answer"),
    Flag(
        ("--map",),
        "DF",
        "ask a turn a row of this table, with {{row.column}} in the prompt; the"
        " thread does not move",
    ),
    Flag(("--concurrency",), "N", "with --map: so many rows at a time (4)", at_a_time),
    Flag(("--max-cost",), "X", "with --map: no row that may cost more than this in all", amount),
    Flag(("--prefix",), "P", "with --map: the new columns begin so"),
    Flag(("--again",), "", "with --map: ask also the rows that were answered before"),
    Flag(("--dry-run",), "", "show what would be sent; nothing is sent"),
    Flag(("-o",), "VAR", "put the answer into a variable"),
    Flag(("-f",), "FORMAT", "what is shown", choices=("markdown", "text", "code", "json")),
    Flag(("-q",), "", "show nothing"),
    Flag(("--to-cell",), "", "make a new cell of the answer's code"),
    Flag(("--no-stream",), "", "show the answer only when it is whole"),
    Flag(("--background",), "", "answer while other cells run"),
    Flag(("--literal",), "", "send {{ }} as it is typed"),
    Flag(("--send-anyway",), "", "send it also when a key stands in it"),
)
STICKY: Final = tuple(flag for flag in ASKING if flag.sticky)
ALIASES: Final = {"--chat_id": "--thread", "-i": "--thread"}
"""Spellings that other tools taught; accepted, never shown."""

VERBS: Final = (
    Verb("ask", "ask on the line", flags=ASKING, text="TEXT"),
    Verb("fix", "ask about the error of the last cell", flags=ASKING),
    Verb("use", "make a model, a thread or flags stick", ("[MODEL|THREAD]",), STICKY),
    Verb("stop", "stop what is being answered"),
    Verb("help", "show help", ("[TOPIC]",)),
    Verb("version", "show the version"),
    Verb("threads", "list the threads"),
    Verb("new", "begin a new thread; in an existing one, a new root branch", ("[NAME]",)),
    Verb("rename", "give a thread another name", ("[OLD]", "NEW")),
    Verb("delete", "move a thread to the bin", ("THREAD",)),
    Verb(
        "find", "search all threads", (),
        (Flag(("-t", "--thread"), "NAME", "in one thread only", thread_name),), "WORDS",
    ),
    Verb("export", "write the thread to a .json, .md or .ipynb file, or a Jan folder", ("FILE",)),
    Verb("import", "read threads from such a file, a notebook or a Jan folder", ("PATH",)),
    Verb(
        "show", "show the thread, or one message", ("[ID]",),
        (LIVE, Flag(("--sent",), "", "what the newest turn sent")),
    ),
    Verb("tree", "show every version of everything", flags=(LIVE,)),
    Verb("go", "go to a message, or to another version of the answer", ("ID|N|next|prev",)),
    Verb("retry", "answer the last question once more, or the question of a message", ("[ID]",)),
    Verb("resume", "go on with an answer that was cut", ("[ID]",)),
    Verb("diff", "compare two versions: ids, or numbers of versions", ("[A]", "[B]")),
    Verb("drop", "hide a message: it is kept and not sent", ("ID",)),
    Verb("undo", "take the thread's last change back; again: one further"),
    Verb("budget", "show how the context window is filled", flags=(LIVE,)),
    Verb("plan", "show what would be sent with a prompt, message by message", text="[TEXT]"),
    Verb("mark", "decide about messages of this branch",
         ("ID…", "keep|drop|pin|summarise")),
    Verb(
        "compact", "let the model summarise all but the newest turns", (),
        (Flag(("--keep",), "N", "so many turns stay word for word", count),
         Flag(("--dry-run",), "", "show what would change; the summary is made and not kept"),
         Flag(("--off",), "", "take the last compaction back")),
    ),
    Verb("clear", "send nothing of what was said so far; nothing is deleted", (),
         (Flag(("--off",), "", "send it again"),)),
    Verb("models", "list the models that can answer here"),
    Verb(
        "assistants", "list the assistants: instructions and default parameters under a name", (),
        (
            Flag(("--new",), "NAME", "make one, and put a cell below that edits it"),
            Flag(("--edit",), "NAME", "put a cell below that edits it; run the cell to save"),
        ),
    ),
    Verb(
        "tools", "list what a model may call: functions, and tools of MCP servers", (),
        (Flag(("--add",), "NAME", "offer a function at every turn"),
         Flag(("--mcp",), "FILE|URL", "offer the tools of MCP servers at every turn", repeat=True),
         Flag(("--remove",), "NAME", "offer a function, or a server's tools, no more")),
    ),
    Verb("config", "list every setting with its value and source"),
    Verb("key", "store a key, typed without being shown", ("PROVIDER",)),
    Verb("record", "write what is asked and answered into a cassette", ("[FILE]",),
         (Flag(("--off",), "", "end the recording"),)),
    Verb(
        "replay", "answer from a cassette: no model, no network, a scratch store", ("[FILE]",),
        (Flag(("--missing",), "HOW", "what is done about a request that is not recorded",
              choices=("error", "live", "offline")),
         Flag(("--check",), "", "run this notebook in a fresh kernel, and say what differs"),
         Flag(("--off",), "", "go on as before")),
    ),
    Verb(
        "leaks", "look for keys, passwords and addresses of people in notebook and threads",
        ("[PATH]",),
        (Flag(("--scrub",), "", "take secrets out of the notebook at PATH; no copy is kept"),),
    ),
    Verb(
        "store", "say where threads are kept", (),
        (Flag(("--init",), "", "make a .jan folder here and keep threads in it"),
         Flag(("--convert",), "KIND", "copy all to the other kind", choices=("sqlite", "jsonl")),
         Flag(("--backup",), "FILE", "copy everything to a new file"),
         Flag(("--vacuum",), "", "empty the bin for good")),
    ),
    Verb("doctor", "check everything that must work", (),
         (Flag(("--fix",), "", "mend what can be mended; %chat undo takes links back"),)),
)  # fmt: skip
