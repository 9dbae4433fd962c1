"""What Jan makes of the words and the failures of servers, and what we make of them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import httpx
import pytest

from jan_magics.domain.errors import ContextOverflow, RequestRejected
from jan_magics.providers.complaints import (
    Complaint,
    complaint,
    plain_words,
    unwrap_words,
    unwrapped,
)
from jan_magics.providers.failures import Asked, complained
from jan_magics.providers.params import Settled
from jan_magics.providers.rejections import rejected
from jan_magics.providers.transport import transport_failure
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

ASKED: Final = Asked("test:model", "test", "http://127.0.0.1:1/v1")


def run_context_info(given: Any) -> object:
    error = given["error"]
    said = complaint(error["responseBody"].encode(), None) if error else Complaint("")
    if said.used is None or said.window is None:
        return None
    return {"nPromptTokens": said.used, "nCtx": said.window}


SAMPLERS: Final = {"temperature": 0.5, "top_p": 0.5, "top_k": 3, "min_p": 0.1, "logprobs": 1}


def run_sampling(given: Any) -> object:
    refused = RequestRejected(given["message"], status=400)
    return rejected(refused, SAMPLERS, {}, Settled(SAMPLERS)) is not None


def run_overflow(given: Any) -> object:
    error = complained(Complaint(given["message"]), ASKED, 400)
    if not isinstance(error, ContextOverflow):
        return {"is_overflow": False, "parsed": None}
    known = error.used is not None and error.window is not None
    numbers = {"requestTokens": error.used, "contextTokens": error.window}
    return {"is_overflow": True, "parsed": numbers if known else None}


def run_wrapper(given: Any) -> object:
    return unwrap_words(given["message"])


def run_upstream(given: Any) -> object:
    return plain_words(given["message"])


def run_unwrap(given: Any) -> object:
    return unwrapped(given["error"])


def run_transport(given: Any) -> object:
    error = transport_failure(httpx.ConnectError(given["message"]), ASKED, begun=False)
    return "tls" if "certificate" in error.message else "connection"


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "errors.context_info": run_context_info,
        "errors.is_sampling_rejection": run_sampling,
        "errors.parse_context_overflow": run_overflow,
        "errors.strip_retry_wrapper": run_wrapper,
        "errors.clean_upstream": run_upstream,
        "errors.unwrap_retry": run_unwrap,
        "errors.transport_category": run_transport,
    }
)
_TYPES: Final = "a time-out is a class of its own; words of another class do not make one"
OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "errors.context_info/zero_ok": Ours(None, "a server without a window tells no overflow"),
        "errors.transport_category/timeout": Ours("connection", _TYPES),
        "errors.transport_category/tls_timeout": Ours("connection", _TYPES),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_errors(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
