"""Attached files as Jan lists them and puts them into questions, and what we do otherwise."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

from jan_magics.domain.messages import Message, TextPart
from jan_magics.domain.models import STRICT_OPENAI
from jan_magics.sanitize.attachments import (
    Attached,
    attach_files,
    extract_block,
    files_instruction,
    inject_block,
    list_once,
)
from tests.conformance.ui_messages import EPOCH, messages_of, rows, run, said
from tests.conformance.vectors import Adapter, Ours, Vector, check, of_areas

ONCE: Final = "the sent copy keeps no list of files that stand in its text: they are counted once"


def run_instruction(given: Any) -> object:
    said = files_instruction(messages_of(given))
    return {"$nonempty": True} if said else ""


def run_extract(given: Any) -> object:
    files, text = extract_block(given["prompt"])
    return {"files": list(map(file_shown, files)), "cleanPrompt": text}


def run_inject(given: Any) -> object:
    return inject_block(given["prompt"], list(map(file_of, given["files"])))


def run_addendum(given: Any) -> object:
    block = inject_block("", list(map(file_of, given["files"])))
    if not block:
        return ""
    first, *lines, last = block.split("\n")
    message = Message("u", "t", "user", (TextPart(block),), EPOCH)
    preamble = {"$nonempty": bool(files_instruction([message]))}
    return {"file_lines": lines, "wrapped_in": [first, last], "preamble": preamble}


def run_extract_all(given: Any) -> object:
    found: dict[str, Attached] = {}
    for message in messages_of(given):
        for part in message.parts:
            for file in extract_block(part.text)[0] if isinstance(part, TextPart) else ():
                found.setdefault(file.file_id, file)
    kept = list_once(messages_of(given), STRICT_OPENAI)
    return {"messages": rows(kept), "files": list(map(file_shown, found.values()))}


def file_shown(file: Attached) -> dict[str, Any]:
    row = {"id": file.file_id, "name": file.name, "type": file.kind, "size": file.size}
    row |= {"chunkCount": file.chunks, "injectionMode": file.mode}
    return {key: value for key, value in row.items() if value is not None}


def file_of(row: Mapping[str, Any]) -> Attached:
    return Attached(row["id"], row["name"], row.get("chunkCount"), row.get("injectionMode"))


def listed(*lines: str) -> str:
    block = "\n".join(f"- file_id: {line}" for line in lines)
    return f"[ATTACHED_FILES]\n{block}\n[/ATTACHED_FILES]"


ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType(
    {
        "files.extract_block": run_extract,
        "files.inject_block": run_inject,
        "sanitize.extract_file_metadata(2026-06)": run_extract_all,
        "sanitize.files_addendum(2026-06)": run_addendum,
        "sanitize.files_system_instruction(2026-07)": run_instruction,
        "sanitize.map_inline_attachments": run(attach_files),
    }
)

OURS: Final[Mapping[str, Ours]] = MappingProxyType(
    {
        "sanitize.extract_file_metadata(2026-06)/dedupe_first_wins": Ours(
            {
                "messages": [
                    said("u", "user", f"q1\n\n{listed('f1, name: first.pdf')}"),
                    said("a", "assistant", "ok"),
                    said(
                        "v", "user", f"q2\n\n{listed('f1, name: renamed.pdf', 'f2, name: b.txt')}"
                    ),
                ],
                "files": [{"id": "f1", "name": "first.pdf"}, {"id": "f2", "name": "b.txt"}],
            },
            "the list stays on its turn, so that each turn can be sent without the others",
        ),
        "sanitize.extract_file_metadata(2026-06)/single": Ours(
            {
                "messages": [
                    said(
                        "u",
                        "user",
                        "compare these\n\n"
                        + listed("f1, name: plan.pdf, chunks: 4, mode: embeddings"),
                    )
                ],
                "files": [
                    {"id": "f1", "name": "plan.pdf", "type": "pdf", "size": 120}
                    | {"chunkCount": 4, "injectionMode": "embeddings"}
                ],
            },
            "the list stays on its turn, and tells id, name, chunks and mode",
        ),
        "sanitize.files_addendum(2026-06)/full_order": Ours(
            {
                "file_lines": [
                    "- file_id: f1, name: a.pdf, chunks: 0, mode: inline",
                    "- file_id: f2, name: b",
                ],
                "wrapped_in": ["[ATTACHED_FILES]", "[/ATTACHED_FILES]"],
                "preamble": {"$nonempty": True},
            },
            "a list tells id, name, chunks and mode",
        ),
        "sanitize.map_inline_attachments/append": Ours(
            [said("u", "user", "check\n\nFile: n.md\nBODY")], ONCE
        ),
        "sanitize.map_inline_attachments/empty_base_text": Ours(
            [said("u", "user", "File: a\n1")], ONCE
        ),
        "sanitize.map_inline_attachments/empty_content_filtered": Ours(
            [said("u", "user", "c")], ONCE
        ),
    }
)


@pytest.mark.parametrize("vector", of_areas(ADAPTERS))
def test_attached_files(vector: Vector) -> None:
    check(vector, ADAPTERS, OURS)


def test_every_difference_names_a_vector() -> None:
    known = {case.values[0].id for case in of_areas(ADAPTERS)}
    assert OURS.keys() <= known
