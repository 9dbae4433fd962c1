"""Assistants, instructions and titles as Jan makes them, and where a user's words are kept."""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from jan_magics.domain.errors import ModelNotReachable
from jan_magics.domain.messages import FilePart, Message, Part, TextPart, Thread, text_of
from jan_magics.domain.models import ModelRef
from jan_magics.engine.assistants import VERSION_FILE, AssistantRow, Assistants
from jan_magics.engine.migrations import Migration, migrate
from jan_magics.engine.templates import Facts, render
from jan_magics.engine.titles import (
    MOST_TOKENS,
    MOST_WORDS,
    SILENT,
    clean_title,
    is_due,
    should_title,
    title_request,
    transcript,
)
from jan_magics.engine.titling import wait_until_idle
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SAMPLING: Final = MappingProxyType(
    {"temperature": 0.7, "top_k": 20, "top_p": 0.8, "repeat_penalty": 1.12}
)
TABLE: Final = (
    Migration(1, "<OLD_GENERIC>", "<NEW_GENERIC>"),
    Migration(2, "<NEW_GENERIC>", "<IDENTITY>\n\n<DEFAULT_BODY>", SAMPLING),
    Migration(3, "<IDENTITY>\n\n<DEFAULT_BODY>", "<DEFAULT_BODY>"),
)


def assistants_in(folder: Path) -> Assistants:
    return Assistants(folder, lambda: "new", lambda: EPOCH)


def run_migrate(given: Any) -> object:
    with TemporaryDirectory() as name:
        known = assistants_in(Path(name))
        texts = {each["id"]: json.dumps(each) for each in given["assistants"]}
        for stem, text in (texts | (given["raw_files"] or {})).items():
            (known.folder / f"{stem}.json").write_text(text)
        version = known.folder / VERSION_FILE
        if given["version_file"] is not None:
            version.write_text(given["version_file"])
        migrate(known, TABLE)
        rows = [row_of(row) for row in known.rows() if row.path]
        return {"assistants": rows, "version_file": version.read_text()}


def row_of(row: AssistantRow) -> dict[str, object]:
    if row.fault:
        return {"id": row.assistant.id, "corrupt": True}
    return {
        "id": row.assistant.id,
        "instructions": row.assistant.instructions,
        "parameters": dict(row.assistant.parameters) or None,
    }


def run_render(given: Any) -> object:
    now = datetime.fromisoformat(given["now_utc"]).astimezone(ZoneInfo(given["timezone"]))
    return render(given["instructions"], Facts(now, "n.ipynb", "a:b")).stable


def run_clean(given: Any) -> object:
    return clean_title(given["raw"])


def run_prompt(given: Any) -> object:
    half = given["transcript_length"] // 2
    request = title_request(ModelRef("a", "b"), "<" * half + ">" * half, "1", EPOCH)
    prompt = text_of(request.messages[0])
    kept = prompt.count("<")
    assert f"{MOST_WORDS} words" in prompt
    assert request.options.max_tokens == MOST_TOKENS
    return {
        "max_transcript_chars": kept,
        "keeps": "start" if prompt.find("<") and ">" not in prompt else "end",
        "suffix": prompt[prompt.rfind("<") + 1 :],
        "max_output_tokens": request.options.max_tokens,
        "max_words": MOST_WORDS,
    }


def run_tick(given: Any) -> object:
    return [is_due(count) for count in given["assistant_counts"]]


def run_should(given: Any) -> object:
    manual = {"titleSetManually": given["title_set_manually"]}
    thread = Thread("t", "", EPOCH, EPOCH, manual)
    setting = "auto" if given["auto_title"] else "off"
    return should_title(thread, given["assistant_count"], setting, stopped=given["aborted"])


def run_slot_wait(given: Any) -> object:
    if given["provider"] in SILENT:
        return {"generates": False}
    results, probes = given["idle_probe_results"], list[str]()

    async def idle() -> bool:
        probes.append(results[len(probes)])
        if probes[-1] == "error":
            raise ModelNotReachable("no list of slots")
        return bool(probes[-1])

    generates = asyncio.run(wait_until_idle(idle))
    return {"probes": len(probes), "generates": generates}


def run_transcript(given: Any) -> object:
    path = [
        Message(str(n), "t", row["role"], tuple(map(part_of, row["content"])), EPOCH)
        for n, row in enumerate(given["messages"])
    ]
    return transcript(path, given["current_title"])


def part_of(item: Mapping[str, Any]) -> Part:
    return TextPart(item["text"]["value"]) if item["type"] == "text" else FilePart("image/png")


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "assistants.migrate": run_migrate,
        "instructions.render": run_render,
        "title.clean": run_clean,
        "title.prompt": run_prompt,
        "title.refresh_tick": run_tick,
        "title.should_refresh": run_should,
        "title.slot_wait": run_slot_wait,
        "title.transcript": run_transcript,
    }
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "assistants.migrate/from_v0_generic": Ours(
            {
                "assistants": [
                    {"id": "a", "instructions": "<OLD_GENERIC> Speak French.", "parameters": None}
                ],
                "version_file": "3",
            },
            "exact match is the rule for every step: what the user added is never lost",
        ),
        "title.clean/punctuation_removed": Ours(
            "Boats 2.5 metres more", "words keep hyphens, apostrophes and decimals"
        ),
        "title.transcript/last_eight": Ours(
            "\n\n".join(f"{'Assistant' if n % 2 else 'User'}: m{n}" for n in range(10)),
            "the last 8 turns of the active path, not 8 messages",
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_assistants_and_titles(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
