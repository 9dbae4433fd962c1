"""Help texts, made of the same data as the parsers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from IPython.core.error import UsageError

from jan_magics.magics.arguments import make_parser
from jan_magics.magics.commands import ASKING, VERBS
from jan_magics.magics.manual import TOPICS
from jan_magics.magics.words import nearest

INTRODUCTION = """\
%%chat                ask a language model: the cell below the line is the prompt
%chat VERB            everything else; %chat help VERB and --help say more

"""

FURTHER: Final = f"Topics: %%chat, {', '.join(TOPICS)}"
ASSISTANTS: Final = """
%%chat -a NAME answers as an assistant, and the thread remembers it; -a default takes it back.
Its parameters are below those of flags; -s adds to its instructions.

Filled in at every send, in instructions and -s, in your time zone:
  {{current_date}} {{current_time}} {{timezone}} {{notebook}} {{model}}       \\{{ stays as it is
"""

BACK: Final = """
What sticks is taken back by nothing: -s ""  -a default  -P temperature=null, and so
-P NAME=null for model, thread, max_tokens, window, overflow and every parameter.
"""
CASSETTES: Final = """
Without FILE: <notebook>.jan.jsonl beside the notebook. What is asked again takes the place of what
was recorded before; {{current_time}} stands where the cassette was begun: delete it to begin anew.

JAN_REPLAY=FILE or FOLDER replays from the first cell: for pytest --nbval, jupyter execute, a class.
In Python: with jan.replay(FILE): …    In a shell: jan-magics replay NOTEBOOK --check
"""
LEAKS: Final = """
Without PATH: this notebook, its cassette, all threads and collections, those in the bin too. PATH
is a notebook, any file, a collection, a folder or a data folder. Found are keys and tokens by their
form, private keys, passwords in addresses, JWT, random values under a telling name, e-mail and
phone numbers, each with a masked sample.

A cell with a key or a private key is not sent to another machine: --send-anyway sends it. All else
only warns. Not read: images and PDF. %chat store --vacuum empties the bin.
In Python: jan.leaks(PATH)    In a shell: jan-magics leaks PATH --scrub
"""
TOOLS: Final = """
--mcp takes a file as other programs write it, {"mcpServers": {NAME: {"command": …} or {"url": …}}},
or an address. Nothing is started before a turn needs it, and a person is asked before. A server
that wants a key: %chat key ADDRESS, or "headers" in the file, then add it again.

Where schemas take over a tenth of the input, or come from several servers, a turn offers those that
its question is about, and says which it leaves out. %config JanMagics.tool_router = NAME chooses:
  keywords   by words of the prompt; where none fits, all
  embedder   also by what is meant, with the embedder of this machine
  model      the model names them, by a request of its own
  off        all of them
"""
MORE: Final[Mapping[str, str]] = MappingProxyType({
    "assistants": ASSISTANTS, "use": BACK, "record": CASSETTES, "replay": CASSETTES, "leaks": LEAKS,
    "tools": TOOLS,
})  # fmt: skip


def help_text(topic: str) -> str:
    """Return the help on a verb or topic, or the list. Raises UsageError for an unknown topic."""
    if not topic:
        lines = (
            f"  {' '.join((each.name, *each.words, each.text)):<28}{each.summary}" for each in VERBS
        )
        return INTRODUCTION + "\n".join((*(line.rstrip() for line in lines), "", FURTHER))
    if told := TOPICS.get(topic.lstrip("%-")):
        return told()
    if topic.lstrip("%") == "chat":
        return make_parser(
            "%%chat", "The cell is the prompt.", ASKING, ("[MODEL|THREAD]",)
        ).format_help()
    for verb in VERBS:
        if verb.name == topic:
            words = (*verb.words, verb.text) if verb.text else verb.words
            parser = make_parser(f"%chat {verb.name}", verb.summary, verb.flags, words)
            return parser.format_help() + MORE.get(verb.name, "")
    meant = nearest(topic, [*(verb.name for verb in VERBS), *TOPICS])
    closest = f", closest: {meant}" if meant else ""
    raise UsageError(f"no help on {topic!r}{closest}. List the verbs: %chat help")
