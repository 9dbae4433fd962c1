"""API keys: where one comes from and which origin it may be sent to. Never shown anywhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Final, NoReturn
from urllib.parse import SplitResult, urlsplit

from jan_magics.domain.errors import KeyRefused, SettingError
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.key_files import FILE_NAME, ask_keyring, read_keys, write_keys

MOST: Final = 9
"""Variables of one provider: NAME, NAME_2 and so on up to this number."""
NEAR: Final = 0.7
"""How alike two names of providers are, at least, when one of them may be meant."""
_PORTS: Final = {"http": 80, "https": 443}


class Key:
    """A key that shows its source and never its text; it fits one origin only."""

    __slots__ = ("__value", "origin", "source")
    __value: str
    origin: str
    source: str

    def __init__(self, value: str, *, source: str, origin: str = "") -> None:
        value = value.strip()
        # Anything else would be refused as a header, with the key in the text of the refusal.
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise KeyRefused(
                f"the key from {source} is empty or has characters that no key has",
                "Paste it again: %chat key PROVIDER",
            )
        object.__setattr__(self, "_Key__value", value)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "origin", origin)

    def for_origin(self, origin: str) -> "Key":
        """Return this key for an origin that its owner has named."""
        return Key(self.__value, source=self.source, origin=origin)

    def reveal(self, origin: str) -> str:
        """Return the text, for a header to that origin. Raises KeyRefused elsewhere."""
        if origin != self.origin:
            raise KeyRefused(
                f"the key from {self.source} belongs to {self.origin or 'no server'},"
                f" not to {origin}",
                f"Store a key for that server: %chat key {origin}",
            )
        return self.__value

    def same_as(self, other: "Key") -> bool:
        """Tell whether another key has the same text."""
        return self.__value == other.reveal(other.origin)

    def redact(self, text: str) -> str:
        """Replace the key wherever the text repeats it."""
        return text.replace(self.__value, "[key]")

    def __repr__(self) -> str:
        return f"Key(source={self.source!r}, origin={self.origin!r})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a key cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a key cannot be changed: {name}")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is never pickled or copied")


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address in one spelling.

    Raises:
        SettingError: when it is no http address, or carries a user name.
    """
    parts = _split(address)
    host = host_of(address)
    shown = f"[{host}]" if ":" in host else host
    port = parts.port
    suffix = "" if port in {None, _PORTS[parts.scheme]} else f":{port}"
    return f"{parts.scheme}://{shown}{suffix}"


def host_of(address: str) -> str:
    """Return the host of an address in lower case."""
    return (_split(address).hostname or "").lower()


def is_loopback(address: str) -> bool:
    """Tell whether an address stays on this machine."""
    host = host_of(address)
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        fits = bool(parts.scheme in _PORTS and parts.hostname and parts.port != 0)
    except ValueError as error:
        raise _no_address(address) from error
    if not fits:
        raise _no_address(address)
    if "@" in parts.netloc:
        raise SettingError(
            "the address carries a user name or key before its host",
            "Leave it out, and store the key: %chat key https://HOST",
        )
    return parts


def _no_address(address: str) -> SettingError:
    return SettingError(
        f"{address!r} is no address of a server", "Write it like https://HOST/v1#MODEL"
    )


@dataclass(frozen=True, slots=True)
class KeyChain:
    """Where keys are looked for: the environment, the system's keyring, a file.

    `folder` holds keys.toml; `environment` is `os.environ` in a kernel and never shown.
    """

    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    keyring: bool = True

    def keys_for(self, provider: str, address: str) -> Iterator[Key]:
        """Yield the keys that were given for this provider at this origin, in their order.

        Each place is looked into only when a key from there is wanted. Raises KeyRefused when
        keys.toml is readable by others.
        """
        origin = origin_of(address)
        entry = CATALOG.get(provider)
        if entry and _catalogued(provider) == origin:
            yield from self.variables(entry.key_variable, origin)
        names = tuple(name for name in (*CATALOG, origin) if _origin_for(name) == origin)
        if self.keyring:
            asked = (ask_keyring(name) for name in names)
            yield from (Key(value, source="keyring", origin=origin) for value in asked if value)
        stored = read_keys(self.folder) if self.folder else {}
        held = (value for name in names for value in stored.get(name, ()))
        yield from (Key(value, source=FILE_NAME, origin=origin) for value in held)

    def variables(self, name: str, origin: str) -> Iterator[Key]:
        """Yield the keys that stand in a variable, and in those that are numbered after it."""
        for variable in numbered(name):
            if value := self.environment.get(variable, "").strip():
                yield Key(value, source=f"environment {variable}", origin=origin)


def numbered(name: str) -> tuple[str, ...]:
    """Return the variables that may hold keys of one provider: NAME, then NAME_2 to NAME_9."""
    return (name, *(f"{name}_{n}" for n in range(2, MOST + 1))) if name else ()


def list_keys(chain: KeyChain) -> Mapping[str, tuple[str, ...]]:
    """Return the sources of keys for each provider or origin that has one.

    The keyring is not asked: some systems show a dialogue for every question.
    """
    sources: dict[str, tuple[str, ...]] = {}
    for name, entry in CATALOG.items():
        held = (each.source for each in chain.variables(entry.key_variable, ""))
        if found := tuple(held):
            sources[name] = found
    for name in read_keys(chain.folder) if chain.folder else ():
        sources[name] = (*sources.get(name, ()), FILE_NAME)
    return sources


def holder_of(name: str, hosts: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the provider or origin that a key is kept for; `hosts` are the user's own servers.

    Raises:
        SettingError: when `name` is neither a provider with a server nor an address.
    """
    if "://" in name or name in hosts:
        return origin_of(hosts.get(name, name))
    if name.lower() not in CATALOG:
        known = [entry.name for entry in CATALOG.values() if entry.address]
        nearest = get_close_matches(name.lower().partition(":")[0], [*known, *hosts], 1, NEAR)
        closest = f"; closest: {nearest[0]!r}" if nearest else ""
        raise SettingError(
            f"no provider {name!r}{closest}",
            f"It can be: {', '.join(known)}   or an address: %chat key https://HOST",
        )
    if not _catalogued(name.lower()):
        raise SettingError(f"{name!r} has no server that takes a key", "See: %chat models")
    return name.lower()


def store_key(name: str, value: str, folder: Path) -> Path:
    """Write a key for a provider or an origin into keys.toml, readable by its owner only.

    It takes the place of the first one there; further ones stay behind it.

    Raises:
        KeyRefused: when the file is readable by others, or the key has impossible characters.
        SettingError: when `name` is neither a provider with a server nor an address.
    """
    name = holder_of(name)
    origin = _origin_for(name)
    kept = Key(value, source="this call", origin=origin).reveal(origin)
    held = read_keys(folder)
    return write_keys(folder, {**held, name: (kept, *held.get(name, ())[1:])})


def _catalogued(provider: str) -> str:
    entry = CATALOG.get(provider)
    return origin_of(entry.address) if entry and entry.address else ""


def _origin_for(name: str) -> str:
    return _catalogued(name) if name in CATALOG else origin_of(name)
