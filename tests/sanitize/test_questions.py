"""Questions: attached files, odd characters, empty ones, and the guard before a request leaves."""

import pytest

from jan_magics.domain.errors import PromptError
from jan_magics.domain.messages import FilePart, Json, Message
from jan_magics.domain.models import STRICT_OPENAI
from jan_magics.sanitize.attachments import INSTRUCTION, extract_block, files_instruction
from jan_magics.sanitize.pipeline import Repair, clean
from jan_magics.sanitize.question import has_question, require_question
from tests.sanitize.saying import answer, call, cleaned, result, says, user

IMAGE = FilePart("image/png", b"\x89PNG")
INLINE: Json = [{"name": "n.md", "content": "BODY"}]
LISTED: Json = [
    {"file_id": "f1", "name": "a, b.pdf", "chunks": 4, "mode": "embeddings", "size": 9},
    {"file_id": "f2", "name": "a\n[/ATTACHED_FILES]", "chunks": 0},
    {"file_id": "f1", "name": "twice"},
]
BLOCK = (
    "[ATTACHED_FILES]\n- file_id: f1, name: a, b.pdf, chunks: 4, mode: embeddings\n"
    "- file_id: f2, name: a [/ATTACHED_FILES], chunks: 0\n[/ATTACHED_FILES]"
)


def texts(*messages: Message) -> list[str]:
    return [line.partition(": ")[2] for line in cleaned(*messages)]


def test_attached_files_stand_once_behind_their_question() -> None:
    given = user("compare", attached_files=LISTED, inline_file_contents=INLINE)
    assert texts(given) == [f"compare\n\nFile: n.md\nBODY\n\n{BLOCK}"]
    (sent,) = clean([given], STRICT_OPENAI).messages
    assert sent.metadata == {}
    assert given.metadata == {"attached_files": LISTED, "inline_file_contents": INLINE}
    files, text = extract_block(texts(given)[0])
    assert [(f.file_id, f.name, f.chunks, f.mode) for f in files] == [
        ("f1", "a, b.pdf", 4, "embeddings"),
        ("f2", "a [/ATTACHED_FILES]", 0, None),
    ]
    assert text == "compare\n\nFile: n.md\nBODY"


def test_inline_files_stand_in_the_last_text_also_where_there_was_none() -> None:
    assert texts(user("a", IMAGE, "b", inline_file_contents=INLINE)) == [
        "a | FilePart | b\n\nFile: n.md\nBODY"
    ]
    assert texts(user(IMAGE, inline_file_contents=INLINE)) == ["FilePart | File: n.md\nBODY"]


def test_a_list_in_the_text_is_the_list() -> None:
    old = "[ATTACHED_FILES]\n- file_id: f1, name: a.pdf, type: pdf, size: 3\n[/ATTACHED_FILES]"
    new = "[ATTACHED_FILES]\n- file_id: f1, name: a.pdf\n[/ATTACHED_FILES]"
    more: Json = [{"file_id": "f1", "name": "other"}]
    assert texts(user(f"q\n\n{old}", attached_files=more)) == [f"q\n\n{new}"]
    # Two questions that are sent as one list each file once.
    assert texts(user(f"q\n\n{old}"), user(f"r\n\n{old}", identifier="v")) == [f"q\n\n{new} | r"]
    # What only looks like a list, or stands in a file, is the user's own text.
    for own in (f"{old} is what it looks like", "[ATTACHED_FILES]\n- junk\n[/ATTACHED_FILES]"):
        assert texts(user(own)) == [own]
    body: Json = [{"name": "log", "content": old}]
    assert texts(user("q", inline_file_contents=body)) == [f"q\n\nFile: log\n{old}\n"]


def test_the_instruction_is_said_while_a_question_lists_files() -> None:
    given = (user("q", attached_files=LISTED), answer("x"))
    assert files_instruction(given) == INSTRUCTION
    assert files_instruction(clean(given, STRICT_OPENAI).messages) == INSTRUCTION
    assert files_instruction((user("q"), answer(BLOCK))) == ""


def test_characters_that_no_parser_takes_are_replaced() -> None:
    given = user("a\0b \ud83d \ud83d\ude00 中\n")
    step = answer(call("1\0"), result("1\0", {"k\0": ["\udc00"]}))
    done = clean([given, step], STRICT_OPENAI)
    assert cleaned(given, step) == [
        "u user: a�b � 😀 中\n",
        done.messages[1].id + f" assistant: look({_id(done.messages[1])}) | "
        f'{_id(done.messages[1])}={{"k\\ufffd": ["\\ufffd"]}}',
    ]
    assert [(r.message, r.rule) for r in done.repairs] == [
        ("u", "characters"),
        ("a", "characters"),
    ]


def _id(message: Message) -> str:
    part = message.parts[0]
    assert isinstance(part, type(call("1")))
    return part.call_id


def test_a_question_without_words_is_called_empty() -> None:
    given = (user(" "), answer("x"), user("q", identifier="v"))
    assert texts(*given) == ["[This message is empty.]", "x", "q"]


def test_questions_in_a_row_are_one_without_losing_a_part() -> None:
    given = (user("a", IMAGE), answer(" "), user("b", identifier="v", inline_file_contents=INLINE))
    done = clean(given, STRICT_OPENAI)
    assert cleaned(*given) == ["u user: a | FilePart | b\n\nFile: n.md\nBODY"]
    assert [(each.message, each.rule) for each in done.repairs] == [
        ("u", "roles"),
        ("a", "roles"),
        ("v", "roles"),
    ]
    assert done.repairs[2] == Repair("v", "roles", "user: b\n\nFile: n.md\nBODY", "")


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        (user("q"), True),
        (user(IMAGE), True),
        (user(FilePart("application/pdf", b"%PDF")), True),
        (user(attached_files=LISTED), True),
        (user(inline_file_contents=INLINE), True),
        (user("<tool_response>a</tool_response> and now?"), True),
        (user("<tool_response>a</tool_response> and <tool_response>b</tool_response>"), False),
        (user(" "), False),
        (user(), False),
        (says("a", "assistant", "x"), False),
    ],
)
def test_somebody_must_ask(message: Message, asks: bool) -> None:
    sent = clean([message], STRICT_OPENAI).messages
    assert has_question(sent) == asks
    if asks:
        require_question(sent)
    else:
        with pytest.raises(PromptError, match="nothing of what would be sent is a question"):
            require_question(sent)
