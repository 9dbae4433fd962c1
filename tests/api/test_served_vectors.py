"""`--embedder provider:model`: the vectors of a server, kept and asked for like packaged ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import jan_magics as jan
from jan_magics.domain.errors import EmbedderError, JanError
from tests.providers.loopback import http
from tests.providers.serving import serving_here
from tests.providers.test_embeddings import rows, said


@pytest.fixture
def docs(tmp_path: Path) -> list[str]:
    texts = {"熊猫.md": "熊猫吃竹子。", "fox.md": "The fox hunts at night 🦊."}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in texts]


def test_documents_and_questions_are_embedded_by_the_server(docs: list[str]) -> None:
    probe, texts, question = rows([3.0, 4.0]), rows([1, 0], [0, 2], order=[1, 0]), rows([0.1, 5])
    with serving_here(probe, texts, question) as server:
        name = f"{server.address}#embedder"
        found = jan.Collection("served")
        assert set(found.add(docs, embedder=name).status) == {"added"}
        assert set(found.add(docs).status) == {"unchanged"}
        hits = found.search("night?", mode="vector", k=1)
    assert hits.source[0].endswith("fox.md")
    assert hits.vector[0] == pytest.approx(0.9998, abs=1e-3)
    assert hits.attrs["jan"]["embedder"] == name
    bodies = [json.loads(body) for body in server.bodies]
    assert {body["model"] for body in bodies} == {"embedder"}
    assert [len(body["input"]) for body in bodies] == [1, 2, 1]
    assert jan.collections().embedder.tolist() == [name]


def test_a_server_that_fails_is_told_and_nothing_is_kept(docs: list[str]) -> None:
    refused = http(b"{}", status=401, kind="application/json")
    with serving_here(refused) as server, pytest.raises(EmbedderError):
        jan.Collection("served").add(docs, embedder=f"{server.address}#m")
    with pytest.raises(EmbedderError, match="no provider 'nobody'"):
        jan.Collection("served").add(docs, embedder="nobody:m")
    assert jan.collections().empty


def test_a_server_gives_candidates_a_second_look(docs: list[str]) -> None:
    found = jan.Collection("words")
    found.add(docs, embedder="none")
    scores = said({"results": [{"index": 0, "relevance_score": 0.9}]})
    with serving_here(scores) as server:
        hits = found.search("fox", rerank=f"{server.address}#judge", mode="keyword")
    assert hits["rerank"].tolist() == [0.9]
    assert json.loads(server.bodies[0])["query"] == "fox"


@pytest.mark.parametrize(
    "call",
    [
        lambda found: found.search(5), lambda found: found.search(["a", None]),
        lambda found: found.search("a", where=5), lambda found: found.search("a", k=2.5),
        lambda found: found.search("a", k=True), lambda found: found.add("x.md", embedder=5),
        lambda found: found.add(5),
    ],
)  # fmt: skip
def test_odd_values_are_refused_with_what_is_taken(
    call: Callable[[jan.Collection], object], docs: list[str]
) -> None:
    found = jan.Collection("words")
    found.add(docs, embedder="none")
    with pytest.raises(JanError) as caught:
        call(found)
    assert caught.value.next_step
