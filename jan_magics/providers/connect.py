"""From the name of a model to the provider that speaks with it: the wing's door."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from difflib import get_close_matches

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.domain.models import ModelRef
from jan_magics.domain.protocols import Provider
from jan_magics.providers.anthropic import AnthropicProvider
from jan_magics.providers.catalog import CATALOG, Entry
from jan_magics.providers.dialects import CUSTOM
from jan_magics.providers.google import GoogleProvider
from jan_magics.providers.keys import Key, KeyChain, host_of, is_loopback, origin_of
from jan_magics.providers.local import LocalProvider, LocalServer
from jan_magics.providers.offline import OfflineProvider
from jan_magics.providers.ollama import OllamaProvider
from jan_magics.providers.openai import OpenAIProvider


def connect(
    ref: ModelRef,
    *,
    keys: KeyChain,
    trusted_hosts: AbstractSet[str] = frozenset(),
    local: LocalServer | None = None,
    key: Key | None = None,
) -> Provider:
    """Return the provider for a model; nothing is sent or started yet.

    A provider serves every model of its name and address: keep it, and close it in the end.
    `key` is one that the caller was given for this model; it is bound to its server here.

    Raises:
        SettingError: for a provider that nobody knows, or an address that is not safe.
        KeyRefused: when the provider needs a key and there is none.
    """
    entry = CATALOG.get(ref.provider)
    if ref.provider == "offline":
        return OfflineProvider()
    if ref.provider == "local":
        return LocalProvider(local or LocalServer(), own=local is None)
    address = ref.address or (entry.address if entry else "")
    if not address:
        raise _unknown(ref.provider)
    _check(address, trusted_hosts)
    found = key.for_origin(origin_of(address)) if key else keys.key_for(ref.provider, address)
    # A server of the user's own under a known name may do without.
    if found is None and entry and not entry.local and not ref.address:
        raise KeyRefused(
            f"{ref.provider} needs a key and there is none",
            f"Store one: %chat key {ref.provider}   or set {entry.key_variable}",
        )
    made = entry or Entry(ref.provider, address, dialect=CUSTOM)
    return speak(replace(made, name=ref.provider, address=address), found)


def speak(entry: Entry, key: Key | None = None) -> Provider:
    """Return the provider that speaks an entry's wire at its address."""
    kinds: dict[str, type[OpenAIProvider | AnthropicProvider | GoogleProvider | OllamaProvider]] = {
        "anthropic": AnthropicProvider,
        "google": GoogleProvider,
        "ollama": OllamaProvider,
    }
    speaking = kinds.get(entry.wire, OpenAIProvider)
    return speaking(entry.name, entry.address, key, dialect=entry.dialect, header=entry.header)


def _unknown(provider: str) -> SettingError:
    closest = get_close_matches(provider, CATALOG, n=2)
    hint = f"; closest: {', '.join(map(repr, closest))}" if closest else ""
    return SettingError(
        f"no provider {provider!r}{hint}",
        "List them with: %chat models   Any other server is https://HOST/v1#MODEL",
    )


def _check(address: str, trusted_hosts: AbstractSet[str]) -> None:
    if address.startswith("https://") or is_loopback(address):
        return
    if host_of(address) not in {host.lower() for host in trusted_hosts}:
        raise SettingError(
            f"{origin_of(address)} is not encrypted, and everybody on the way could read along",
            f"Use https://, or trust it in your config.toml: providers.NAME.address = {address!r}",
        )
