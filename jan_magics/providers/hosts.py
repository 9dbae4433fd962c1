"""Servers that the user's own config names, as `[providers.NAME]`. Reading only."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, get_args

from jan_magics.domain.errors import SettingError
from jan_magics.domain.models import ModelRef, plain_address
from jan_magics.providers.catalog import CATALOG, Entry, Wire
from jan_magics.providers.dialects import ANTHROPIC, CUSTOM, GOOGLE, OLLAMA
from jan_magics.providers.keys import Key, host_of, is_loopback, origin_of

FIELDS: Final = ("address", "api_type", "key_env", "keys", "window", "prices")
_ADDRESS: Final = 'Write: address = "https://HOST/v1"'
PRICES: Final = ("input", "output", "cached")
_WIRES: Final = tuple(wire for wire in get_args(Wire) if wire != "offline")
_OF_WIRE: Final[Mapping[str, Entry]] = MappingProxyType({
    "openai": Entry("", "", dialect=CUSTOM),
    "anthropic": Entry("", "", wire="anthropic", dialect=ANTHROPIC, header="x-api-key"),
    "google": Entry("", "", wire="google", dialect=GOOGLE, header="x-goog-api-key"),
    "ollama": Entry("", "", wire="ollama", dialect=OLLAMA),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Host:
    """A server and how it is spoken with; `prices` are for a million tokens, `window` in tokens."""

    entry: Entry
    keys: tuple[Key, ...] = ()
    window: int | None = None
    prices: Mapping[str, float] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return the base address."""
        return self.entry.address


def read_host(name: str, table: Mapping[str, object], place: str) -> Host:
    """Read a table of a config. Raises SettingError, KeyRefused naming the place."""
    here = f"[providers.{name}] in {place}"
    for key in table:
        if key not in FIELDS:
            raise SettingError(f"{here} has no {key!r}", f"It can have: {', '.join(FIELDS)}")
    entry = _entry(name, table, here)
    keys = table.get("keys", [])
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        # Its value is not quoted: it may be a key.
        raise SettingError(f"keys of {here} is no list of text", 'Write: keys = ["…"]')
    origin = origin_of(entry.address)
    held = tuple(
        Key(key, source=place, origin=origin)
        for key in dict.fromkeys(filter(None, map(str.strip, keys)))
    )
    return Host(entry, held, _window(table, here), _prices(table, here))


def wire_of(name: str, api_type: object) -> Wire:
    """Return the wire that a provider is spoken with: the one that is named, else its own."""
    if isinstance(api_type, str) and api_type in _WIRES:
        return _OF_WIRE[api_type].wire
    known = CATALOG.get(name)
    return known.wire if known else "openai"


def _entry(name: str, table: Mapping[str, object], here: str) -> Entry:
    api_type = table.get("api_type")
    if api_type is not None and api_type not in _WIRES:
        raise SettingError(f"api_type of {here} is {api_type!r}", f"It can be: {', '.join(_WIRES)}")
    wire, known = wire_of(name, api_type), CATALOG.get(name)
    # Another wire than its own: of what is known of the provider only the name is left.
    made = known if known and known.wire == wire else _OF_WIRE[wire]
    written, _, query = _text(table, "address", here).partition("?")
    address = plain_address(written) or (known.address if known else "")
    if not address:
        raise SettingError(f"{here} has no address", _ADDRESS)
    try:
        origin_of(address)
    except SettingError as fault:
        raise SettingError(f"address of {here}: {fault.message}", _ADDRESS) from fault
    variable = _text(table, "key_env", here)
    if known and known.address in {"", address}:
        # Its usual variable belongs to its own address, and goes to no other by itself.
        variable = variable or known.key_variable
    return replace(made, name=name, address=address, key_variable=variable, query=query)


def _text(table: Mapping[str, object], name: str, here: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str):
        raise SettingError(f"{name} of {here} is {value!r}, not text", f'Write: {name} = "…"')
    return value.strip()


def _window(table: Mapping[str, object], here: str) -> int | None:
    value = table.get("window")
    if value is None or (type(value) is int and value > 0):
        return value if isinstance(value, int) else None
    raise SettingError(f"window of {here} is {value!r}", "Write a number of tokens.")


def _prices(table: Mapping[str, object], here: str) -> Mapping[str, float]:
    value = table.get("prices", {})
    if isinstance(value, dict) and all(
        name in PRICES and type(price) in {int, float} and 0 <= price < float("inf")
        for name, price in value.items()
    ):
        return MappingProxyType({name: float(price) for name, price in value.items()})
    raise SettingError(
        f"prices of {here} is {value!r}",
        "Write what a million tokens cost: prices = {input = 1.0, output = 2.0, cached = 0.1}",
    )


def host_away(ref: ModelRef, hosts: Mapping[str, Host]) -> str:
    """Return the host that a model's requests go to, "" where they stay on this machine."""
    named, entry = hosts.get(ref.provider), CATALOG.get(ref.provider)
    address = ref.address or (named.address if named else entry.address if entry else "")
    return host_of(address) if address and not is_loopback(address) else ""
