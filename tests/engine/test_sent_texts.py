"""What stands around a question when it is sent, and what must not be sent at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from jan_magics.domain.errors import PromptError
from jan_magics.domain.messages import Json
from jan_magics.engine.records import steps_of
from jan_magics.sanitize.attachments import INSTRUCTION
from tests.engine.calling import Calling, ask, call
from tests.engine.opened import opened


def test_what_is_no_question_is_not_sent_and_not_stored(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling())
    with pytest.raises(PromptError, match="nothing of what would be sent is a question"):
        ask(kernel, "<tool_response>\n21\n</tool_response>")
    assert kernel.model.asked == []
    assert kernel.messages() == []
    ask(kernel, "What is <tool_response>?")
    assert len(kernel.model.asked) == 1


def test_listed_files_are_explained_in_the_system_text(tmp_path: Path) -> None:
    kernel = opened(tmp_path, Calling())
    ask(kernel, "hello", system="Be brief.")
    assert kernel.model.asked[-1].system == "Be brief."
    question, engine = kernel.messages()[0], kernel.session.engine
    files: Json = [{"file_id": "f1", "name": "报告.pdf", "chunks": 3, "mode": "embeddings"}]
    engine.trees.save(replace(question, metadata={"attached_files": files}))
    outcome = ask(kernel, "what does it say?", system="Be brief.")
    sent = kernel.model.asked[-1]
    assert sent.system == f"Be brief.\n\n{INSTRUCTION}"
    assert outcome.turn.plan is not None
    assert outcome.turn.plan.system == sent.system  # it is counted as it is sent
    ask(kernel, "and now?")
    assert kernel.model.asked[-1].system == INSTRUCTION
    ask(kernel, "and alone?", history=False)
    assert kernel.model.asked[-1].system == ""


def test_an_answer_remembers_how_many_requests_it_took(tmp_path: Path) -> None:
    def risky(x: int = 0) -> int:
        return x

    steps = [(call("risky", f'{{"x": {n}}}'),) for n in range(3)]
    kernel = opened(tmp_path, Calling(*steps))
    outcome = ask(kernel, tools=(risky,), yes=True, max_steps=2)
    assert steps_of(kernel.messages()[-1]) == outcome.turn.steps == 2
    ask(kernel, "", aim="resume", tools=(risky,), yes=True)
    assert steps_of(kernel.messages()[-1]) == 4
    stored = ask(kernel, "go", rerun="reuse", at=kernel.messages()[-1].id)
    assert steps_of(stored.turn.answer) == 1
