"""The parsers of flags and words, made of the commands. Nothing here imports the engine."""

import argparse
import re
from collections.abc import Sequence
from typing import Final, NoReturn

from IPython.core.error import UsageError

from jan_magics.magics.commands import ALIASES, Flag
from jan_magics.magics.meanings import MEANINGS
from jan_magics.magics.reading import holds_key, literal_key
from jan_magics.magics.words import Word, nearest, words

_FLAG: Final = re.compile(r"--?[A-Za-z]")


class HelpAsked(Exception):
    """Carry the help text that was asked for."""


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of leaving, and suggests the nearest flag."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the nearest known flag."""
        unknown = re.search(r"unrecognized arguments: (\S+)", message)
        if unknown:
            message = self._unknown(unknown[1].partition("=")[0])
        raise self.refusal(message)

    def refusal(self, message: str) -> UsageError:
        """Return the error of a line that cannot be read, with the next step below it."""
        return UsageError(f"{self.prog}: {message}\nSee: {self.prog} --help")

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
        return f"no flag {word}" + (f", closest: {meant}" if meant else "")


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
        many: str | None = "?" if name.startswith("[") else "+" if name.endswith("…") else None
        parser.add_argument(
            name.strip("[]…").lower().replace("|", "_or_"), nargs=many,
            metavar=name.strip("[]…"), help=_escaped(MEANINGS.get(name.strip("[]…"), "")),
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
    if holds_key(line):
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
        raise parser.refusal(
            f"the flag {inside[0]} stands inside the text. "
            "Flags come before it; or write the prompt in a %%chat cell."
        )
    head = line[:start]
    if holds_key(head):
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
            if not value.quoted and value.text.partition("=")[0] in parser.flags():
                parser.error(
                    f"{word.text} has no value: {value.text} is a flag. "
                    f"If it is meant as the value, quote it: {word.text} '{value.text}'"
                )
            arguments.append(f"{flag}={value.text}")
        else:
            arguments.append(flag if known else word.text)
    return arguments
