"""What can answer here, listed without choosing: servers, a startable model, keys by source."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from jan_magics.domain.models import ModelInfo, ModelRef
from jan_magics.engine.choose import OFFLINE, Choice, Finder


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
) -> tuple[Listed, ...]:
    """List the models of this machine, then the providers that there is a key for, then `hosts`.

    `choice` None: none can be made.
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
    rows.extend(
        Listed(
            model=None,
            provider=provider,
            source=f"config.toml: {address}",
            why="only when you name its model",
        )
        for provider, address in hosts.items()
    )
    return _marked(rows, choice)


def _running(info: ModelInfo) -> Listed:
    return replace(_listed(info.ref, "runs on this machine", reachable=True), info=info)


def _listed(model: ModelRef, source: str, *, reachable: bool | None) -> Listed:
    return Listed(model=str(model), provider=model.provider, source=source, reachable=reachable)


def _marked(rows: list[Listed], choice: Choice | None) -> tuple[Listed, ...]:
    if choice is None:
        return tuple(rows)
    name = str(choice.model)
    if name not in {row.model for row in rows}:
        rows.insert(0, _listed(choice.model, choice.why, reachable=None))
    return tuple(
        replace(row, chosen=True, why=choice.why) if row.model == name else row for row in rows
    )
