"""What is fuzzed: functions that take any bytes, and fail when something is not as it must be.

A typed error is a good answer; any other exception, or a law that does not hold, is a find.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Final, TypeAlias

import apsw
from IPython.core.error import UsageError

from jan_magics.domain.errors import JanError, StoreError, WhereError
from jan_magics.domain.retrieval import Document, Kind
from jan_magics.domain.segmentation import index_words, query_phrases
from jan_magics.magics.arguments import HelpAsked, make_parser, parse, parse_with_text
from jan_magics.magics.commands import ASKING, VERBS
from jan_magics.magics.verbs import verb_parser
from jan_magics.magics.words import split_values, words
from jan_magics.rag import keywords, where
from jan_magics.rag.chunking import cut
from jan_magics.rag.citation_shapes import citations_as
from jan_magics.rag.citations import cite
from jan_magics.rag.counting import counter_here
from jan_magics.rag.documents import read_bytes
from jan_magics.rag.footnotes import footnoted
from jan_magics.rag.recipes import recipe_of
from jan_magics.storage import search_rows
from jan_magics.storage.codec import (
    canonical,
    decode_message,
    decode_thread,
    encode_message,
    encode_thread,
)
from jan_magics.storage.codec import parse as parse_json
from jan_magics.storage.log import read_log
from tests.providers.test_wires import usable
from tests.providers.wires import WIRES
from tests.rag.sources import HITS, TEXTS

Target: TypeAlias = Callable[[bytes], None]

PARSERS: Final = (
    make_parser("%%chat", "", ASKING, ("[MODEL|THREAD]",)), *map(verb_parser, VERBS),
)  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = ("text", "markdown", "rst", "code", "table")
SPLITTERS: Final = ("recursive", "chars", "markdown", "code", "tokens")
SUFFIXES: Final = ("md", "html", "csv", "json", "jsonl", "ipynb", "docx", "pptx", "pdf", "xlsx", "")

CHUNK_WORDS: Final = "CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'porter ascii')"
MESSAGE_WORDS: Final = "CREATE VIRTUAL TABLE words USING fts5 (body, tokenize = 'ascii')"


def text_of(data: bytes) -> str:
    """Return bytes as text; what is no UTF-8 gives lone surrogates, as a front end may."""
    return data.decode("utf-8", "surrogateescape")


def magic_line(data: bytes) -> None:
    """Cut a line into words, and read it as a cell and as the verb that its first byte says."""
    line = text_of(data[1:]).partition("\n")[0]
    with suppress(UsageError):
        end = 0
        for word in words(line):
            assert end <= word.start < word.end <= len(line)
            end = word.end
    split_values(line)
    for parser in {PARSERS[0], PARSERS[data[0] % len(PARSERS)] if data else PARSERS[0]}:
        with suppress(UsageError, HelpAsked, JanError):
            parse(parser, line)
        with suppress(UsageError, HelpAsked, JanError):
            _, rest = parse_with_text(parser, line)
            assert line.rstrip().endswith(rest)


def codec(data: bytes) -> None:
    """Read a log of messages; what was read is written so that it is read as the same again."""
    found = read_log(data)
    for _, value in found.entries.values():
        message = decode_message(value)
        assert decode_message(parse_json(canonical(encode_message(message)))) == message
    with suppress(ValueError, StoreError):
        thread = decode_thread(parse_json(data))
        assert decode_thread(parse_json(canonical(encode_thread(thread)))) == thread


def full_text_query(data: bytes) -> None:
    """Ask both indexes: no text is an operator, and what is asked for is found in itself."""
    text = text_of(data)
    chunks, messages = keywords.match(keywords.terms(text)), search_rows._match(query_phrases(text))
    for create, query in ((CHUNK_WORDS, chunks), (MESSAGE_WORDS, messages)):
        connection = apsw.Connection(":memory:")
        connection.execute(create)
        said = " ".join(index_words(text))
        connection.execute("INSERT INTO words (rowid, body) VALUES (1, ?)", (said,))
        if query:
            asked = "SELECT rowid FROM words WHERE words MATCH ?"
            assert connection.execute(asked, (query,)).fetchall() == [(1,)]
        connection.close()


def filters(data: bytes) -> None:
    """Read a condition on metadata: a tree, or what is wrong with it."""
    with suppress(WhereError):
        where.parse(text_of(data))


def chunks(data: bytes) -> None:
    """Cut a text as its first bytes say: spans in order that leave out white space only."""
    head, text = (data[:4] + bytes(4))[:4], data[4:].decode("utf-8", "replace")
    size = head[1] % 60 + 1
    unit = "c" if SPLITTERS[head[0] % 5] == "chars" else ""
    counter = counter_here()
    recipe = recipe_of(
        counter, size=f"{size}{unit}", overlap=f"{head[2] % size}{unit}",
        splitter=SPLITTERS[head[0] % 5],
    )  # fmt: skip
    start = done = -1
    for chunk in cut(Document("a", text, KINDS[head[3] % 5]), recipe, counter):
        assert start < chunk.start < chunk.end <= len(text)
        assert not text[max(done, 0) : chunk.start].strip()
        start, done = chunk.start, chunk.end
    assert not text[max(done, 0) :].strip()


def citations(data: bytes) -> None:
    """Find what an answer cites: each place is in the answer and in its source."""
    answer = text_of(data)
    cited = cite(answer, HITS)
    for each in cited.citations:
        assert 0 <= each.answer_start < each.answer_end <= len(answer)
        assert TEXTS[each.source][each.start : each.end] == each.cited_text
    footnoted(answer, cited.citations, "a")
    for shape in ("anthropic", "cohere"):
        assert canonical(citations_as(shape, answer, cited.citations))


def answers(data: bytes) -> None:
    """Take an answer in on every wire: events, or a typed error with words."""
    for wire in WIRES.values():
        for stream in (True, False):
            assert usable(wire.outcome([data], stream=stream))


def documents(data: bytes) -> None:
    """Read a file as everything that its name may promise: a document, or why not."""
    suffix = SUFFIXES[data[0] % len(SUFFIXES)] if data else ""
    found = read_bytes(data[1:], f"a.{suffix}")
    assert str(found).encode("utf-8", "replace")


TARGETS: Final[Mapping[str, Target]] = MappingProxyType({
    target.__name__: target
    for target in (
        magic_line, codec, full_text_query, filters, chunks, citations, answers, documents,
    )
})  # fmt: skip
