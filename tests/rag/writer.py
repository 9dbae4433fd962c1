"""A process that ingests until it is killed, or for a while, for the tests of several processes.

usage: writer.py FILE NAME ROUNDS [KIND]; prints a line after each round.
"""

import sys
from pathlib import Path

from jan_magics.domain.retrieval import Document
from tests.rag.library import add, opened


def version(name: str, n: int) -> Document:
    """Return the n-th form of a document: 20 chunks, each of which says n."""
    lines = (f"{name} line{line} form{n} of this text\n" for line in range(20))
    return Document(f"{name}.txt", "".join(lines))


def main(path: str, name: str, rounds: int, kind: str = "sqlite") -> None:
    """Write a document anew, round after round."""
    collection = opened(Path(path), kind=kind)
    for n in range(rounds):
        add(collection, version(name, n))
        sys.stdout.write(f"{n}\n")
        sys.stdout.flush()
    collection.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
