"""Media: what a model cannot take is left out and said; bytes and text are never mixed up."""

import tracemalloc
from dataclasses import replace

import pytest

from jan_magics.domain.encoding import base64_pieces
from jan_magics.domain.messages import FilePart, Message, Part, TextPart
from jan_magics.domain.models import ANTHROPIC, GEMINI, STRICT_OPENAI, Profile
from jan_magics.sanitize.pipeline import Repair, clean
from tests.sanitize.saying import answer, call, result, user

BLIND = replace(STRICT_OPENAI, images=False)
PNG = FilePart("image/png", b"\x89PNG", name="plot.png")
WAV = FilePart("audio/wav", b"RIFF")
MP4 = FilePart("video/mp4", b"\0\0\0")
PDF = FilePart("application/pdf", b"%PDF", name="paper.pdf")


def sent(*messages: Message, profile: Profile = STRICT_OPENAI) -> tuple[tuple[Part, ...], ...]:
    return tuple(message.parts for message in clean(messages, profile).messages)


@pytest.mark.parametrize(
    ("profile", "kept"),
    [
        (Profile("nobody knows"), (PNG, WAV, MP4, PDF)),
        (STRICT_OPENAI, (PNG, WAV, PDF)),
        (ANTHROPIC, (PNG, PDF)),
        (replace(STRICT_OPENAI, media="video/mp4"), (MP4,)),
        (replace(STRICT_OPENAI, images=False, audio=False, files=False), ()),
    ],
)
def test_what_nobody_knows_is_tried(profile: Profile, kept: tuple[Part, ...]) -> None:
    assert sent(user("看", PNG, WAV, MP4, PDF), profile=profile) == ((TextPart("看"), *kept),)


def test_a_message_that_had_nothing_else_says_so() -> None:
    note = "[Left out, because the model cannot take it: image plot.png, image]"
    again = FilePart("IMAGE/PNG", b"\x89PNG")
    cleaned = clean([user(" ", PNG, again)], BLIND)
    assert cleaned.messages[0].parts == (TextPart(note),)
    assert cleaned.repairs == (
        Repair("u", "media", "user:  \n\n[image/png plot.png]\n\n[image/png ]",
               f"user:  \n\n{note}"),
    )  # fmt: skip


def test_an_answer_holds_no_files_where_the_wire_has_no_place_for_them() -> None:
    history = (user("draw"), answer(PNG))
    note = "[Left out, because the model cannot take it: image plot.png]"
    assert sent(*history)[1] == (TextPart(note),)
    assert sent(*history, profile=GEMINI)[1] == (PNG,)


def test_an_image_beside_calls_goes_without_a_word() -> None:
    given = answer(PNG, call("1"), result("1"))
    assert sent(user("q"), given)[1] == (call("1"), result("1"))


def test_data_addresses_are_bytes_and_text_files_are_text() -> None:
    audio = FilePart("audio/*", url="data:audio/wav;base64,QUJD")
    table = FilePart("text/csv", b"a,\xe4\xb8\xad\0", name="a.csv")
    remote = FilePart("audio/wav", url="https://h.example/a.wav")
    known = (TextPart("q"), FilePart("audio/wav", b"ABC"), TextPart("File: a.csv\na,中�"))
    given = user("q", audio, table, remote)
    assert sent(given, profile=Profile("nobody knows")) == ((*known, remote),)
    # This wire has a place for a recording, and none for its address.
    assert sent(given) == (known,)


def test_bytes_are_meant_where_there_is_an_address_too() -> None:
    both = replace(PNG, url="https://h.example/a.png")
    assert sent(user("q", both)) == ((TextPart("q"), PNG),)


def test_a_file_without_content_is_left_out() -> None:
    assert sent(user("q", FilePart("application/pdf"), FilePart("image/png", b""))) == (
        (TextPart("q"),),
    )


@pytest.mark.parametrize(
    "text", [" __JAN_VIDEO__QUJD ", "__JAN_AUDIO__wavQUJD", "data:audio/wav;base64,QUJD"]
)
def test_text_never_becomes_a_file(text: str) -> None:
    assert sent(user(text)) == ((TextPart(text),),)


def test_names_of_files_are_one_line_of_their_length() -> None:
    profile = replace(STRICT_OPENAI, longest_file_name=20)
    ((_, file),) = sent(user("q", replace(PDF, name="多" * 30 + "\n.pdf")), profile=profile)
    assert isinstance(file, FilePart)
    assert file.name == "多" * 15 + "….pdf"


def test_a_recording_is_encoded_once() -> None:
    recording = FilePart("audio/wav", bytes(8_000_000))
    tracemalloc.start()
    try:
        (message,) = clean([user("hear", recording)], STRICT_OPENAI).messages
        (_, part) = message.parts
        assert isinstance(part, FilePart)
        assert part.data is recording.data
        sent_bytes = sum(map(len, base64_pieces(part.data or b"")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sent_bytes > 10_000_000
    assert peak < 0.1 * 8_000_000
