"""Tokens as Jan estimates them: 3.5 UTF-16 units a token, 4 tokens a message."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.context.counting import count_message
from jan_magics.context.tokens import CharsTokenizer
from jan_magics.domain.messages import Message, Part, ReasoningPart, TextPart, ToolCallPart
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def run_text(given: Any) -> object:
    return CharsTokenizer().count(given["text"])


def run_message(given: Any) -> object:
    row = given["message"]
    parts = tuple(map(part_of, row["parts"]))
    message = Message(row["id"], "t", row["role"], parts, EPOCH, metadata=row.get("metadata", {}))
    return count_message(message, CharsTokenizer())


def part_of(row: Mapping[str, Any]) -> Part:
    match row["type"]:
        case "text":
            return TextPart(row["text"])
        case "reasoning":
            return ReasoningPart(row["text"])
        case _:
            return ToolCallPart(row["toolCallId"], row["toolName"], "{}")


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {"estimate_tokens": run_text, "estimate_message_tokens": run_message}
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "estimate_message_tokens/dynamic_tool_counts": Ours(
            27, "the tool call as the JSON that goes out, not as it is stored"
        ),
        "estimate_message_tokens/two_text_parts_joined_by_newline": Ours(
            7, "text parts go out with a blank line between two"
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_estimates(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
