"""`-c NAME`: the host looks up, sends it as data before the prompt, and says what it used."""

from pathlib import Path
from typing import Any

import pytest

from jan_magics.domain.errors import CollectionNotFound, JanError
from jan_magics.domain.messages import text_of
from jan_magics.domain.retrieval import Chunk, Document, Recipe
from jan_magics.engine.collections import Collections
from jan_magics.engine.listed import Listed
from jan_magics.engine.outcome import Outcome
from jan_magics.engine.records import sources_of
from jan_magics.engine.retrieving import BY_HOST
from jan_magics.rag.blocks import DATA
from jan_magics.rag.ingest import add
from tests.engine.calling import Calling, call, results
from tests.engine.threads import Kernel

FACTS = {
    "熊猫.md": "熊猫吃竹子。 The panda eats bamboo.",
    "fox.md": "The fox lives in the forest 🦊.",
    "boat.md": "Boats are made of wood and float.",
}


def whole(document: Document, _: Recipe) -> tuple[Chunk, ...]:
    return (Chunk(document.id, document.id, 0, 0, len(document.text), 8),)


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    kernel = Kernel(tmp_path, settings={"embedder": "hash"})
    fill(kernel)
    return kernel


def fill(kernel: Kernel, name: str | None = "animals", facts: dict[str, str] = FACTS) -> None:
    assert kernel.session.retriever
    retriever = kernel.session.retriever()
    collection = retriever.collections.open(retriever.collections.obtain(name))
    documents = [Document(source, text) for source, text in facts.items()]
    list(add(collection, documents, Recipe(), whole, retriever.embedders.chosen()))


class Listing(Collections):
    """Collections that count how often all of them are listed."""

    times = 0

    def listed(self) -> list[Listed]:
        Listing.times += 1
        return super().listed()


def test_a_turn_looks_for_its_collection_once(kernel: Kernel) -> None:
    assert kernel.session.retriever
    retriever = kernel.session.retriever()
    known = retriever.collections
    retriever.collections = Listing(
        known.folder, known.now, known.new_id, known.notebook, known.former, known.project
    )
    Listing.times = 0
    assert kernel.ask("熊猫?", collection="animals").turn.given
    assert Listing.times == 1
    kernel.ask("panda?", tools=("rag:animals",))
    assert Listing.times == 2


def sent(outcome: Outcome) -> str:
    return text_of(outcome.turn.request.messages[-1])


def test_what_is_found_is_sent_before_the_prompt_and_not_stored(kernel: Kernel) -> None:
    outcome = kernel.ask("What does the panda eat?", collection="animals", k=2)
    text = sent(outcome)
    assert text.startswith(DATA)
    assert text.index('<retrieved n="1" source="熊猫.md">') < text.index("What does the panda eat?")
    assert text.count("<retrieved n=") == 2
    assert kernel.path()[0] == "What does the panda eat?"
    turn = outcome.turn
    assert turn.given
    assert turn.given.hits[0].source == "熊猫.md"
    assert turn.given.piece.startswith("sources: 2 of 3 from animals (")
    assert sources_of(turn.answer)[0]["source"] == "熊猫.md"
    assert turn.plan
    assert turn.plan.costs.retrieved > 20
    # It is not sent again with later turns.
    later = kernel.ask("And now?")
    assert text_of(later.turn.request.messages[0]) == "What does the panda eat?"
    assert sent(later) == "And now?"


def test_the_query_is_looked_up_in_place_of_the_prompt(kernel: Kernel) -> None:
    outcome = kernel.ask("Sum it up 概括", collection="animals", k=1, query="wood float")
    assert outcome.turn.given
    assert [hit.source for hit in outcome.turn.given.hits] == ["boat.md"]


def test_what_is_not_found_is_said_with_how_near_the_best_came(kernel: Kernel) -> None:
    outcome = kernel.ask("quantum 量子", collection="animals", threshold=0.9)
    assert outcome.turn.given
    assert outcome.turn.given.hits == ()
    (line,) = [line for line in outcome.lines if line.startswith("retrieval found nothing")]
    assert "under threshold 0.9" in line
    assert sent(outcome) == "quantum 量子"


def test_an_unknown_collection_is_refused_and_nothing_is_asked(kernel: Kernel) -> None:
    with pytest.raises(CollectionNotFound, match="closest: 'animals'"):
        kernel.ask("?", collection="animal")
    assert kernel.session.engine.store.threads() == []


def test_what_has_no_room_is_left_out_and_said(kernel: Kernel) -> None:
    fill(kernel, "long", {f"{n}.md": f"panda number {n} " + "bamboo " * 300 for n in range(6)})
    outcome = kernel.ask("panda bamboo", collection="long", k=6, window=2048)
    assert outcome.turn.given
    kept = len(outcome.turn.given.hits)
    assert 0 < kept < 6
    assert f"{6 - kept} sources had no room in the context window" in outcome.lines


def test_retrieval_that_is_off_says_so(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path, settings={"embedder": "hash", "rag.enabled": "off"})
    fill(kernel)
    outcome = kernel.ask("panda", collection="animals")
    assert "retrieval is off (rag.enabled), and nothing was looked up" in outcome.lines
    assert sent(outcome) == "panda"


def test_the_notebooks_own_collection_is_asked_by_its_name(kernel: Kernel) -> None:
    fill(kernel, None)
    outcome = kernel.ask("panda", collection="work")
    assert outcome.turn.given
    assert outcome.turn.given.name == "work"


def test_another_collection_is_another_question_for_reuse(kernel: Kernel) -> None:
    kernel.ask("panda", collection="animals", rerun="reuse", cell="c1")
    again = kernel.ask("panda", collection="animals", rerun="reuse", cell="c1")
    assert again.turn.stored
    fill(kernel, "others", {"x.md": "panda panda elsewhere"})
    assert not kernel.ask("panda", collection="others", rerun="reuse", cell="c1").turn.stored


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"k": 3}, "-k counts only with -c NAME: nothing was looked up"),
        ({"query": "熊猫", "threshold": 0.2},
         "--threshold, --query count only with -c NAME: nothing was looked up"),
        ({"k": 3, "tools": ("rag:animals",)}, "-k counts only with -c NAME: nothing was looked up"),
        ({"k": 3, "collection": ""}, "-k counts only with -c NAME: nothing was looked up"),
    ],
)  # fmt: skip
def test_flags_of_looking_up_that_do_nothing_say_so(
    kernel: Kernel, flags: dict[str, Any], said: str
) -> None:
    assert said in kernel.ask("panda", **flags).lines


def test_flags_of_looking_up_that_count_or_stick_say_nothing(kernel: Kernel) -> None:
    looked = kernel.ask("panda", collection="animals", k=1, threshold=-1.0, query="fox")
    assert not [line for line in looked.lines if "only with -c" in line]
    kernel.session.sticky = kernel.asking(k=3)
    assert not [line for line in kernel.ask("panda").lines if "only with -c" in line]


def test_a_number_that_names_no_source_is_told(tmp_path: Path) -> None:
    said = "Bamboo [1]. 竹子【2】 and more [3, 9], `a[7]`."
    kernel, _ = looking(tmp_path, (said,), ("No more [4].",), ("Plain [1].",))
    outcome = kernel.ask("panda", model="double:m", collection="animals", k=2)
    assert "[3], [9] name no source: 2 sources were sent" in outcome.lines
    outcome = kernel.ask("panda", model="double:m", collection="animals", k=1)
    assert "[4] names no source: 1 source was sent" in outcome.lines
    outcome = kernel.ask("panda", model="double:m")
    assert not [line for line in outcome.lines if "no source" in line]


def test_numbers_of_earlier_sources_are_not_sent_again(tmp_path: Path) -> None:
    said = "It eats bamboo [1]. 它吃竹子【2】。 See `x[1]` and [2024]."
    kernel, model = looking(tmp_path, (said,), ("The fox [1].",), ("Done.",))
    kernel.ask("What does it eat?", model="double:m", collection="animals", k=2)
    kernel.ask("And the fox?", model="double:m", collection="animals", k=1)
    kernel.ask("Thanks 谢谢", model="double:m")
    second, third = ([text_of(each) for each in asked.messages] for asked in model.asked[1:])
    assert second[1] == "It eats bamboo. 它吃竹子。 See `x[1]` and [2024]."
    assert third[1] == second[1]  # the same in every later turn: the prefix cache holds
    assert third[3] == "The fox."
    assert kernel.path()[1] == said
    assert len(sources_of(kernel.session.view().path()[1])) == 2


def looking(tmp_path: Path, *steps: Any, **settings: object) -> tuple[Kernel, Calling]:
    model = Calling(*steps)
    kernel = Kernel(tmp_path, settings={"embedder": "hash", **settings}, provider=model)
    fill(kernel)
    return kernel, model


def test_the_model_looks_up_and_cites_what_it_found(tmp_path: Path) -> None:
    asks = call("retrieve", '{"query": "panda bamboo", "top_k": 50, "collection": "secret"}')
    kernel, model = looking(tmp_path, (asks,), ("It eats bamboo [1].",))
    outcome = kernel.ask("What does it eat?", model="double:m", tools=("rag:animals",))
    assert [spec.name for spec in model.asked[0].tools] == [
        "list_attachments", "retrieve", "get_chunks",
    ]  # fmt: skip
    ((name, found, state),) = results(outcome.turn.answer)
    assert (name, state) == ("retrieve", "ok")
    assert isinstance(found, dict)
    assert found["collection"] == "animals"  # the host's word, not the model's
    assert len(found["citations"]) <= 3  # the setting's, whatever the model asks for
    assert found["citations"][0]["source"] == "熊猫.md"
    given = outcome.turn.given
    assert given
    assert given.hits[0].source == "熊猫.md"
    assert sources_of(outcome.turn.answer)[0]["n"] == 1
    assert given.ground
    # Three notes are too few to measure by: the usual threshold holds, and is told.
    assert given.ground("熊猫吃竹子。").threshold == 0.65


def test_a_collection_of_the_host_leaves_no_tools_to_the_model(tmp_path: Path) -> None:
    kernel, model = looking(tmp_path, ("yes",))
    outcome = kernel.ask("panda", model="double:m", collection="animals", tools=("rag:animals",))
    assert model.asked[0].tools == ()
    assert BY_HOST in outcome.lines


def test_retrieval_that_is_off_offers_no_tools_and_says_so(tmp_path: Path) -> None:
    kernel, model = looking(tmp_path, ("yes",), **{"rag.enabled": "off"})
    outcome = kernel.ask("panda", model="double:m", tools=("rag",))
    assert model.asked[0].tools == ()
    assert "retrieval is off (rag.enabled), and nothing was looked up" in outcome.lines


@pytest.mark.parametrize(
    ("tools", "said"),
    [(("rag:nope",), "no collection 'nope'"), (("rag",), "no collection yet"),
     (("rag:a", "rag:b"), "in one collection")],
)  # fmt: skip
def test_tools_that_cannot_look_anywhere_are_refused_before(
    tmp_path: Path, tools: tuple[str, ...], said: str
) -> None:
    kernel, model = looking(tmp_path)
    with pytest.raises(JanError, match=said):
        kernel.ask("panda", model="double:m", tools=tools)
    assert model.asked == []
    assert kernel.session.engine.store.threads() == []
