"""A server's own words in any of the known shapes of an error body, without secrets. No I/O."""

import json
import re
from dataclasses import dataclass
from typing import Final

from jan_magics.domain.messages import Json
from jan_magics.domain.secret_shapes import REPEATED
from jan_magics.providers.keys import Key

_READ: Final = 4096  # chars of a server's words that are searched for what they mean
_LONGEST_CODE: Final = 200


@dataclass(frozen=True, slots=True)
class Complaint:
    """The server's own words, without secrets, and the facts beside them.

    `told` False: it did not speak as its wire does; a proxy or nobody did. `numbered` False: it
    came inside a stream, without a status.
    """

    text: str
    code: str = ""
    used: int | None = None
    window: int | None = None
    told: bool = True
    numbered: bool = True


def complaint(body: bytes, key: Key | None) -> Complaint:
    """Find the words in any of the known shapes of an error body."""
    try:
        data: Json = json.loads(body)
    except (ValueError, RecursionError):
        return Complaint(redact(_plain(body), key), told=False)
    return complaint_in(data, key)


def complaint_in(data: Json, key: Key | None) -> Complaint:
    """Find the words in a parsed error, whether or not it stands under `error`."""
    if isinstance(data, list) and data:  # Gemini's compatible endpoint
        data = data[0]
    error = unwrapped(data.get("error", data) if isinstance(data, dict) else data)
    if not isinstance(error, dict):
        words = error if isinstance(error, str) else json.dumps(error)
        return Complaint(redact(words, key)[:_READ])
    places = (error.get("message"), error.get("detail"), error.get("error"))
    found = next((each for each in places if each), error)
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return Complaint(
        # Cut before it is searched, which takes its time, and after secrets are out of it.
        plain_words(unwrap_words(redact(text, key)[:_READ])),
        " ".join(str(error[name])[:_LONGEST_CODE] for name in ("type", "code") if error.get(name)),
        _count(error.get("n_prompt_tokens")),
        _count(error.get("n_ctx")),
    )


def unwrapped(error: Json) -> Json:
    """Return the last failure of one that stands for several attempts."""
    errors = error.get("errors") if isinstance(error, dict) else None
    last = errors[-1] if isinstance(errors, list) and errors else None
    return error if last is None else last


_WRAPPERS: Final = (
    re.compile(r"Failed after \d+ attempts?\. Last error: (.*)", re.DOTALL),
    re.compile(r"Failed after \d+ attempts? with non-retryable error: '(.*)'", re.DOTALL),
)
# A template engine says where it was before it says what is wrong.
_PRELUDE: Final = re.compile(r"\s*(?:-{4,}\s*)?(?:While executing\b.*?\n\s*\^\s*\n)?", re.DOTALL)


def unwrap_words(text: str) -> str:
    """Take off what a client of the server's own says around the words, one layer of it."""
    found = next((match for form in _WRAPPERS if (match := form.fullmatch(text))), None)
    return found[1] if found else text


def plain_words(text: str) -> str:
    """Return what is wrong, without the traces around it."""
    for line in text.splitlines():
        if line.startswith("Error:"):
            return line.removeprefix("Error:").strip()
    return _PRELUDE.sub("", text, count=1)


def redact(text: str, key: Key | None) -> str:
    """Replace the key, and whatever looks like one."""
    return REPEATED.sub("[key]", key.redact(text) if key else text)


def _plain(body: bytes) -> str:
    text = body[:_READ].decode("utf-8", "replace")
    if "<" in text:
        text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(text.split())


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
