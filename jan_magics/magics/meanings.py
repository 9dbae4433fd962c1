"""What the words behind a verb mean, for its help."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MEANINGS: Final[Mapping[str, str]] = MappingProxyType({
    "MODEL|THREAD": "a model, which has a colon, or a thread",
    "TOPIC": "a verb, %%chat, map or schema",
    "NAME": "its name",
    "NAME|PATH": "the name of a collection, or its file",
    "FILE|DF": "a table of questions: a variable, or a .csv, .tsv, .json or .jsonl file",
    "SOURCE": "what names the document: %rag documents lists it",
    "OLD": "the thread; left out: the one in use",
    "NEW": "its new name",
    "THREAD": "the name of a thread, or the beginning of its id",
    "FILE": "a file, relative to the notebook",
    "PATH": "what to read, relative to the notebook",
    "ID": "a message: its id, or the beginning of it",
    "ID|N|next|prev": "a message's id, or a version of the answer",
    "keep|drop|pin|summarise": "keep: sent; drop: not sent; pin: always sent, also after clear;"
    " summarise: goes into the next summary",
    "A": "an id, or the number of a version",
    "B": "the other one",
    "PROVIDER": "its name, or an address: https://HOST",
    "URL": "a collection on a server: postgresql://USER@HOST/DATABASE#NAME",
    "TEXT": "the prompt or question, as it is typed, to the end of the line",
    "WORDS": 'all of them must be there; "in quotes" they stand together',
})  # fmt: skip
