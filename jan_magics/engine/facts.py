"""What is known of a model before it is asked: its wire, and how its server has counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from jan_magics.domain.messages import Message
from jan_magics.domain.models import ChatOptions, ModelRef, Profile, Resent, Schemas
from jan_magics.engine.deck import Deck
from jan_magics.engine.records import estimated_of, model_of, usage_of
from jan_magics.engine.settings import Settings
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.dialects import CUSTOM, Dialect
from jan_magics.providers.params import resending

TELLING: Final = 400
"""Tokens from which on a request tells how a server counts; of fewer, what its template adds."""


def wire_of(deck: Deck, model: ModelRef, settings: Settings) -> str:
    """Return the wire format of a model; a cassette knows that of a server of somebody's own."""
    if deck.playing and (known := deck.playing.facts(model)):
        return known.wire
    host = settings.hosts.get(model.provider)
    entry = host.entry if host else CATALOG.get(model.provider)
    return entry.wire if entry else "openai"


def dialect_of(model: ModelRef, settings: Settings) -> Dialect:
    """Return how the server of a model departs from the common form of its wire."""
    host = None if model.address else settings.hosts.get(model.provider)
    entry = host.entry if host else CATALOG.get(model.provider)
    return entry.dialect if entry else CUSTOM


def schemas_of(deck: Deck, model: ModelRef, settings: Settings) -> Schemas:
    """Return whether a model's server holds answers to a schema; a cassette knows it by itself."""
    if deck.playing and (known := deck.playing.facts(model)):
        return known.schemas
    return dialect_of(model, settings).schemas


def resent(profile: Profile, model: ModelRef, settings: Settings, options: ChatOptions) -> Profile:
    """Return what a model takes, with the reasoning of earlier answers that it wants back."""
    how = resending(options, dialect_of(model, settings), model.name)
    if how is None:
        return profile
    # Details are of use to the model only that gave them.
    whose: Resent = "signed" if how.place == "details" else "always"
    return replace(profile, reasoning=whose, reasoning_with_calls=how.with_calls)


def limit_of(options: ChatOptions) -> float | None:
    """Return the seconds that the user waits for a byte, None where no limit was given."""
    asked = options.timeout or options.parameters.get("timeout")
    return asked if isinstance(asked, int | float) and asked > 0 else None


def observed_of(path: Sequence[Message], model: ModelRef) -> list[tuple[int, int]]:
    """Return what was estimated and what a model's server counted, for the answers of a path."""
    found = ((estimated_of(each), usage_of(each).input, model_of(each)) for each in path)
    told = ((e, counted) for e, counted, name in found if e and counted and name == str(model))
    return [(e, counted) for e, counted in told if e >= TELLING]
