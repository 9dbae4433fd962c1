"""Cleaning as Jan does it, step by step, and what we do otherwise."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.models import Profile
from jan_magics.sanitize.media import leave_out_media, unpack_media
from jan_magics.sanitize.parts import read_parts
from jan_magics.sanitize.question import has_question
from jan_magics.sanitize.roles import alternate
from jan_magics.sanitize.tool_calls import pair_calls
from jan_magics.sanitize.waves import split_waves
from tests.conformance.ui_messages import messages_of, rows, run, said
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

BLIND: Final = Profile("blind", images=False, answer_files=True)
SEEING: Final = Profile("seeing", images=True, answer_files=True)
UNKNOWN: Final = Profile("nobody knows")
BESIDE: Final = "media are parts up to the wire: no text that a user could type becomes a file"


def run_strip_images(given: Any) -> object:
    profile = SEEING if given["model_supports_vision"] else BLIND
    return rows(leave_out_media(messages_of(given), profile))


def run_coalesce(given: Any) -> object:
    return rows(alternate(messages_of(given)))


def run_question(given: Any) -> object:
    return has_question(messages_of(given))


def heard(media_type: str, content: str) -> dict[str, Any]:
    return {"type": "file", "mediaType": media_type, "bytes": content}


def tool(name: str, identifier: str, state: str, **outcome: str) -> dict[str, Any]:
    row = {"type": f"tool-{name}", "toolCallId": identifier, "state": state, "input": {}}
    return row | outcome


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "sanitize.coalesce": run_coalesce,
        "sanitize.encode_audio": run(unpack_media, leave_out_media, profile=UNKNOWN),
        "sanitize.encode_video": run(unpack_media, leave_out_media, profile=UNKNOWN),
        "sanitize.has_genuine_user_query": run_question,
        "sanitize.orphan_tools": run(read_parts, pair_calls),
        "sanitize.strip_images": run_strip_images,
        "sanitize.wave_split": run(read_parts, split_waves),
    }
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "sanitize.coalesce/adjacent_assistants_kept": Ours(
            [said("u", "user", "q"), said("a", "assistant", "1\n\n2")],
            "two answers in a row are one: alternating templates refuse them; waves stay apart",
        ),
        "sanitize.coalesce/empty_user_not_dropped": Ours(
            [{"id": "u", "role": "user", "parts": []}, said("b", "assistant", "y")],
            "an answer before any question goes: the first message is the user's",
        ),
        "sanitize.encode_audio/mpeg_to_mp3": Ours(
            [said("u", "user", "hear", heard("audio/mpeg", "ABC"))], BESIDE
        ),
        "sanitize.encode_audio/wav": Ours(
            [said("u", "user", "hear", heard("audio/wav", "ABC"))], BESIDE
        ),
        "sanitize.encode_audio/xwav": Ours(
            [said("u", "user", "hear", heard("audio/x-wav", "A"))], BESIDE
        ),
        "sanitize.orphan_tools/resolved_states_kept": Ours(
            [
                {
                    "id": "m",
                    "role": "assistant",
                    "parts": [
                        tool("a", "1", "output-available", output="ok"),
                        tool("b", "2", "output-error", errorText="bad"),
                        tool("c", "3", "output-denied", output="ok"),
                    ],
                }
            ],
            "a result says one thing: where it failed, why",
        ),
        "sanitize.strip_images/uppercase_mime_kept": Ours(
            [said("u", "user", "[Left out, because the model cannot take it: image]")],
            "media types know no case; a message that has nothing else says what was left out",
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_cleaning(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
