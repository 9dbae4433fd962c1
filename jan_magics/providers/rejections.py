"""Which parameter of a request a server's words refuse, by the keys that were really sent. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from jan_magics.domain.errors import RequestRejected
from jan_magics.domain.messages import Json
from jan_magics.providers.params import Settled, common_name

# What these say is not about a parameter: keys, money, addresses, sizes, haste.
_OTHERWISE: Final = frozenset({401, 402, 403, 404, 413, 429})
_EXTRAS: Final = ("stream_options", "return_progress", "cache_prompt", "timings_per_token")
"""Keys that are sent unasked; an answer can do without them."""
_HOLDERS: Final = frozenset({"options", "generationConfig"})
_PLAIN_WORDS: Final = frozenset({"n", "stop", "user", "format", "raw", "seed"})
"""Keys that are words of any sentence; they are meant where they are quoted."""
_TOO_COMMON: Final = frozenset({"tokens", "format", "choice", "response", "parallel", "safety"})


@dataclass(frozen=True, slots=True)
class Rejected:
    """What a server refuses of a request's parameters.

    `named` are the parameters that it names, by their common names; none, where it does not say
    which. `keys` are keys of the body that go without any parameter, each with what it is called
    instead, "" = it is left out.
    """

    named: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


def rejected(
    error: RequestRejected, body: Mapping[str, Json], bare: Mapping[str, Json], settled: Settled
) -> Rejected | None:
    """Return what is refused of a body, None where it is no parameter.

    `bare` is the same without any parameter, `settled` what was asked for.
    """
    status, words = error.status, error.message
    if status is None or not 400 <= status < 500 or status in _OTHERWISE:
        return None
    if keys := _keys(words, body):
        return Rejected(keys=keys)
    sent = sent_keys(body, bare)
    if not sent:
        return None
    found = {_common(key, settled) for key in sent if _is_named(key, words)}
    if _thinks(settled) and _THOUGHT.search(words):
        found.add("reasoning")
    if found or _REFUSALS.search(words):
        return Rejected(tuple(sorted(found)))
    return None


def sent_keys(body: Mapping[str, Json], bare: Mapping[str, Json]) -> frozenset[str]:
    """Return the keys, at any depth, that a body has beside the bare one or with another value."""
    found = set[str]()
    for key, value in body.items():
        other = bare.get(key)
        if value == other:
            continue
        if key not in _HOLDERS:
            found.add(key)
        if isinstance(value, dict):
            found |= sent_keys(value, other if isinstance(other, dict) else {})
    return frozenset(found)


def rekeyed(body: Mapping[str, Json], keys: Mapping[str, str]) -> dict[str, Json]:
    """Return a body with some keys called otherwise, or left out."""
    named = ((keys.get(key, key), value) for key, value in body.items())
    return {key: value for key, value in named if key}


def parameters_of(settled: Settled) -> tuple[str, ...]:
    """Return the common names of the parameters that were asked for, reasoning among them."""
    names = [name for name, value in settled.values.items() if value is not None]
    return tuple(sorted((*names, *(["reasoning"] if _thinks(settled) else ()))))


def _thinks(settled: Settled) -> bool:
    return settled.level not in {None, "auto"}


def _keys(words: str, body: Mapping[str, Json]) -> dict[str, str]:
    if "max_tokens" in body and _NEWER.search(words):
        return {"max_tokens": "max_completion_tokens"}
    return {key: "" for key in _EXTRAS if key in body and re.search(rf"\b{key}\b", words)}


def _is_named(key: str, words: str) -> bool:
    """Tell whether a text names a key, in whatever spelling its server has for it."""
    if key in _PLAIN_WORDS:
        return re.search(rf"['\"`.\[]{key}['\"`\].]|^{key}:", _after_colon(words)) is not None
    if re.search(rf"(?<![a-z\d]){_squeezed(key)}(?![a-z\d])", _squeezed(words)):
        return True
    if not _IS_NOT.search(words):
        return False
    told = set(re.findall(r"[a-z]{6,}", words.lower()))
    return bool(told & (set(_pieces(key)) - _TOO_COMMON))


def _after_colon(words: str) -> str:
    return words.partition("): ")[2] or words


def _pieces(key: str) -> Iterable[str]:
    return re.findall(r"[a-z]+", re.sub("([A-Z])", r"_\1", key).lower())


def _squeezed(text: str) -> str:
    return re.sub("[_-]", "", text.lower())


def _common(key: str, settled: Settled) -> str:
    """Return the common name of what a key was sent for; what remains is sent for reasoning."""
    known = {_squeezed(name): name for name in settled.values}
    name = known.get(_squeezed(common_name(key))) or known.get(_squeezed(key))
    if name is None:
        name = next((n for n in settled.values if common_name(_snake(key)) == n), None)
    return name or ("reasoning" if _thinks(settled) else key)


def _snake(key: str) -> str:
    return re.sub("([A-Z])", r"_\1", key).lower()


_NEWER: Final = re.compile(r"use ['\"`]?max_completion_tokens", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"\b(?:think(?:ing)?|reason(?:ing|s)?)\b", re.IGNORECASE)
_IS_NOT: Final = re.compile(r"\b(?:not|n't|no|un(?:supported|known|expected)|invalid)\b", re.I)
_REFUSALS: Final = re.compile(
    r"(?:unsupported|unknown|unrecognized|unexpected|invalid) (?:request )?"
    r"(?:parameter|argument|property|field|key|keyword|name)"
    r"|propert(?:y|ies) .{0,80}(?:unsupported|not (?:supported|allowed|permitted))"
    r"|use only one|cannot both be specified|extra (?:inputs|fields|parameters) (?:are )?not"
    r"|cannot find field",
    re.IGNORECASE | re.DOTALL,
)
