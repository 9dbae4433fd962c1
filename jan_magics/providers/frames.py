"""What every decoder does with a frame before it looks for words in it. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from jan_magics.domain.errors import ProviderError, ServerFailed
from jan_magics.domain.messages import FinishReason, Json
from jan_magics.providers.complaints import complaint_in
from jan_magics.providers.failures import Asked, complained, empty_answer, unreadable

# What a server calls its failure, where it gives no number that means one.
_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request": 400, "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400,
    "authentication_error": 401, "UNAUTHENTICATED": 401,
    "permission_error": 403, "PERMISSION_DENIED": 403,
    "not_found": 404, "NOT_FOUND": 404, "request_too_large": 413,
    "rate_limit": 429, "RESOURCE_EXHAUSTED": 429,
    "overloaded": 529, "UNAVAILABLE": 503, "timeout": 504, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip


def json_of(payload: bytes, asked: Asked) -> Json:
    """Read a frame. Raises StreamBroken where it is no JSON."""
    try:
        # Decoded here, because json would first guess among five encodings.
        found: Json = json.loads(payload.decode())
    except (ValueError, RecursionError) as error:
        raise unreadable(asked, "a piece of it is no JSON") from error
    return found


def breaks_off(payload: bytes) -> bool:
    """Tell whether a frame is the beginning of JSON that was cut through."""
    try:
        json.loads(payload.decode("utf-8", "ignore"))
    except json.JSONDecodeError as error:
        rest = error.doc[error.pos :].strip()
        inside = error.msg.startswith(("Unterminated string", "Invalid \\uXXXX"))
        begun = inside or any(word.startswith(rest) for word in ("true", "false", "null"))
        return begun and error.doc.lstrip()[:1] in ("{", "[")
    except (ValueError, RecursionError):
        return False
    return False


def object_of(payload: bytes, asked: Asked) -> dict[str, Json] | None:
    """Read a frame that is an object, None for a blank one. Raises StreamBroken."""
    if not payload.strip():
        return None
    found = json_of(payload, asked)
    if not isinstance(found, dict):
        raise unreadable(asked, "a piece of it is no object")
    return found


def nothing_said(asked: Asked, reason: FinishReason | None, *, said: bool) -> ProviderError | None:
    """Return the error of an answer without a word, None where it has one, or has ended well."""
    if said or reason not in (None, "error"):
        return None
    if reason is None:
        return empty_answer(asked)
    return ServerFailed(
        f"{asked.who} has ended the answer with an error, and does not say which",
        "Run the cell again, or ask another model: %chat use MODEL",
        model=asked.model,
    )


def refusal_in(error: Json, asked: Asked) -> ProviderError:
    """Return the error that a frame tells of, by its number or by its name."""
    said = complaint_in(error, asked.key)
    told = error if isinstance(error, dict) else {}
    code = told.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return complained(said, asked, code)
    names = f"{said.code} {told.get('status')}"
    status = next((number for name, number in _STATUSES.items() if name in names), 500)
    return complained(replace(said, numbered=False), asked, status)
