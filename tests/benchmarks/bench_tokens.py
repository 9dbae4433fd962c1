"""How far estimates are from the real count, by kind of text and by vocabulary, and how fast.

python -m tests.benchmarks.bench_tokens [FOLDER]      (see token_corpora.py for the folder)

FOLDER, else the variable JAN_BENCH_TEXTS; without it only the kinds of text are judged that this
machine has itself. The worst of all vocabularies is claimed.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from jan_magics.context.estimator import Estimator
from jan_magics.context.exact import ExactTokenizer, exact_for
from jan_magics.context.tokens import CharsTokenizer, estimator_for
from tests.benchmarks.claims import RATIO, claimed, left_out
from tests.benchmarks.token_corpora import documents, samples

MODELS: Final = (
    "gpt-5", "gpt-4", "llama-3.1", "qwen3", "deepseek-v3", "mistral-small", "gemma-3", "glm-4",
    "kimi-k2", "phi-4", "llama-2",
)  # fmt: skip
PROMISED: Final = ("english", "chinese", "japanese", "python", "json", "base64")
BOUNDS: Final = {1000: 0.20, 4000: 0.12}
MESSAGES: Final = 4000


def main(folder: str = "") -> int:
    """Print both tables; 1 when a promised one is over its bound."""
    folder = folder or os.environ.get("JAN_BENCH_TEXTS", "")
    if exact_for("gpt-5") is None:
        left_out("estimates of tokens", "no vocabularies: pip install 'jan-magics[tokens]'")
        return 0
    texts = documents(Path(folder)) if folder else documents(Path(os.devnull))
    kinds = [*PROMISED, *sorted({each.kind for each in texts if each.part == "test"} - {*PROMISED})]
    by_kind = {kind: list(samples(texts, kind, "test")) for kind in kinds}
    worst: dict[tuple[str, int], list[float]] = {}
    over = [line for model in MODELS for line in _errors(model, by_kind, worst)]
    ascii_alone = [text for text in by_kind["english"] if text.isascii()]
    for kind, given in {"English in ASCII": ascii_alone, **by_kind}.items():
        if given and kind in ("English in ASCII", "english", "chinese", "python", "mixed"):
            _speed(given, kind)
    print("\n".join(over) or "Every promise is kept.")
    for (kind, size), errors in sorted(worst.items()):
        what = f"worst p95 error, {kind}, {size:,} characters"
        claimed(what, 100 * max(errors), "%", most=100 * BOUNDS[size])
    for kind in [each for each in PROMISED if not by_kind[each]]:
        left_out(f"estimates of {kind}", "no such texts: JAN_BENCH_TEXTS")
    return bool(over)


def _errors(
    model: str, by_kind: dict[str, list[str]], worst: dict[tuple[str, int], list[float]]
) -> Iterable[str]:
    real = exact_for(model)
    if real is None:
        raise SystemExit("The vocabularies are missing: pip install 'jan-magics[tokens]'")
    print(
        f"\n{real.name:14}p95 error in %: ours, chars/3.5, len/4, from 4,000 characters | at 1,000"
    )
    for kind, texts in by_kind.items():
        cells = list[str]()
        for size, bound in sorted(BOUNDS.items(), reverse=True):
            chosen = [t for t in texts if (len(t) >= 4000) == (size == 4000)]
            counts = [real.count(text) for text in chosen]
            rules = (
                estimator_for(model).count,
                CharsTokenizer().count,
                lambda text: len(text) // 4,
            )
            errors = [_p95(rule, chosen, counts) for rule in rules]
            if kind in PROMISED and chosen:
                worst.setdefault((kind, size), []).append(errors[0])
            cells.append("".join(f"{error * 100:8.1f}" for error in errors))
            if kind in PROMISED and errors[0] > bound:
                yield f"{real.name} {kind} at {size}: {errors[0]:.1%} > {bound:.0%}"
        print(f"  {kind:10}{' |'.join(cells)}")


def _p95(rule: Callable[[str], int], texts: Sequence[str], counts: Sequence[int]) -> float:
    errors = sorted(abs(rule(text) / count - 1) for text, count in zip(texts, counts, strict=True))
    return errors[int(len(errors) * 0.95)] if errors else 0.0


def _speed(texts: Sequence[str], kind: str) -> None:
    joined = "".join(texts)
    pieces = [joined[at : at + 200] for at in range(0, MESSAGES * 200, 200)]
    ours = _best(estimator_for("gpt-5"), pieces)
    claimed(f"{MESSAGES:,} messages of 200 characters, {kind}", ours * 1000, "ms")
    if exact := exact_for("gpt-5"):
        claimed(f"counted exactly by splintr, {kind}", _best(exact, pieces) / ours, RATIO)
    seconds = _best(estimator_for("gpt-5"), [joined[:1_000_000]])
    print(f"  one text of {len(joined[:1_000_000]):,} characters: {seconds * 1000:.1f} ms")


def _best(tokenizer: Estimator | ExactTokenizer, pieces: Sequence[str]) -> float:
    seconds = list[float]()
    for _ in range(5):
        begun = time.perf_counter()
        for piece in pieces:
            tokenizer.count(piece)
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
