"""From the name of a model to the provider that speaks with it: the wing's door."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, Union

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.models import ModelRef
from jan_magics.domain.protocols import Provider
from jan_magics.providers.access import Access, Shared
from jan_magics.providers.catalog import CATALOG, Entry
from jan_magics.providers.dialects import CUSTOM
from jan_magics.providers.hosts import Host
from jan_magics.providers.key_order import Keys
from jan_magics.providers.keys import NEAR, Key, KeyChain, host_of, is_loopback, origin_of
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.offline import OfflineProvider
from jan_magics.providers.openai import OpenAIProvider

if TYPE_CHECKING:
    from jan_magics.providers.anthropic import AnthropicProvider
    from jan_magics.providers.google import GoogleProvider
    from jan_magics.providers.ollama import OllamaProvider

Speaking: TypeAlias = Union[
    "type[OpenAIProvider]",
    "type[AnthropicProvider]",
    "type[GoogleProvider]",
    "type[OllamaProvider]",
]
"""Speaks one wire."""


def connect(  # noqa: PLR0913 - one door, and all but the first have names
    ref: ModelRef,
    *,
    keys: KeyChain,
    trusted_hosts: AbstractSet[str] = frozenset(),
    local: LocalServer | None = None,
    key: Key | None = None,
    host: Host | None = None,
    shared: Shared | None = None,
) -> Provider:
    """Return the provider for a model; nothing is sent or started yet.

    A provider serves every model of its name and address: keep it, and close it in the end.
    `key` is one that the caller was given for this model; it is bound to its server here, and no
    other is tried. `host` is what the user's config says of the provider, `shared` what providers
    of one kernel know of each other.

    Raises:
        SettingError: for a provider that nobody knows, or an address that is not safe.
        KeyRefused: when the provider needs a key and there is none.
    """
    if ref.provider == "offline":
        return OfflineProvider()
    shared = shared or Shared()
    if ref.provider == "local":
        return LocalProvider(local or LocalServer(), own=local is None, shared=shared)
    entry, found = reach(ref, keys=keys, trusted_hosts=trusted_hosts, key=key, host=host)
    return speak(entry, shared.access(entry.address, found))


def reach(
    ref: ModelRef,
    *,
    keys: KeyChain,
    trusted_hosts: AbstractSet[str] = frozenset(),
    key: Key | None = None,
    host: Host | None = None,
) -> tuple[Entry, Keys]:
    """Return where a model's server is and with which keys it is asked. Raises as `connect`."""
    entry = host.entry if host else _entry(ref)
    check_encrypted(entry.address, trusted_hosts)
    origin = origin_of(entry.address)
    found = Keys([key.for_origin(origin)] if key else _keys(entry, host, keys))
    known = CATALOG.get(ref.provider)
    # A server of the user's own under a known name may do without.
    if found.current is None and known and not known.local and entry.address == known.address:
        raise KeyRefused(
            f"{ref.provider} needs a key and there is none",
            f"Store one: %chat key {ref.provider}   or set {entry.key_variable}",
        )
    return entry, found


def _entry(ref: ModelRef) -> Entry:
    """Return how a model is reached without a config. Raises SettingError."""
    known = CATALOG.get(ref.provider)
    if ref.address:
        made = known or Entry(ref.provider, "", dialect=CUSTOM)
        return replace(made, address=ref.address)
    if known is None:
        raise _unknown(ref.provider)
    if not known.address:
        raise SettingError(
            f"every customer of {ref.provider} has an address of their own",
            f'Write yours into your config.toml: [providers.{ref.provider}] address = "https://…"',
        )
    return known


def _keys(entry: Entry, host: Host | None, keys: KeyChain) -> Iterator[Key]:
    """Yield the keys of the config's variable, of the config, of the chain."""
    if host:
        yield from keys.variables(entry.key_variable, origin_of(entry.address))
        yield from host.keys
    yield from keys.keys_for(entry.name, entry.address)


def speak(entry: Entry, access: Access | None = None) -> Provider:
    """Return the provider that speaks an entry's wire at its address."""
    speaking = _speaking(entry.wire)
    return speaking(entry.name, entry.asked_at, access, dialect=entry.dialect, header=entry.header)


def _speaking(wire: str) -> Speaking:
    """Return who speaks a wire; the other wires are not loaded."""
    if wire == "anthropic":
        from jan_magics.providers.anthropic import AnthropicProvider

        return AnthropicProvider
    if wire == "google":
        from jan_magics.providers.google import GoogleProvider

        return GoogleProvider
    if wire == "ollama":
        from jan_magics.providers.ollama import OllamaProvider

        return OllamaProvider
    return OpenAIProvider


def _unknown(provider: str) -> SettingError:
    closest = get_close_matches(provider, CATALOG, 2, NEAR)
    hint = f"; closest: {', '.join(map(repr, closest))}" if closest else ""
    return SettingError(
        f"no provider {provider!r}{hint}",
        "List them with: %chat models   Any other server is https://HOST/v1#MODEL",
    )


def check_encrypted(address: str, trusted_hosts: AbstractSet[str]) -> None:
    """Refuse an address that anybody on the way could read. Raises SettingError."""
    if address.startswith("https://") or is_loopback(address):
        return
    if host_of(address) not in {host.lower() for host in trusted_hosts}:
        raise SettingError(
            f"{origin_of(address)} is not encrypted, and everybody on the way could read along",
            f"Use https://, or trust it in your config.toml: providers.NAME.address = {address!r}",
        )
