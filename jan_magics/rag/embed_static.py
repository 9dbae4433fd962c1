"""Static vectors: the mean of a text's token vectors, from the weights that wordllama carries.

Only its files are read: importing the package loads what this does not need, and its own loader
goes to the network.
"""

import json
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag.vectors import FloatMatrix

DIM: Final = 256
INSTALL: Final = "pip install 'jan-magics[rag]'"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENS: Final = "tokenizers/l2_supercat_tokenizer_config.json"


class StaticEmbedder:
    """Vectors of 256 numbers, some 10,000 chunks a second, of many languages; no order of words.

    Raises:
        EmbedderError: when wordllama or splintr-rs is not installed.
    """

    def __init__(self) -> None:
        try:
            import splintr
        except ImportError as error:
            raise EmbedderError("splintr-rs is not installed", INSTALL) from error
        folder = _folder()
        self._tokenizer: Any = splintr.from_json(str(folder / _TOKENS))
        self._table = _table(folder / _WEIGHTS)
        self._revision = version("wordllama")

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable with stored ones."""
        return Fingerprint("static", self._revision, DIM)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> FloatMatrix:
        """Return float32 rows (n, 256) of unit length; a text without tokens gets zeros."""
        rows = np.zeros((len(texts), DIM), np.float32)
        for place, text in enumerate(texts):
            tokens = self._tokens(text)
            # Seven times as fast as a sum along the rows.
            np.dot(np.ones(len(tokens), np.float32), self._table.take(tokens, 0), out=rows[place])
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        unit: FloatMatrix = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return unit

    def reads(self, text: str) -> bool:
        """Return True: its tokens reach every script, if only by bytes."""
        return True

    def _tokens(self, text: str) -> list[int]:
        # Half a character cannot be encoded.
        found: list[int] = self._tokenizer.encode_raw(text.encode(errors="replace").decode())
        return found


def _folder() -> Path:
    spec = find_spec("wordllama")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / _WEIGHTS).is_file() and (Path(place) / _TOKENS).is_file():
            return Path(place)
    raise EmbedderError("wordllama is not installed, or without its weights", INSTALL)


def _table(path: Path) -> FloatMatrix:
    """Read the only tensor of a safetensors file: a length, a header in JSON, then the numbers."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8 : 8 + size])["embedding.weight"]
    begin, end = entry["data_offsets"]
    kinds: dict[str, npt.DTypeLike] = {"F16": "<f2", "F32": "<f4"}
    numbers = np.frombuffer(data[8 + size + begin : 8 + size + end], kinds[entry["dtype"]])
    return numbers.reshape(entry["shape"]).astype(np.float32)
