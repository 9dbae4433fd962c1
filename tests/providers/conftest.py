"""A llama-server that really runs here, or the reason why not."""

import asyncio

import pytest

from jan_magics.domain.errors import JanError
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.local_files import find_files
from tests.conftest import require
from tests.providers.asking import asking, collect


async def _reason() -> str:
    server = LocalServer()
    provider = LocalProvider(server)
    try:
        name = f"local:{find_files().name}"
        await collect(provider, asking("hi", model=name, max_tokens=1))
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
