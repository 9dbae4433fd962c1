"""What can answer here, listed without choosing: servers, a startable model, keys by source."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from jan_magics.domain.errors import Refused
from jan_magics.domain.models import CapabilitySource, ModelInfo, ModelRef
from jan_magics.engine.choose import OFFLINE, Choice, Finder
from jan_magics.providers.catalog import declared_of, window_of
from jan_magics.providers.learned import Learned

Asking: TypeAlias = Callable[[str], Awaitable[Sequence[ModelInfo] | None]]
"""Asks a provider for its models; None where it does not answer."""
MOST: Final = 40
"""Models of one provider that are listed."""
_NAMES: Final[Mapping[Refused, str]] = MappingProxyType(
    {"images": "vision", "tools": "tools", "system": "system"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A line of the list of models; `reachable` None = not asked."""

    model: str | None
    provider: str
    source: str
    reachable: bool | None = None
    why: str = ""
    info: ModelInfo | None = None
    chosen: bool = False


async def list_models(
    finder: Finder,
    keys: Mapping[str, tuple[str, ...]],
    choice: Choice | None,
    hosts: Mapping[str, str] = MappingProxyType({}),
    learned: Learned | None = None,
    asking: Asking | None = None,
) -> tuple[Listed, ...]:
    """List the models of this machine, then the providers that there is a key for, then `hosts`.

    `choice` None: none can be made. `learned` is what models have refused in this kernel. `asking`
    asks a provider of the user's config what it has; those are named there to be asked.
    """
    rows = [_running(info) for info in await finder.running()]
    if startable := finder.startable():
        rows.append(_listed(startable, "can be started here", reachable=None))
    rows.append(_listed(OFFLINE, "built in: quotes, no model", reachable=True))
    rows.extend(
        Listed(
            model=None,
            provider=provider,
            source=f"key: {', '.join(sources)}",
            why="only when you name its model",
        )
        for provider, sources in keys.items()
    )
    found = await gather(*(asking(name) for name in hosts)) if asking else [None] * len(hosts)
    for (provider, address), infos in zip(hosts.items(), found, strict=True):
        rows.extend(_of_host(provider, address, infos))
    return tuple(_with(row, learned or Learned()) for row in _marked(rows, choice))


def _of_host(provider: str, address: str, infos: Sequence[ModelInfo] | None) -> Iterator[Listed]:
    """Yield a row a model of a provider, one row where it did not tell; None: it did not answer."""
    source = f"config.toml: {address}"
    for info in (infos or ())[:MOST]:
        row = Listed(model=str(info.ref), provider=provider, source=source, reachable=True)
        yield replace(row, why="only when you name it", info=info)
    if not infos or len(infos) > MOST:
        left = f"{len(infos) - MOST} more, " if infos else ""
        why = f"{left}only when you name its model"
        reachable = None if infos is None else True
        yield Listed(model=None, provider=provider, source=source, reachable=reachable, why=why)


def _running(info: ModelInfo) -> Listed:
    return replace(_listed(info.ref, "runs on this machine", reachable=True), info=info)


def _listed(model: ModelRef, source: str, *, reachable: bool | None) -> Listed:
    return Listed(model=str(model), provider=model.provider, source=source, reachable=reachable)


def _marked(rows: list[Listed], choice: Choice | None) -> tuple[Listed, ...]:
    if choice is None:
        return tuple(rows)
    name = str(choice.model)
    if name not in {row.model for row in rows}:
        info = ModelInfo(choice.model, window_of(choice.model.name), declared_of(choice.model.name))
        row = _listed(choice.model, choice.why, reachable=None)
        rows.insert(0, replace(row, info=info))
    return tuple(
        replace(row, chosen=True, why=choice.why) if row.model == name else row for row in rows
    )


def _with(row: Listed, learned: Learned) -> Listed:
    """Return a row with what its model has refused, which goes before what others say of it."""
    info = row.info
    refused = learned.lacks(info.ref) if info else None
    if info is None or not refused:
        return row
    lacks: dict[str, CapabilitySource] = {
        name: "learned" for each in refused if (name := _NAMES.get(each))
    }
    kept = {name: source for name, source in info.capabilities.items() if name not in lacks}
    return replace(row, info=replace(info, capabilities=kept, lacks={**info.lacks, **lacks}))
