"""Every verb of `%rag` with its flags, as data. Nothing here imports the engine."""

from typing import Final

from jan_magics.magics.commands import LIVE, Flag, Verb
from jan_magics.magics.reading import collection, cosine, grid_axis, rows

CUTTING: Final = (
    Flag(("--size",), "N|Nc", "tokens of a chunk (200), or characters: 512c"),
    Flag(("--overlap",), "N", "what a chunk repeats of the one before it (a fifth, 40 at most)"),
    Flag(
        ("--splitter",),
        "HOW",
        "where it is cut (recursive)",
        choices=("recursive", "chars", "markdown", "code", "tokens"),
    ),
)
"""How documents are cut."""

WHERE: Final = Flag(
    ("-c", "--collection"),
    "NAME|PATH",
    "in this collection, not the default; also postgresql://host/db#name",
    collection,
)
KEEP: Final = Flag(("-o",), "VAR", "put the table into a variable")
"""Every verb that returns a table takes it."""
LOOKING: Final = (
    WHERE,
    Flag(("-k",), "N", "at most so many rows (5)", rows),
    Flag(("--mode",), "HOW", "by words, by vectors, or both (hybrid)",
         choices=("hybrid", "vector", "keyword")),
    Flag(("--threshold",), "X", "only chunks at least so near: a cosine", cosine),
    Flag(("--rerank",), "HOW", "a second look: minilm, or mmr for variety"),
    Flag(("--where",), "EXPR", "only what passes: source ~ 'guide' and page < 9"),
    Flag(("--all",), "", "also what is not used, with what dropped it"),
)  # fmt: skip

RAG_VERBS: Final = (
    Verb("help", "show help", ("[TOPIC]",)),
    Verb("collections", "list the collections", flags=(KEEP,)),
    Verb("use", "make a collection the default here; without a name, the notebook's own again",
         ("[NAME|PATH]",)),
    Verb(
        "add", "read files, folders, patterns or a table into a collection", ("PATH…",),
        (WHERE, *CUTTING,
         Flag(("--embedder",), "NAME", "who makes the vectors: static, minilm, e5, none"),
         Flag(("--dask",), "ADDRESS", "read, cut and embed on the workers of this Dask scheduler"),
         Flag(("--text",), "COLUMN", "of a table: the column that holds the text"), KEEP),
    ),
    Verb("documents", "list what is in a collection", flags=(WHERE, KEEP)),
    Verb("remove", "forget a document, a folder of them, or what a pattern matches", ("SOURCE",),
         (WHERE,)),
    Verb("delete", "move a collection to the bin", ("NAME",),
         (Flag(("--off",), "", "take the last deletion of that name back"),)),
    Verb(
        "search", "show what a question finds, with every score", (),
        (*LOOKING, LIVE, KEEP), "TEXT",
    ),
    Verb(
        "explain", "say why a chunk is not used, and what would let it in", (),
        (Flag(("--chunk",), "ID", "which chunk, by its id"), *LOOKING, KEEP), "TEXT",
    ),
    Verb("questions", "make questions from headings, glossaries and FAQs", (),
         (WHERE, Flag(("-n",), "N", "at most so many (50)", rows), KEEP)),
    Verb(
        "evaluate", "measure searches on questions whose answers are known", ("FILE|DF",),
        (WHERE,
         Flag(("--grid",), "KEY=A,B", "try each of these: mode, k, size, splitter, …", grid_axis,
              repeat=True),
         Flag(("--per-question",), "", "a row a question, not a row a setting"), KEEP),
    ),
    Verb("push", "send a collection with its vectors to a server; what is equal is not sent again",
         ("URL",), (WHERE, KEEP)),
    Verb("pull", "fetch a collection with its vectors from a server", ("URL",), (WHERE, KEEP)),
    Verb("doctor", "check a collection", (),
         (WHERE, Flag(("--vacuum",), "", "first make its file as small as it can be"), KEEP)),
    Verb(
        "chunks", "show how a file would be cut; nothing is stored", ("PATH",),
        (*CUTTING, Flag(("--grid",), "KEY=A,B", "try each of these: size, overlap, splitter",
                        grid_axis, repeat=True), KEEP),
    ),
)  # fmt: skip
"""What each of them does is in `retrieving.RUN`, by its name."""
