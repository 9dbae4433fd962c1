"""Answers of real servers, as they came over the wire; only headers of the machine are removed."""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "streams"


@dataclass(frozen=True)
class Recording:
    status: int
    content_type: str
    body: bytes

    @property
    def stream(self) -> bool:
        return self.content_type.startswith("text/event-stream")


def load(name: str) -> Recording:
    head, _, body = (FOLDER / f"{name}.txt").read_bytes().partition(b"\n\n")
    status, *headers = head.decode().splitlines()
    kind = next((line.partition(": ")[2] for line in headers), "")
    return Recording(int(status.removeprefix("HTTP ")), kind, body)


def names(pattern: str = "*") -> list[str]:
    return sorted(path.stem for path in FOLDER.glob(f"{pattern}.txt"))
