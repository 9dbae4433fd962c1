"""What a server's refusal means: status, headers and body become one typed error. No I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Final

from jan_magics.domain.errors import (
    AuthenticationFailed,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    RateLimited,
    RequestRejected,
    ServerFailed,
    StreamBroken,
)
from jan_magics.providers.catalog import CATALOG
from jan_magics.providers.complaints import Complaint, complaint
from jan_magics.providers.key_files import FILE_NAME
from jan_magics.providers.keys import Key, origin_of
from jan_magics.providers.overflows import overflow_in
from jan_magics.providers.refusals import refused_in

GO_ON: Final = "Run the cell again, or go on from what arrived: %chat resume"
_QUOTED: Final = 300  # chars of a server's own words that an error repeats


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked: what an error must name, and the key that it must not.

    `number` is that of the key, 0 where no other was tried before it; `refused` are the numbers of
    those that were not accepted.
    """

    model: str
    provider: str
    address: str
    key: Key | None = None
    number: int = 0
    refused: tuple[int, ...] = ()

    @property
    def who(self) -> str:
        """Return what people call the server: the provider's name, else its host."""
        return self.holder.partition("://")[2] or self.provider

    @property
    def holder(self) -> str:
        """Return what a key is stored for: the provider, else the origin of its address."""
        return origin_of(self.address) if self.provider == "custom" else self.provider


def failure(
    status: int, headers: Mapping[str, str], body: bytes, asked: Asked, *, now: datetime
) -> ProviderError:
    """Turn an answer that is no success into the error that says what to do.

    `headers` have lower-case names; `now` is needed for a Retry-After that is a date.
    """
    said = complaint(body, asked.key)
    wait = _seconds(headers.get("retry-after", ""), now)
    error = complained(said, asked, status, wait)
    if isinstance(error, ContextOverflow | ModelNotFound):
        return error
    if 300 <= status < 400:
        return RequestRejected(
            f"{asked.address} answers with a redirect ({status}), which is not followed",
            "Name the address it leads to: https://HOST/v1#MODEL",
            model=asked.model,
            status=status,
        )
    return error


def complained(  # noqa: PLR0911 - a kind each
    said: Complaint, asked: Asked, status: int, wait: float | None = None
) -> ProviderError:
    """Turn a server's complaint into an error; inside a stream there is nothing but its words."""
    if sizes := overflow_in(said):
        return ContextOverflow(*sizes[:2], answer=sizes[2], model=asked.model, status=status)
    words = f"{said.code} {said.text}"
    if _BAD_KEY.search(words) or (status in {401, 403} and not _NOT_THE_KEY.search(words)):
        return _authentication_failed(said, asked, status)
    # Also as "not found" of a host that looks for a model with that ability, or as a failure of
    # the template that has no place for it.
    if status != 429 and refused_in(f"{said.code} {said.text}"):
        return _rejected(said, asked, status)
    if status == 404 or _NO_MODEL.search(f"{said.code} {said.text}"):
        return _not_found(said, asked, status)
    if status == 429:
        return _rate_limited(said, asked, wait)
    return _failed(said, asked, status, wait)


def _failed(said: Complaint, asked: Asked, status: int, wait: float | None) -> ProviderError:
    if status < 500:
        return _rejected(said, asked, status)
    message = f"{asked.who} failed{_number(status, said)}{_words(said)}"
    again = f"Wait {_duration(wait)} and run" if wait else "Run"
    step = f"{again} the cell again; when it stays, look into the server's own log."
    if status == 503 and "loading" in said.text.lower():
        message = f"{asked.model} is still being loaded by {asked.who}"
        step = f"Wait {_duration(wait) or 'a moment'} and run the cell again."
    failed = ServerFailed(message, step, model=asked.model, status=status, retry_after=wait)
    failed.wordless = not (said.told and said.text)
    return failed


def _rejected(said: Complaint, asked: Asked, status: int) -> RequestRejected:
    refuses = refused_in(f"{said.code} {said.text}")
    step = "Mend the parameter or part that it names; what was sent: %chat show --sent"
    if status == 402:
        step = "Pay there what it asks for, or ask another model: %chat use MODEL"
    elif status == 413:
        step = "Attach less, ask without history (--no-history), or start anew: %chat new"
    elif status == 403:
        step = "This is not about the key: do what it says, or ask another model: %chat use MODEL"
    elif refuses:
        step = "Ask without that, or ask another model: %chat use MODEL"
    words = f"{asked.who} refuses the request{_number(status, said)}{_words(said)}"
    rejected = RequestRejected(words, step, model=asked.model, status=status)
    rejected.refuses = refuses
    return rejected


def empty_answer(asked: Asked) -> StreamBroken:
    """Return the error for a success without a single word: some servers overflow like that."""
    return StreamBroken(
        f"{asked.model} answered with nothing at all",
        "It may exceed the context window: ask with --no-history, or start anew: %chat new",
        model=asked.model,
    )


def cut_off(asked: Asked, *, begun: bool) -> StreamBroken:
    """Return the error for an answer that ended in its middle; `begun`: some of it was read."""
    return StreamBroken(
        f"the answer of {asked.model} was cut off: the server closed it without an end",
        GO_ON if begun else "Run the cell again; when it stays, look into the server's own log.",
        model=asked.model,
    )


def unreadable(asked: Asked, what: str) -> StreamBroken:
    """Return the error for an answer that is not in the wire format."""
    return StreamBroken(
        f"the answer of {asked.model} cannot be read: {what}",
        f"Is {asked.address} the address of an OpenAI-compatible server? See: %chat models",
        model=asked.model,
    )


_NO_MODEL: Final = re.compile(
    r"model_not_found|invalid_model|model ['\"`]?\S+ (?:not found|does not exist|is not found)"
    r"|(?:no such|unknown|invalid) model\b|model not found|model does not exist"
    r"|is not a valid model|no model (?:is )?loaded|unable to access model",
    re.IGNORECASE,
)

_BAD_KEY: Final = re.compile(
    r"API_KEY_INVALID|invalid[_ ]api[_ ]key|api key (?:is )?(?:not valid|invalid|expired|missing)",
    re.IGNORECASE,
)
# Another key of the same place would be refused in the same words.
_NOT_THE_KEY: Final = re.compile(
    r"\bcountr(?:y|ies)\b|\bregions?\b|\bterritor|\borgani[sz]ation (?:must|has|is|does)"
    r"|must be verified|\blocation is not\b|not available in your|\bterms of\b|\bmoderation\b"
    r"|content polic|not allowed to (?:use|access) (?:this |the )?model|model access",
    re.IGNORECASE,
)
# Waiting does not help. Google's word for each of its limits, RESOURCE_EXHAUSTED, is not here.
_NO_QUOTA: Final = re.compile(
    r"insufficient[_ ](?:quota|balance)|billing_hard_limit", re.IGNORECASE
)


def _authentication_failed(said: Complaint, asked: Asked, status: int) -> AuthenticationFailed:
    source = f"{_which(asked)} from {asked.key.source}" if asked.key else "a request without a key"
    return AuthenticationFailed(
        f"{asked.who} does not accept {source}{_number(status, said)}{_words(said)}",
        _another_key(asked),
        model=asked.model,
        status=status,
    )


def _which(asked: Asked) -> str:
    """Name the key that was refused, and by their numbers those that were before it."""
    numbers = sorted({*asked.refused, asked.number})
    if len(numbers) < 2:
        return f"key {asked.number}" if asked.number else "the key"
    return f"keys {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}, the last"


def _another_key(asked: Asked) -> str:
    """Say where the key is changed that was sent; one stored by us comes after all others."""
    source = asked.key.source if asked.key else ""
    place, _, variable = source.partition("environment ")
    if variable:
        return f"Set another {variable}, or take it away and type: %chat key {asked.holder}"
    if place == FILE_NAME or not source:
        stored = f"Store {'another' if source else 'a'} key: %chat key {asked.holder}"
        return stored if source else stored + _withheld(asked)
    return f"Give another key there ({source})."


def _withheld(asked: Asked) -> str:
    """Say that a provider's usual variable is not sent to another address than its own."""
    known = CATALOG.get(asked.provider)
    if not known or not known.key_variable or known.address in ("", asked.address):
        return ""
    return (
        f"   {known.key_variable} belongs to {origin_of(known.address)} and is sent nowhere else,"
        f' unless your config.toml says: [providers.{known.name}] key_env = "{known.key_variable}"'
    )


def _not_found(said: Complaint, asked: Asked, status: int) -> ModelNotFound:
    return ModelNotFound(
        f"{asked.who} has no {asked.model!r}{_number(status, said)}{_words(said)}",
        "List what it has: %chat models   then: %chat use MODEL",
        model=asked.model,
        status=status,
    )


def _rate_limited(said: Complaint, asked: Asked, seconds: float | None) -> RateLimited:
    told = ("429" if said.numbered else "", f"key {asked.number}" if asked.number else "")
    which = f" ({', '.join(filter(None, told))})" if any(told) else ""
    used_up = bool(_NO_QUOTA.search(f"{said.code} {said.text}"))
    message = f"{asked.who} takes no more requests for now{which}{_words(said)}"
    wait = f"Wait {_duration(seconds) or 'a while'} and run"
    step = f"{wait} the cell again, or ask another model: %chat use MODEL"
    if used_up:
        message = f"the quota of the account at {asked.who} is used up{which}{_words(said)}"
        step = "Pay there or raise the limit, or ask another model: %chat use MODEL"
    limited = RateLimited(message, step, model=asked.model, status=429, retry_after=seconds)
    limited.used_up = used_up
    return limited


def _number(status: int, said: Complaint) -> str:
    """Return the status as an error shows it; inside a stream there is none to be shown."""
    return f" ({status})" if said.numbered else ""


def _words(said: Complaint) -> str:
    # Nothing in them may steer a terminal or turn the reading direction.
    text = " ".join("".join(c if c.isprintable() else " " for c in said.text).split())
    return f": {text[:_QUOTED]}{'…' if len(text) > _QUOTED else ''}" if text else ""


def _seconds(value: str, now: datetime) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
        except (ValueError, TypeError):
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 <= seconds < float("inf") else None


def _duration(seconds: float | None) -> str:
    """Return a time to wait, rounded up; "" where it is not known."""
    if not seconds:
        return ""
    if seconds < 120:
        return f"{seconds:g} s" if seconds < 1 else f"{ceil(seconds)} s"
    return f"{ceil(seconds / 60)} min" if seconds < 7200 else f"{ceil(seconds / 3600)} h"
