"""Another answer and another wording: asked for in the form and with the tools of the turn."""

from pathlib import Path
from typing import Any

import pytest

import jan_magics as jan
from jan_magics.domain.errors import ServerFailed
from tests.api.answering import Answering, Said, answering
from tests.kernel import running_kernel
from tests.magics.test_tools import WEATHER

MOOD: dict[str, Any] = {
    "type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"],
}  # fmt: skip


def chatting(server: Answering, folder: Path) -> jan.Chat:
    return jan.Chat("t", model=f"{server.address}#m", data_folder=str(folder))


def test_another_answer_and_another_wording_are_asked_for_alike(tmp_path: Path) -> None:
    with answering(Said('{"mood": "好"}')) as server:
        with chatting(server, tmp_path) as chat:
            chat.send("first 北京 🏯", schema=MOOD)
            assert chat.retry().data == {"mood": "好"}
        with chatting(server, tmp_path) as chat:  # as after a restart of the kernel
            assert chat.retry().data == {"mood": "好"}
            question = chat.messages().id.iloc[0]
            assert chat.edit(question, "second").data == {"mood": "好"}
            assert chat.retry().data == {"mood": "好"}
            plain = chat.send("third")
            assert plain.sent is not None
            chat.retry()
    asked = [body.get("response_format") for body in server.bodies]
    assert asked[0]
    assert asked[:5] == [asked[0]] * 5
    assert asked[5:] == [None] * 2


def test_a_question_that_got_no_answer_is_asked_as_it_was(tmp_path: Path) -> None:
    answers = iter([Said("boom", 500)] * 3 + [Said('{"value": [1, 2]}')] * 9)
    with answering(lambda _: next(answers)) as server, chatting(server, tmp_path) as chat:
        form = {"type": "array", "items": {"type": "integer"}}
        with pytest.raises(ServerFailed):
            chat.send("numbers 🔢", schema=form)
        while not (answer := _retried(chat)):
            pass
        assert answer.data == [1, 2]
    assert len({str(body["response_format"]) for body in server.bodies}) == 1


def _retried(chat: jan.Chat) -> Any:
    try:
        return chat.retry()
    except ServerFailed:
        return None


def test_tools_are_offered_again_and_one_that_is_gone_holds_up_nothing(tmp_path: Path) -> None:
    with answering() as server, running_kernel(tmp_path) as kernel:
        kernel.ok(f"%load_ext jan_magics\n%chat use -m {server.address}#m\n{WEATHER}")
        kernel.ok("%%chat --tools get_weather\nhow is it in 巴黎 🗼?")
        kernel.ok("%chat retry")
        kernel.ok("del get_weather\n%chat retry")
    assert [bool(body.get("tools")) for body in server.bodies] == [True, True, False]
