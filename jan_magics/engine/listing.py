"""What can answer here, listed without choosing: servers, a startable model, keys by source."""

from collections.abc import Mapping
from dataclasses import dataclass

from jan_magics.domain.models import ModelInfo
from jan_magics.engine.choose import OFFLINE, Choice, Finder


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the list of models; `reachable` None = not asked."""

    model: str | None
    provider: str
    source: str
    reachable: bool | None
    why: str = ""
    info: ModelInfo | None = None
    chosen: bool = False


async def list_models(
    finder: Finder, keys: Mapping[str, tuple[str, ...]], choice: Choice
) -> tuple[Listed, ...]:
    """List the models of this machine, then the providers that there is a key for."""
    rows = [
        Listed(str(info.ref), info.ref.provider, "runs on this machine", True, info=info)
        for info in await finder.running()
    ]
    if startable := finder.startable():
        rows.append(Listed(str(startable), "local", "can be started here", None))
    rows.append(Listed(str(OFFLINE), "offline", "built in: quotes, no model", True))
    rows.extend(
        Listed(None, provider, f"key: {', '.join(sources)}", None, "only when you name its model")
        for provider, sources in keys.items()
    )
    return _marked(rows, choice)


def _marked(rows: list[Listed], choice: Choice) -> tuple[Listed, ...]:
    name = str(choice.model)
    if name not in {row.model for row in rows}:
        rows.insert(0, Listed(name, choice.model.provider, choice.why, None))
    return tuple(
        Listed(row.model, row.provider, row.source, row.reachable, choice.why, row.info, True)
        if row.model == name
        else row
        for row in rows
    )
