"""Small texts of every kind, and what real vocabularies count in them.

Record the counts anew with `python -m tests.context.samples`.
"""

import base64
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jan_magics.context.exact import exact_for

FOLDER: Final = Path(__file__).with_name("texts")
COUNTS: Final = Path(__file__).with_name("counts.json")
MODELS: Final = (
    "gpt-5", "gpt-4", "llama-3.1", "llama-2", "qwen3", "deepseek-v3", "mistral-small", "gemma-3",
    "glm-4", "kimi-k2", "phi-4",
)  # fmt: skip


def texts() -> Mapping[str, str]:
    """Return the texts by kind: those of the folder, and JSON and base64 from a fixed seed."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
    chance = random.Random(4)  # noqa: S311 (a fixed sequence)
    rows = [
        {
            "id": chance.randrange(10**6),
            "name": chance.choice(["alpha", "load balancer", "重试", "Ångström"]),
            "score": round(chance.random(), 4),
            "tags": chance.sample(["red", "green", "dark blue"], 2),
            "at": f"2026-03-{chance.randrange(10, 31)}T08:15:00Z",
            "parent": None,
            "ok": chance.random() < 0.5,
        }
        for _ in range(40)
    ]
    found["json"] = json.dumps(rows, ensure_ascii=False)
    found["json lines"] = json.dumps(rows, indent=2)
    found["base64"] = base64.b64encode(chance.randbytes(3000)).decode()
    found["hex"] = chance.randbytes(2000).hex()
    return found


def recorded() -> Mapping[str, Mapping[str, int]]:
    """Return the counts by model and kind."""
    counts: Mapping[str, Mapping[str, int]] = json.loads(COUNTS.read_text(encoding="utf-8"))
    return counts


def counted(model: str) -> Mapping[str, int]:
    """Return what the real vocabulary counts now. Raises LookupError where it is not installed."""
    exact = exact_for(model)
    if exact is None:
        raise LookupError(f"no vocabulary for {model!r}: pip install 'jan-magics[tokens]'")
    return {kind: exact.count(text) for kind, text in texts().items()}


if __name__ == "__main__":
    found = {model: counted(model) for model in MODELS}
    COUNTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
