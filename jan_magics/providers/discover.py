"""Which of the usual local servers run right now. What does not answer in time is unknown."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from jan_magics.domain.errors import AuthenticationFailed, ModelNotReachable, ProviderError
from jan_magics.domain.models import ModelInfo
from jan_magics.providers.catalog import CATALOG, Entry
from jan_magics.providers.connect import speak

SERVERS: Final = tuple(CATALOG[name] for name in ("jan", "ollama", "lmstudio", "llamacpp"))


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a server may be. `reachable` None: no answer in time, so nobody knows."""

    provider: str
    address: str
    reachable: bool | None
    models: tuple[ModelInfo, ...] = ()

    @property
    def loaded(self) -> tuple[ModelInfo, ...]:
        """Return the models that the server says are loaded."""
        return tuple(model for model in self.models if model.loaded)


async def discover(
    timeout: float = 0.15,  # noqa: ASYNC109 - a limit for all probes together
    *,
    servers: Sequence[Entry] = SERVERS,
) -> tuple[Found, ...]:
    """Ask the usual servers at the same time, without any key; at most `timeout` seconds in all."""
    tasks = [asyncio.create_task(_probe(entry)) for entry in servers]
    done, late = await asyncio.wait(tasks, timeout=timeout)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return tuple(
        task.result() if task in done else Found(entry.name, entry.address, None)
        for entry, task in zip(servers, tasks, strict=True)
    )


async def _listens(address: str) -> bool:
    """Look first with a bare socket: nearly always nobody listens, and a client takes longer."""
    parts = urlsplit(address)
    try:
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return False
    writer.close()
    return True


async def _probe(entry: Entry) -> Found:
    if not await _listens(entry.address):
        return Found(entry.name, entry.address, reachable=False)
    provider = speak(entry)
    try:
        models = tuple(await provider.models())
    except AuthenticationFailed:
        return Found(entry.name, entry.address, reachable=True)
    except ModelNotReachable:
        return Found(entry.name, entry.address, reachable=False)
    except ProviderError:
        # Something else listens there.
        return Found(entry.name, entry.address, reachable=None)
    finally:
        await provider.close()
    return Found(entry.name, entry.address, reachable=True, models=models)
