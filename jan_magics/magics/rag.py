"""`%rag VERB` looks after documents, and searches them."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from jan_magics.magics.arguments import HelpAsked, Parser, make_parser, parse, parse_with_text
from jan_magics.magics.commands import Verb
from jan_magics.magics.keeping import keep, variable
from jan_magics.magics.line import Line, for_reader, stopped_for_reader
from jan_magics.magics.loading import load_retrieval
from jan_magics.magics.rag_commands import RAG_VERBS
from jan_magics.magics.words import nearest

STATUS = Verb("", "say which collection is the default")
INTRODUCTION = """\
%rag                  the default collection
%rag VERB             documents: how they are cut, kept and found; --help says more

"""


@magics_class
class RagMagics(Magics):
    """Documents of this notebook."""

    shell: Any

    @no_var_expand
    @line_magic("rag")  # type: ignore[arg-type]  # its stub takes no methods
    def rag(self, line: str) -> object:
        """Look after documents.

        ::

            %rag add papers/               read, cut and keep documents
            %rag search -k 3 WORDS         what is found, with every score
            %rag chunks notes.md           how it would be cut
            %rag help                      lists the verbs
        """
        try:
            load_retrieval()
            return for_reader(_run(self, line))
        except KeyboardInterrupt as interrupt:
            # It may have come while libraries were loaded.
            raise stopped_for_reader(interrupt, "nothing was begun") from None
        except HelpAsked as asked:
            print(asked)
            return None


def _run(magics: RagMagics, line: str) -> object:
    """Run the verb at the beginning of a line; without one, say what the default is."""
    from jan_magics.magics.filling import fill, filled
    from jan_magics.magics.retrieving import RUN
    from jan_magics.notebook.bridge import Stopped

    name, _, rest = line.strip().partition(" ")
    if name in ("-h", "--help"):
        return Line(rag_help(""))
    if name.endswith("?"):
        return Line(rag_help(name.rstrip("?")))
    verb = next((each for each in (STATUS, *RAG_VERBS) if each.name == name), None)
    if verb is None:
        raise UsageError(f"%rag: no verb {name!r}{_closest(name)}\nSee: %rag help")
    if verb.name == "help":
        return Line(rag_help(parse(parser_of(verb), rest).topic or ""))
    text = ""
    if verb.text:
        try:
            parsed, text = parse_with_text(parser_of(verb), rest)
        except HelpAsked:
            raise HelpAsked(rag_help(name)) from None  # with the text among the words
    else:
        parsed = parse(parser_of(verb), rest)
    kept = variable(getattr(parsed, "o", None), "table")
    parsed, text = filled(magics.shell, parsed), fill(magics.shell, text)
    try:
        shown = RUN[name](magics, parsed, text)
        return shown if getattr(parsed, "live", False) else keep(magics.shell, kept, shown)
    except Stopped as stopped:
        if stopped.answer is not None:
            keep(magics.shell, kept, stopped.answer)
        raise
    except KeyboardInterrupt:
        raise Stopped(why=f"%rag {name} has not ended".replace("  ", " ")) from None


def rag_help(topic: str) -> str:
    """Return the help on a verb, or the list of verbs. Raises UsageError for an unknown topic."""
    if not topic:
        lines = (
            f"  {' '.join((each.name, *each.words, each.text)):<28}{each.summary}"
            for each in RAG_VERBS
        )
        return INTRODUCTION + "\n".join(line.rstrip() for line in lines)
    verb = next((each for each in RAG_VERBS if each.name == topic), None)
    if verb is None:
        raise UsageError(f"no help on {topic!r}{_closest(topic)}. List the verbs: %rag help")
    return parser_of(verb, with_text=True).format_help()


def parser_of(verb: Verb, *, with_text: bool = False) -> Parser:
    """Return the parser of a verb."""
    words = (*verb.words, verb.text) if with_text and verb.text else verb.words
    return make_parser(f"%rag {verb.name}", verb.summary, verb.flags, words)


def _closest(name: str) -> str:
    meant = nearest(name, [each.name for each in RAG_VERBS])
    return f", closest: {meant}" if meant else ""
