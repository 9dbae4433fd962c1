"""Every verb of `%rag` with its flags, as data. Nothing here imports the engine."""

from typing import Final

from jan_magics.magics.commands import Flag, Verb
from jan_magics.magics.reading import grid_axis

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

RAG_VERBS: Final = (
    Verb("help", "show help", ("[TOPIC]",)),
    Verb(
        "chunks", "show how a file would be cut; nothing is stored", ("PATH",),
        (*CUTTING, Flag(("--grid",), "KEY=A,B", "try each of these: size, overlap, splitter",
                        grid_axis, repeat=True)),
    ),
)  # fmt: skip
"""What each of them does is in `retrieving.RUN`, by its name."""
