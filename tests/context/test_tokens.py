"""Estimates against what real vocabularies count, and those vocabularies themselves."""

import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jan_magics.context.corrections import learn
from jan_magics.context.counting import count_message, count_system
from jan_magics.context.estimator import BLOCK, features
from jan_magics.context.exact import ExactTokenizer, exact_for
from jan_magics.context.families import family_of
from jan_magics.context.tokens import CharsTokenizer, Corrected, estimator_for
from jan_magics.domain.messages import Message, Role, TextPart
from jan_magics.domain.protocols import Tokenizer
from tests.conftest import require
from tests.context.samples import MODELS, counted, recorded, texts

NOW: Final = datetime(2026, 3, 9, tzinfo=UTC)
KINDS: Final = tuple(texts())
ROLES: Final[tuple[Role, Role]] = ("user", "assistant")


def exact(model: str) -> ExactTokenizer:
    found = exact_for(model)
    require("tokens", found, "no vocabularies: pip install splintr-rs")
    assert found is not None
    return found


def error(model: str, kind: str) -> float:
    return abs(estimator_for(model).count(texts()[kind]) / recorded()[model][kind] - 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_an_estimate_is_near_the_real_count(model: str, kind: str) -> None:
    assert error(model, kind) <= 0.25


def test_nineteen_of_twenty_estimates_keep_the_promise() -> None:
    bounds = {kind: 0.12 if len(text) >= 4000 else 0.20 for kind, text in texts().items()}
    over = [
        (model, kind) for kind in KINDS for model in MODELS if error(model, kind) > bounds[kind]
    ]
    assert len(over) * 20 <= len(KINDS) * len(MODELS), over


@pytest.mark.parametrize("model", MODELS)
def test_all_kinds_together_are_nearer(model: str) -> None:
    together = sum(recorded()[model].values())
    estimated = estimator_for(model).count("\n\n".join(texts().values()))
    assert abs(estimated / together - 1) <= 0.08, f"{estimated} for {together}"


SCRIPTS: Final = MappingProxyType(
    {
        "Hindi": "यह एक परीक्षण वाक्य है जिसमें हम टोकन गिनते हैं। ",
        "Thai": "นี่คือประโยคทดสอบที่เรานับโทเค็น ",
        "Tamil": "இது ஒரு சோதனை வாக்கியம். ",
        "Hebrew": "זהו משפט בדיקה שבו אנו סופרים אסימונים. ",
        "Arabic": "هذه جملة اختبار نعد فيها الرموز. ",
        "Greek": "Αυτή είναι μια δοκιμαστική πρόταση. ",
        "emoji": "😀🎉👍 ok 🔥✅🚀 好的 ",
    }
)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("model", MODELS)
def test_no_script_is_forgotten(model: str, script: str) -> None:
    text = SCRIPTS[script] * 10
    assert 0.5 <= estimator_for(model).count(text) / exact(model).count(text) <= 2.2


def test_the_reference_rule_counts_chinese_far_too_low() -> None:
    text = texts()["chinese"]
    assert recorded()["gpt-4"]["chinese"] > 2.5 * CharsTokenizer().count(text)


@pytest.mark.parametrize("model", MODELS)
def test_recorded_counts_are_those_of_the_vocabularies(model: str) -> None:
    exact(model)
    assert counted(model) == recorded()[model]


@pytest.mark.parametrize("model", MODELS)
def test_marks_of_templates_are_ordinary_text(model: str) -> None:
    tokenizer = exact(model)
    for mark in ("<|endoftext|>", "<|im_start|>", "<|eot_id|>", "<end_of_turn>", "[gMASK]"):
        assert tokenizer.count(mark) > 1, mark
        assert tokenizer.count("a" + mark) > 1, mark
    assert tokenizer.exact
    assert tokenizer.count("") == 0
    assert tokenizer.count("\ud800") >= 1, "half of a pair, as a browser may send it"


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini", "o200k"),
        ("gpt-4.1", "o200k"),
        ("o3", "o200k"),
        ("o1-preview", "o200k"),
        ("openai/o4-mini", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-3.5-turbo", "cl100k"),
        ("openai/gpt-oss-20b", "gpt-oss"),
        ("Meta-Llama-3.1-8B-Instruct.Q4_K_M.gguf", "llama3"),
        ("llama3.2:1b", "llama3"),
        ("Llama-2-7b-chat", "llama2"),
        ("deepseek-r1-distill-llama-8b", "llama3"),
        ("DeepSeek-R1-Distill-Qwen-7B", "qwen"),
        ("deepseek-chat", "deepseek"),
        ("Qwen3-8B", "qwen"),
        ("mistral-small-latest", "mistral"),
        ("gemma3:4b", "gemma"),
        ("gemini-2.5-pro", "gemini"),
        ("glm-4.6", "glm"),
        ("kimi-k2-instruct", "kimi"),
        ("phi4", "phi4"),
        ("claude-sonnet-4", "claude"),
        ("smollm2-135m", "unknown"),
        ("demo1", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_name_tells_the_family(model: str, family: str) -> None:
    assert family_of(model).name == family


@pytest.mark.parametrize("model", ["smollm2-135m", "claude-sonnet-4", "gemini-2.5-pro", "echo"])
def test_exact_is_never_guessed(model: str) -> None:
    assert exact_for(model) is None
    assert not estimator_for(model).exact


def test_a_vocabulary_is_loaded_once() -> None:
    assert exact("gpt-5") is exact("gpt-4o")


@given(st.text(max_size=400))
def test_any_text_has_an_estimate(text: str) -> None:
    estimated = estimator_for("unknown").count(text)
    assert estimated == estimator_for("unknown").count(text)
    assert (estimated == 0) == (text == "")
    assert estimated <= 4 * len(text.encode("utf-8", "surrogatepass"))


def test_a_long_text_counts_like_its_blocks() -> None:
    text = "\n\n".join(texts().values()) * 8
    assert len(text) > 2 * BLOCK
    parts = [text[start : start + BLOCK] for start in range(0, len(text), BLOCK)]
    together = sum(map(estimator_for("gpt-5").count, parts))
    assert abs(estimator_for("gpt-5").count(text) - together) <= len(parts)
    assert features(text)[0] == sum(features(part)[0] for part in parts)


def test_counting_a_long_thread_takes_no_time() -> None:
    text = texts()["english"]
    pieces = [text[start : start + 200] for start in range(0, 2000, 100)] * 200
    estimator = estimator_for("gpt-5")
    seconds = list[float]()
    for _ in range(5):
        begun = time.perf_counter()
        for piece in pieces:
            estimator.count(piece)
        seconds.append(time.perf_counter() - begun)
    assert len(pieces) == 4000
    assert min(seconds) < 0.05, "12 ms here, and machines differ"


def test_nothing_heavy_is_loaded_with_the_wing() -> None:
    code = (
        "import sys; import jan_magics.context.tokens, jan_magics.context.counting;"
        "print(*{'splintr', 'numpy', 'httpx', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# ---------------------------------------------------------------------------- what servers teach


def exchange(chance: random.Random, number: int) -> list[Message]:
    """A question and an answer that mix prose, Chinese, code and data."""
    known = [texts()[kind] for kind in ("english", "chinese", "python", "mixed", "json")]
    said = list[Message]()
    for role, size in ((ROLES[0], 500), (ROLES[1], 1500)):
        pieces = list[str]()
        while sum(map(len, pieces)) < size:
            text = chance.choice(known)
            start = chance.randrange(max(1, len(text) - 300))
            pieces.append(text[start : start + chance.randrange(100, 300)])
        said.append(Message(f"{number}{role}", "t", role, (TextPart("\n\n".join(pieces)),), NOW))
    return said


def tokens_of(messages: list[Message], tokenizer: Tokenizer) -> int:
    return count_system("Be brief.", tokenizer) + sum(
        count_message(message, tokenizer) for message in messages
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("truth", ["llama-3.1", "qwen3", "gemma-3", "gpt-4", "mistral-small"])
def test_five_turns_teach_a_foreign_vocabulary(truth: str, seed: int) -> None:
    real, estimator = exact(truth), estimator_for("gpt-5")
    chance = random.Random(seed)  # noqa: S311 (a fixed sequence)
    thread, observed = list[Message](), list[tuple[int, int]]()
    errors = list[float]()
    for turn in range(15):
        thread += exchange(chance, turn)
        there = tokens_of(thread, real)
        if len(observed) >= 5 and there >= 4000:
            corrected = Corrected(estimator, learn(observed))
            errors.append(abs(tokens_of(thread, corrected) / there - 1))
        observed.append((tokens_of(thread, estimator), there))
    assert len(errors) >= 5
    assert max(errors) <= 0.05


@pytest.mark.parametrize(
    ("observed", "factor"),
    [
        pytest.param([], 1.0, id="nothing seen"),
        pytest.param([(100, 130)], 1.3, id="one turn"),
        pytest.param([(0, 10), (10, 0)], 1.0, id="nothing to compare"),
        pytest.param([(100, 120), (100, 900), (100, 122)], 1.22, id="one wild number"),
        pytest.param([(100, 300)] * 5 + [(100, 150)] * 8, 1.5, id="the last eight"),
        pytest.param([(100, 1)], 0.5, id="not below a half"),
        pytest.param([(100, 9999)], 4.0, id="not above four"),
        pytest.param([(1000, 1009)], 1.0, id="small news moves nothing"),
    ],
)
def test_a_factor_is_robust(observed: list[tuple[int, int]], factor: float) -> None:
    assert learn(observed) == factor
