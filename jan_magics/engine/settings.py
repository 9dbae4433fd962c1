"""Every setting with its value and the place it came from. Reading only; nothing is created."""

import difflib
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from jan_magics.domain.errors import JanError, SettingError
from jan_magics.domain.models import ModelRef, parse_model
from jan_magics.engine.setting_files import Unread, read_toml
from jan_magics.engine.setting_list import BY_NAME, SETTINGS, SWITCH, Setting, trait_of, variable_of
from jan_magics.providers.hosts import Host, host_away, read_host
from jan_magics.storage.postgres_url import PostgresUrl, is_postgres

_PROVIDER: Final = re.compile(r"providers[\s\"']*\.[\s\"']*([\w-]+)")
_SWITCHED: Final = {"true": "on", "1": "on", "yes": "on", "false": "off", "0": "off", "no": "off"}


@dataclass(frozen=True, slots=True)
class Source:
    """Values that came from one place; `{name}` in its own name is that of the setting there.

    `foreign` = the place may have come with a project. `fault` = why it cannot be read, `holds`
    the settings that perhaps stand in it then.
    """

    name: str
    values: Mapping[str, object]
    foreign: bool = False
    fault: SettingError | None = None
    holds: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a setting, and the name of its source."""

    setting: Setting
    value: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Sources in order of precedence; `hosts` are the providers that the user's config names.

    `unread` are providers that it names too, each with why that cannot be read.
    """

    sources: tuple[Source, ...]
    hosts: Mapping[str, Host]
    notes: tuple[str, ...] = ()
    unread: Mapping[str, SettingError] = field(default_factory=dict)

    def get(self, name: str) -> Value:
        """Return the value of a setting.

        Raises:
            SettingError: when it cannot be used, or stands perhaps in a file that cannot be read.
        """
        setting = BY_NAME[name]
        for source in self.sources:
            if source.fault and name in source.holds:
                step = _otherwise(setting, source.fault.next_step)
                raise SettingError(source.fault.message, step)
            value = source.values.get(name)
            if value not in (None, ""):
                place = source.name.format(VARIABLE=variable_of(name), name=trait_of(name))
                return Value(setting, checked(setting, value, place), place)
        return Value(setting, setting.default, "default")

    def over(self, name: str, values: Mapping[str, object]) -> "Settings":
        """Return settings in which these values go before all others. Raises SettingError."""
        for each, value in values.items():
            checked(BY_NAME[each], value, name)
        return replace(self, sources=(Source(name, values), *self.sources)) if values else self

    def table(self) -> tuple[Value, ...]:
        """Return every setting with its value and source; one that cannot be used says why."""
        return tuple(self._told(setting) for setting in SETTINGS)

    def damage(self) -> tuple[SettingError, ...]:
        """Return why files, or what they say of a provider, cannot be read."""
        known = (*(source.fault for source in self.sources), *self.unread.values())
        return tuple({fault.message: fault for fault in known if fault}.values())

    def faults(self) -> tuple[SettingError, ...]:
        """Return what is wrong: each file that cannot be read, each value that cannot be used."""
        found = {fault.message: fault for fault in self.damage()}
        for setting in SETTINGS:
            try:
                self.get(setting.name)
            except SettingError as fault:
                found.setdefault(fault.message, fault)
        return tuple(found.values())

    def _told(self, setting: Setting) -> Value:
        try:
            return self.get(setting.name)
        except SettingError as fault:
            return Value(setting, None, f"cannot be used: {fault.message}")


def checked(setting: Setting, value: object, source: str) -> str:
    """Return a usable value. Raises SettingError naming the source."""
    if setting.choices == SWITCH:
        value = _SWITCHED.get(str(value).lower(), value)
    if setting.between is not None:
        return _number(setting, value, source)
    if not isinstance(value, str | Path):
        raise SettingError(
            f"{setting.name} from {source} is {value!r}, not text",
            _otherwise(setting, f"It says {setting.meaning}."),
        )
    text = str(value)
    addressed = setting.name == "store" and is_postgres(text)
    if setting.choices and text not in setting.choices and not addressed:
        raise SettingError(
            f"{setting.name} from {source} is {text!r}",
            _otherwise(setting, f"It can be: {', '.join(setting.choices)}"),
        )
    if setting.name == "model" or addressed:
        _read(setting, text, source)
    return text


def _read(setting: Setting, text: str, source: str) -> None:
    try:
        (PostgresUrl.read if setting.name == "store" else parse_model)(text)
    except SettingError as fault:
        step = _otherwise(setting, fault.next_step)
        raise SettingError(f"{setting.name} from {source}: {fault.message}", step) from None


def _otherwise(setting: Setting, step: str) -> str:
    """Say what can stand there, and what goes before it meanwhile."""
    flag = {"model": "-m PROVIDER:NAME", "window": "--window N", "overflow": "--overflow HOW",
            "assistant": "-a NAME", "thread": "-t NAME"}.get(setting.name)  # fmt: skip
    goes_before = f"%chat use {flag}" if flag else f"%config JanMagics.{trait_of(setting.name)} = …"
    return f"{step}   until it is mended: {goes_before}"


def _number(setting: Setting, value: object, source: str) -> str:
    low, high = setting.between or (0, 0)
    whole = isinstance(low, int) and isinstance(high, int)
    text = str(value).replace("_", "").replace(",", "").strip()
    try:
        number = int(text) if whole else float(text)
    except ValueError:
        number = None
    if isinstance(value, bool) or number is None or not low <= number <= high:
        raise SettingError(
            f"{setting.name} from {source} is {value!r}",
            _otherwise(
                setting, f"It can be a {'whole ' if whole else ''}number from {low:,} to {high:,}."
            ),
        )
    return str(number)


def read_settings(
    folder: Path,
    config_folder: Path,
    environment: Mapping[str, str],
    *,
    above: tuple[Source, ...] = (),
) -> Settings:
    """Read all sources for a notebook's folder; `above` go before the environment.

    A file that is not TOML is a source with a fault, which holds up what perhaps stands in it.
    """
    variables = {
        each.name: environment[variable]
        for each in SETTINGS
        if (variable := variable_of(each.name)) in environment
    }
    sources = [*above, Source("environment {VARIABLE}", variables)]
    notes: list[str] = []
    try:
        if project := nearest_project(folder):
            sources.append(_from_project(*project, notes))
    except Unread as unread:
        sources.append(_damaged(unread, notes, foreign=True))
    path = config_folder / "config.toml"
    hosts: dict[str, Host] = {}
    faults: dict[str, SettingError] = {}
    try:
        user = _from_user(path, notes, hosts, faults)
    except Unread as unread:
        user = _damaged(unread, notes)
        faults = dict.fromkeys(_PROVIDER.findall(unread.text), unread.fault)
    return Settings((*sources, user), hosts, tuple(notes), faults)


def read_hosts(config_folder: Path) -> Mapping[str, Host]:
    """Return the servers of the user's own file as it is now; none where it cannot be read."""
    hosts: dict[str, Host] = {}
    with suppress(Unread):
        _from_user(config_folder / "config.toml", [], hosts, {})
    return hosts


def away(model: ModelRef, config_folder: Path) -> str:
    """Return the host that a model's requests go to now, "" for this machine."""
    return host_away(model, {} if model.address else read_hosts(config_folder))


def _damaged(unread: Unread, notes: list[str], *, foreign: bool = False) -> Source:
    """Return a file that is no TOML as a source, and say so."""
    notes.append(f"{unread.fault.message} · {unread.fault.next_step}")
    last = {each.name: each.name.rpartition(".")[2] for each in SETTINGS}
    holds = (name for name, word in last.items() if re.search(rf"\b{word}\b", unread.text))
    return Source(unread.path.name, {}, foreign, unread.fault, frozenset(holds))


def nearest_project(folder: Path) -> tuple[Path, Mapping[str, object]] | None:
    """Find the nearest `pyproject.toml` at or above a folder, and its `[tool.jan_magics]`.

    Raises:
        Unread: when it is not TOML.
    """
    for parent in (folder, *folder.parents):
        path = parent / "pyproject.toml"
        if path.is_file():
            tool = read_toml(path).get("tool")
            table = tool.get("jan_magics") if isinstance(tool, dict) else None
            return (path, table) if isinstance(table, dict) else None
    return None


def _from_project(path: Path, table: Mapping[str, object], notes: list[str]) -> Source:
    allowed: dict[str, object] = {}
    for name, value in _flat(table).items():
        setting = BY_NAME.get(name)
        if setting is None:
            notes.append(f"{path.name}: {_unknown(name)}")
        elif not setting.foreign or (name == "model" and "//" in str(value)):
            # The folder may have come from anywhere; it must not say where text is sent.
            notes.append(f"{path.name}: {name} is ignored, a project may not set it")
        else:
            allowed[name] = value
    return Source(path.name, allowed, foreign=True)


def _from_user(
    path: Path, notes: list[str], hosts: dict[str, Host], faults: dict[str, SettingError]
) -> Source:
    table = dict(read_toml(path)) if path.is_file() else {}
    providers = table.pop("providers", {})
    for name, entry in providers.items() if isinstance(providers, dict) else ():
        if isinstance(entry, dict):
            kept = entry
            if "keys" in entry and _open_to_others(path):
                kept = {field: value for field, value in entry.items() if field != "keys"}
                notes.append(
                    f"{path.name}: the keys of [providers.{name}] are ignored, other users of this "
                    f'machine can read them; type: !chmod 600 "{path}"'
                )
            try:
                hosts[name] = read_host(name, kept, path.name)
            except JanError as fault:
                faults[name] = SettingError(fault.message, fault.next_step)
                notes.append(f"{fault.message} · {fault.next_step}")
    table = _flat(table)
    notes.extend(f"{path.name}: {_unknown(name)}" for name in table if name not in BY_NAME)
    return Source(path.name, {k: v for k, v in table.items() if k in BY_NAME})


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with the names of its tables before those in them: `rag.enabled`."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        inner = value if isinstance(value, dict) else None
        flat |= {f"{name}.{key}": each for key, each in inner.items()} if inner else {name: value}
    return flat


def _open_to_others(path: Path) -> bool:
    return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _unknown(name: str) -> str:
    nearest = difflib.get_close_matches(name, BY_NAME, 1)
    return f"no setting {name!r}" + (f", closest: {nearest[0]!r}" if nearest else "")
