"""The list of models says of each ability how it is known."""

import asyncio
from collections.abc import Mapping

from jan_magics.api.tables import models_table
from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.choose import FLAG, Choice, Finder
from jan_magics.engine.listing import list_models
from jan_magics.providers.learned import Learned

HERE = ModelRef("ollama", "qwen3:8b")
THERE = ModelRef("openai", "gpt-4o")
FOUND = ModelInfo(HERE, 4096, {"tools": "probed", "vision": "declared"}, lacks={"audio": "probed"})


def listed(learned: Learned, chosen: ModelRef = THERE) -> Mapping[str, object]:
    async def running() -> tuple[ModelInfo, ...]:
        return (FOUND,)

    rows = asyncio.run(
        list_models(Finder(running, lambda: None), {}, Choice(chosen, FLAG), learned=learned)
    )
    frame = models_table(rows)
    return dict(zip(frame["model"], frame["capabilities"], strict=True))


def test_declared_and_probed() -> None:
    found = listed(Learned())
    assert found[str(HERE)] == "tools (probed), vision (declared), no audio (probed)"
    assert found[str(THERE)] == "tools (declared), vision (declared)"


def test_learned_goes_before_what_others_say() -> None:
    learned = Learned()
    learned.note(HERE, "images")
    learned.note(THERE, "tools")
    learned.note(THERE, "system")
    found = listed(learned)
    assert found[str(HERE)] == "tools (probed), no audio (probed), no vision (learned)"
    assert found[str(THERE)] == "vision (declared), no system (learned), no tools (learned)"


def test_a_chosen_model_has_the_window_of_the_catalogue() -> None:
    async def running() -> tuple[ModelInfo, ...]:
        return ()

    rows = asyncio.run(list_models(Finder(running, lambda: None), {}, Choice(THERE, FLAG)))
    assert models_table(rows)["window"].iloc[0] == 128_000
