"""Fit the estimator's weights to the vocabularies of splintr; write jan_magics/context/weights.py.

python -m tests.benchmarks.fit_tokens FOLDER      (see token_corpora.py for the folder)
"""

import sys
import textwrap
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import splintr

from jan_magics.context import estimator
from tests.benchmarks.token_corpora import documents, samples

Array = npt.NDArray[np.float64]

VOCABULARIES: Final = {
    "o200k": "o200k_base", "gpt-oss": "o200k_harmony", "cl100k": "cl100k_base", "llama3": "llama3",
    "llama2": "llama2", "qwen": "qwen3", "deepseek": "deepseek_v3", "mistral": "mistral_v3",
    "gemma": "gemma3", "glm": "glm4", "kimi": "kimi_k2", "phi4": "phi4",
}  # fmt: skip
# Those without a published vocabulary: fitted to the mean of others, a little high for safety.
MEANS: Final = {
    "unknown": (("o200k", "cl100k", "llama3", "qwen", "mistral", "gemma", "deepseek"), 1.03),
    "claude": (("cl100k", "llama3"), 1.15),
    "gemini": (("gemma",), 1.0),
}
# The six that are promised count most. Kinds that are not named count as `OTHER`.
IMPORTANCE: Final = {
    "english": 2.5, "chinese": 3.0, "japanese": 2.0, "python": 4.0, "json": 3.0,
    "base64": 1.0, "hex": 1.0, "code": 1.0, "mixed": 1.0, "latin": 0.6,
}  # fmt: skip
OTHER: Final = 0.3
LEAST: Final = 0.05
MOST: Final = 3.0
TARGET: Final = Path(estimator.__file__).with_name("weights.py")


def main(folder: Path) -> None:
    """Fit every family and write the module of weights."""
    texts = documents(folder)
    rows = [
        (kind, text)
        for kind in sorted({each.kind for each in texts})
        for text in samples(texts, kind, "fit")
    ]
    counts = {name: _counts(name, [text for _, text in rows]) for name in VOCABULARIES}
    for name, (families, factor) in MEANS.items():
        counts[name] = np.mean([counts[each] for each in families], axis=0) * factor
    importance = np.array([_importance(kind, len(text)) for kind, text in rows])
    wide = len(estimator.NARROW) + len(estimator.RUNS) + len(estimator.WIDE) + 1
    seen = np.zeros((len(rows), wide))
    for row, (_, text) in zip(seen, rows, strict=True):
        counted = estimator.features(text)
        row[: len(counted)] = counted
    _write({name: fit(seen, counted, importance) for name, counted in counts.items()})


def _importance(kind: str, size: int) -> float:
    return IMPORTANCE.get(kind, OTHER) * (0.15 if size < 900 else 0.6 if size < 2000 else 1.0)


def _counts(name: str, texts: list[str]) -> Array:
    vocabulary = splintr.Tokenizer.from_pretrained(VOCABULARIES[name])
    marks = len(vocabulary.encode_ordinary(""))
    return np.array([len(vocabulary.encode_ordinary(text)) - marks for text in texts], float)


def fit(seen: Array, counted: Array, importance: Array, rounds: int = 15) -> Array:
    """Return weights with the least relative errors, the larger errors counted more.

    Least squares, weighted anew each round because p95 is promised and not the mean. What a script
    costs is held between `LEAST` and `MOST`, as kinds with few of it would bend it otherwise.
    """
    relative = seen / counted[:, None]
    first = len(estimator.NARROW) + len(estimator.RUNS)
    scripts = slice(first, first + len(estimator.WIDE) - 1)
    least, most = np.full(seen.shape[1], -np.inf), np.full(seen.shape[1], np.inf)
    least[scripts], most[scripts] = LEAST, MOST
    weights, found = importance, np.zeros(seen.shape[1])
    for _ in range(rounds):
        found = _solve(relative, weights, least, most)
        error = np.abs(relative @ found - 1)
        weights = importance * np.clip(error / 0.03, 0.3, 4) ** 0.7
    return found


def _solve(relative: Array, weights: Array, least: Array, most: Array) -> Array:
    scale = np.sqrt((relative**2).mean(axis=0)) + 1e-12
    weighted = relative * weights[:, None]
    ridge = np.diag(scale**2) * 2e-4 * weights.sum() / len(scale)
    square, target = weighted.T @ relative + ridge, weighted.sum(axis=0)
    found, free = np.zeros(len(scale)), np.ones(len(scale), bool)
    # Whatever leaves its bounds is put on them, and the others are solved again.
    while True:
        rest = target[free] - square[np.ix_(free, ~free)] @ found[~free]
        found[free] = np.linalg.solve(square[np.ix_(free, free)], rest)
        outside = free & ((found < least) | (found > most))
        if not outside.any():
            return found
        found = np.clip(found, least, most)
        free &= ~outside


def _write(fitted: dict[str, Array]) -> None:
    lines = [
        '"""Weights of the estimator: tokens a count of `estimator.features`, by family."""',
        "",
        "from types import MappingProxyType",
        "from typing import Final",
        "",
        "",
        "def _read(numbers: str) -> tuple[float, ...]:",
        "    return tuple(map(float, numbers.split()))",
        "",
        "",
        "# Written by tests/benchmarks/fit_tokens.py; do not edit.",
        "WEIGHTS: Final = MappingProxyType[str, tuple[float, ...]](",
        "    {",
    ]
    for name, weights in fitted.items():
        numbers = " ".join(f"{weight:.4f}" for weight in weights)
        rows = (f'            "{row} "' for row in textwrap.wrap(numbers, 80))
        lines += [f'        "{name}": _read(', *rows, "        ),"]
    TARGET.write_text("\n".join([*lines, "    }", ")", ""]), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
