"""Flags and verbs as data, and the parsers made of them. Nothing here imports the engine."""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from IPython.core.error import UsageError

from jan_magics.magics.meanings import MEANINGS
from jan_magics.magics.reading import (
    count,
    literal_key,
    model_name,
    parameter,
    temperature,
    thread_name,
)
from jan_magics.magics.words import Word, nearest, words

_FLAG: Final = re.compile(r"--?[A-Za-z]")
_KEY: Final = re.compile(r"\b(sk|gsk|pk|xai|hf|AIza|ghp|glpat)[-_]?[A-Za-z0-9_-]{20,}")


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


class HelpAsked(Exception):
    """Carry the help text that was asked for."""


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
    Flag(("-P",), "KEY=VALUE", "another parameter", parameter, repeat=True, sticky=True),
    Flag(("--at",), "ID", "below that message; head: at the end of what is shown"),
    Flag(("--reuse",), "", "the stored answer, if prompt, path, model, parameters are unchanged"),
    Flag(("--no-history",), "", "ask without what was said before; the thread does not move"),
    Flag(("--dry-run",), "", "show what would be sent; nothing is sent"),
    Flag(("-o",), "VAR", "put the answer into a variable"),
    Flag(("-f",), "FORMAT", "what is shown", choices=("markdown", "text", "code", "json")),
    Flag(("-q",), "", "show nothing"),
    Flag(("--to-cell",), "", "make a new cell of the answer's code"),
    Flag(("--no-stream",), "", "show the answer only when it is whole"),
    Flag(("--background",), "", "answer while other cells run"),
    Flag(("--literal",), "", "send {{ }} as it is typed"),
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
        (Flag(("--sent",), "", "what the newest turn sent"),),
    ),
    Verb("tree", "show every version of everything"),
    Verb("go", "go to a message, or to another version of the answer", ("ID|N|next|prev",)),
    Verb("retry", "answer the last question once more, or the question of a message", ("[ID]",)),
    Verb("resume", "go on with an answer that was cut", ("[ID]",)),
    Verb("diff", "compare two versions: ids, or numbers of versions", ("[A]", "[B]")),
    Verb("drop", "hide a message: it is kept and not sent", ("ID",)),
    Verb("undo", "take the thread's last change back; again: one further"),
    Verb("models", "list the models that can answer here"),
    Verb(
        "assistants", "list the assistants: instructions and default parameters under a name", (),
        (
            Flag(("--new",), "NAME", "make one, and put a cell below that edits it"),
            Flag(("--edit",), "NAME", "put a cell below that edits it; run the cell to save"),
        ),
    ),
    Verb("config", "list every setting with its value and source"),
    Verb("key", "store a key, typed without being shown", ("PROVIDER",)),
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


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of leaving, and suggests the nearest flag."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the nearest known flag."""
        unknown = re.search(r"unrecognized arguments: (\S+)", message)
        if unknown:
            message = self._unknown(unknown[1].partition("=")[0])
        raise UsageError(f"{self.prog}: {message}")

    def flags(self) -> tuple[str, ...]:
        """Return every spelling of every flag, those that other tools taught too."""
        known = self._option_string_actions
        return (*known, *(alias for alias, name in ALIASES.items() if name in known))

    def takes_value(self, flag: str) -> bool:
        """Tell whether a flag is followed by a value."""
        return self._option_string_actions[ALIASES.get(flag, flag)].nargs != 0

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"{word!r} is one word too many. Quote a name that has spaces."
        meant = nearest(word, self.flags())
        return f"no flag {word}" + (
            f", closest: {meant}" if meant else f". See: {self.prog} --help"
        )


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        raise HelpAsked(parser.format_help())


def make_parser(
    prog: str, summary: str, flags: Sequence[Flag], positionals: Sequence[str]
) -> Parser:
    """Make a parser of flags and positional words; `[x]` may be left out."""
    parser = Parser(
        prog, description=summary, add_help=False, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help")
    for name in positionals:
        optional = name.startswith("[")
        parser.add_argument(
            name.strip("[]").lower().replace("|", "_or_"), nargs="?" if optional else None,
            metavar=name.strip("[]"), help=_escaped(MEANINGS.get(name.strip("[]"), "")),
        )  # fmt: skip
    for flag in flags:
        _add_flag(parser, flag)
    return parser


def _escaped(text: str) -> str:
    return text.replace("%", "%%")  # argparse fills its own names in


def _add_flag(parser: Parser, flag: Flag) -> None:
    text = _escaped(flag.help)
    names = flag.names
    if not flag.value:
        parser.add_argument(*names, dest=flag.key, action="store_true", help=text)
        return
    parser.add_argument(
        *names, dest=flag.key, type=flag.kind, metavar=flag.value, help=text,
        choices=flag.choices or None, action="append" if flag.repeat else "store",
    )  # fmt: skip


def parse(parser: Parser, line: str) -> argparse.Namespace:
    """Parse a whole line of flags and words.

    Raises:
        UsageError: when a flag is unknown or a value cannot be read.
        HelpAsked: when help was asked for.
        KeyRefused: when a key stands on the line.
    """
    if _KEY.search(line):
        raise literal_key()
    return parser.parse_args(_joined(parser, list(words(line))))


def parse_with_text(parser: Parser, line: str) -> tuple[argparse.Namespace, str]:
    """Parse leading flags; the rest of the line is returned exactly as it was typed.

    Raises:
        UsageError: also when a known flag stands inside the text.
    """
    taken: list[Word] = []
    reader = words(line)
    start = len(line)
    value_follows = False
    while (match := re.compile(r"\S").search(line, taken[-1].end if taken else 0)) is not None:
        if not value_follows and not _FLAG.match(line, match.start()):
            start = match.start()
            break
        word = next(reader)
        taken.append(word)
        value_follows = (
            not value_follows and word.text in parser.flags() and parser.takes_value(word.text)
        )
    text = line[start:].rstrip()
    inside = [word for word in text.split() if word in parser.flags()]
    if inside:
        raise UsageError(
            f"{parser.prog}: the flag {inside[0]} stands inside the text. "
            "Flags come before it; or write the prompt in a %%chat cell."
        )
    head = line[:start]
    if _KEY.search(head):
        raise literal_key()
    return parser.parse_args(_joined(parser, taken)), text


def _joined(parser: Parser, taken: Sequence[Word]) -> list[str]:
    """Join a flag and its value with `=`, so that a value may begin with a dash."""
    arguments: list[str] = []
    rest = iter(taken)
    for word in rest:
        flag = ALIASES.get(word.text, word.text)
        known = not word.quoted and flag in parser.flags()
        if known and parser.takes_value(flag) and (value := next(rest, None)) is not None:
            joiner = "=" if flag.startswith("--") else ""
            arguments.append(f"{flag}{joiner}{value.text}")
        else:
            arguments.append(flag if known else word.text)
    return arguments
